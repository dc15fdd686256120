"""What the date grammar is made of: a text's lexemes under a cursor, and a stretch of days found there.

Cursor positions are places in `Reading.lexemes`; whatever is found names the place behind it.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from companion_assets.contracts.searching import DateSpan
from companion_assets.retrieval.date_lexicon import POSTFIXED, lexemes
from companion_assets.retrieval.date_shapes import Span, Yearly
from companion_assets.retrieval.date_tokens import ANY, Lexeme, Word, numeral

MOST_FILLERS = 3
OPENERS = ("since", "until", "before", "after")
_LONGEST_COUNT = 400
_MOST_NUMERALS = 5  # of a number in Chinese: 二百三十一
_YEARS = range(1900, 2100)
_WITHOUT_MEANING = ("第", "'")  # yet they begin 第二 and '24


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of days, as far as the text says which.

    Attributes:
        end: Place of the lexeme behind it.
        langs: Languages it was read in.
        span: Its days, where they are known.
        yearly: Else what comes round each year, in `year`, or in a year to be guessed.
        month: Of a day of a month; lent to bare days beside it.
        day: A bare day of a month, neither `span` nor `yearly`.
        needs: What must stand before it (see `Word`).
        month_first: Written "May 3", so that bare days follow it.
    """

    end: int
    langs: int = ANY
    span: Span | None = None
    yearly: Yearly | None = None
    year: int | None = None
    month: int = 0
    day: int = 0
    needs: str = ""
    month_first: bool = False

    def through(self, change: Callable[[Span], Span], end: int, langs: int = ANY) -> "Item":
        """What `change` makes of its days. It needs nothing before it, since something was said about it."""
        yearly = self.yearly
        return replace(
            self,
            end=end,
            langs=self.langs & langs,
            span=change(self.span) if self.span else None,
            yearly=(lambda year: change(yearly(year))) if yearly else None,
            month=0,
            needs="",
        )


class Counted(NamedTuple):
    """A number, an ordinal or a year, and the place behind it."""

    value: int
    end: int
    langs: int = ANY
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A text cut into lexemes, read on a day.

    Attributes:
        spoken: Languages of the words that tell one.
        items: What was found at places, since lists that begin at neighbouring places share it.
    """

    source: str
    lexemes: list[Lexeme]
    today: dt.date
    spoken: int
    items: dict[int, Item | None] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, today: dt.date) -> "Reading":
        """Cuts a text."""
        cut = lexemes(text)
        spoken = reduce(or_, (lexeme.means["spoken"].langs for lexeme in cut if "spoken" in lexeme.means), 0)
        return cls(text, cut, today, spoken)

    @property
    def day_first(self) -> bool:
        """Whether 1/5/2024 is in May: the text speaks a language in which the day always comes first."""
        return self.speaks(ANY)

    def speaks(self, langs: int) -> bool:
        """Whether a word stands somewhere that tells one of some languages."""
        return bool(self.spoken & langs)

    def word(self, place: int, kind: str, langs: int = ANY) -> Word | None:
        """What the lexeme at a place means as a kind, in one of some languages."""
        if not 0 <= place < len(self.lexemes):
            return None
        word = self.lexemes[place].means.get(kind)
        return word if word and word.langs & langs else None

    def text(self, place: int) -> str:
        """The folded lexeme at a place, "" outside."""
        return self.lexemes[place].text if 0 <= place < len(self.lexemes) else ""

    def knows(self, place: int) -> bool:
        """Whether a number or a word about time stands at a place."""
        if place >= len(self.lexemes):
            return False
        lexeme = self.lexemes[place]
        return bool(lexeme.means) or lexeme.number is not None or lexeme.text in _WITHOUT_MEANING

    def span(self, start: int, end: int, days: Span, every_year: bool = False) -> DateSpan:
        """What stands from one lexeme to before another, as a span of the text."""
        return DateSpan(*days, self.lexemes[start].start, self.lexemes[end - 1].end, every_year)

    def agree(self, word: Word, item: Item) -> bool:
        """Whether a word that leads to a stretch is of its language; of the text's, where figures have none."""
        if item.langs == ANY and word.needs == "spoken":
            return self.speaks(word.langs)
        return bool(item.langs & word.langs)

    def original(self, place: int) -> str:
        """The lexeme at a place as written."""
        return self.source[self.lexemes[place].start : self.lexemes[place].end]

    def skip(self, place: int, *kinds: str, langs: int = ANY) -> int:
        """The place behind fillers such as "of the"."""
        for _ in range(MOST_FILLERS):
            if not any(self.word(place, kind, langs) for kind in kinds or ("of",)):
                break
            place += 1
        return place

    def plain(self, place: int) -> bool:
        """Whether a word stands here that says nothing about time."""
        lexeme = self.lexemes[place] if 0 <= place < len(self.lexemes) else None
        return lexeme is not None and not lexeme.means and lexeme.number is None and lexeme.text[:1].isalpha()

    def number(self, place: int) -> Counted | None:
        """A number in digits or in Chinese numerals, which are read together."""
        lexeme = self.lexemes[place] if 0 <= place < len(self.lexemes) else None
        if lexeme is None or lexeme.number is None:
            return None
        if lexeme.text[0].isdigit():
            return Counted(lexeme.number, place + 1, marked="nth" in lexeme.means)
        end = place
        for end in range(place, min(place + _MOST_NUMERALS, len(self.lexemes))):
            if self.lexemes[end].number is None or self.text(end)[0].isdigit():
                break
        else:
            end += 1
        return Counted(numeral("".join(self.text(at) for at in range(place, end))), end)

    def marked_number(self, place: int, mark: str) -> Counted | None:
        """A number with the mark that makes it a year, month or day: 2024年, 三月, 14일."""
        found = self.number(place)
        if found and self.marks(found.end, mark):
            return Counted(found.value, found.end + 1, self.lexemes[found.end].means["mark"].langs, True)
        return None

    def marks(self, place: int, mark: str) -> bool:
        """Whether the mark of a year, month or day stands at a place."""
        word = self.word(place, "mark")
        return bool(word and word.value == mark)

    def count(self, place: int) -> Counted | None:
        """How many: "3", "three", 三."""
        if word := self.word(place, "count"):
            return Counted(word.value, place + 1, word.langs)
        found = self.number(place)
        if found is None or not 0 < found.value <= _LONGEST_COUNT or found.marked:
            return None
        return found._replace(end=self.skip(found.end, "classifier"))

    def ordinal(self, place: int) -> Counted | None:
        """Which one: "second", "2nd", "2.", 第二, "last" (-1)."""
        if word := self.word(place, "ordinal"):
            return Counted(word.value, place + 1, word.langs)
        if self.text(place) == "第":
            found = self.number(place + 1)
            return found and found._replace(end=self.skip(found.end, "classifier"))
        found = self.number(place)
        if found and (found.marked or self.text(found.end) == "."):
            return Counted(found.value, found.end + (0 if found.marked else 1))
        return None

    def day(self, place: int) -> Counted | None:
        """A day of a month: "14", "14th", "14.", "fourteenth", 14日."""
        if found := self.marked_number(place, "day"):
            return found if 1 <= found.value <= 31 else None
        word = self.word(place, "ordinal")
        if word and word.value >= 1:
            return Counted(word.value, place + 1, word.langs, True)
        found = self.number(place)
        if not found or not 1 <= found.value <= 31 or not self.text(place)[0].isdigit():
            return None
        if not found.marked and self.text(found.end) == "." and self.touches(found.end):
            return found._replace(end=found.end + 1, marked=True)
        return found

    def possessive(self, place: int) -> int:
        """The place behind "'s", if it stands here."""
        return place + 2 if self.text(place) == "'" and self.text(place + 1) == "s" else place

    def touches(self, place: int) -> bool:
        """Whether nothing stands between a lexeme and the one before."""
        return 0 < place < len(self.lexemes) and self.lexemes[place].start == self.lexemes[place - 1].end

    def year(self, place: int) -> Counted | None:
        """A year: "2024", 2024年, "last year", "el año pasado", "'24"; not "2000 steps"."""
        if found := self.marked_number(place, "year"):
            return found if found.value in _YEARS else None
        if era := self.word(place, "era"):
            found = self.marked_number(place + 1, "year")
            return found and found._replace(value=era.value + found.value)
        if self.text(place) == "'" and self.touches(place + 1) and not self.touches(place):
            short = self.number(place + 1)
            return Counted(2000 + short.value, place + 2) if short and len(self.text(place + 1)) == 2 else None
        found = self.number(place)
        if found and found.value in _YEARS and len(self.text(place)) == 4:
            return None if found.value % 100 == 0 and self.plain(found.end) else found
        return self.relative_year(place)

    def relative_year(self, place: int) -> Counted | None:
        """A year by its distance: "last year", 去年, "el año pasado"."""
        found = self.shift(place)
        if found and found[0] == "year":
            return Counted(self.today.year + found[1], found[2], found[3], True)
        return None

    def _of_another(self, place: int, rel: int) -> bool:
        """Whether "the next week" or "the last week of the trip" stands here, which are not reckoned from today."""
        if rel == 1 and self.word(place - 1, "definite"):
            return True
        article = self.word(place - 1, "article")
        return bool(article and self.word(place, "ordinal") and self.word(place + 2, "genitive", article.langs))

    def shift(self, place: int) -> tuple[str, int, int, int] | None:
        """A unit and how many away, with the place behind and the languages: "last week" is a week, -1."""
        word = self.word(place, "shift")
        if word and (word.needs != "spoken" or self.speaks(word.langs)):
            another = " " in self.original(place) and self.word(place + 1, "genitive", word.langs)
            return None if another else (*word.value, place + 1, word.langs)  # "the last night of the trip"
        for rel_at, unit_at in ((place, place + 1), (place + 1, place)):
            rel, unit = self.word(rel_at, "rel"), self.word(unit_at, "unit")
            if not rel or not unit or not rel.langs & unit.langs or unit.value == "day":
                continue
            if rel_at > unit_at and not rel.langs & unit.langs & POSTFIXED:
                continue
            if self._of_another(place, rel.value):
                continue
            return unit.value, rel.value, place + 2, rel.langs & unit.langs
        return None
