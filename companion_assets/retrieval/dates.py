"""The days a question names, in many languages at once, without a model.

A question may say "on January 14th", "between 3 and 10 March", "early last year", "vor drei Wochen", 去年三月. Where no
year is said the latest one that has begun by then is taken and `every_year` tells so. Open stretches ("since March",
"before May 3") reach to `date.max` or from `date.min`, and never count for every year: "since March" is the last March.

A name that is also a common word ("may", "fall", "mars") counts only with a number, a year or a word such as "in"
beside it. Days are reckoned in whole units: "two months ago" is a whole month, "last week" Monday to Sunday.
"""

import datetime as dt
from dataclasses import replace

from companion_assets.contracts.searching import DateSpan
from companion_assets.retrieval.date_lexicon import EAST
from companion_assets.retrieval.date_lists import Piece, days_of, pieces, spans
from companion_assets.retrieval.date_phrases import item
from companion_assets.retrieval.date_reading import OPENERS, Item, Reading
from companion_assets.retrieval.date_tokens import ANY
from companion_assets.retrieval.years import in_year

_DAY = dt.timedelta(days=1)
_CONTEXT = {"in": ("in",), "on": ("on", "in"), "at": ("at", "in", "on"), "decade": ("of", "in")}


_SURELY_MONTHS = 2  # "March, April and May" need nothing before them, "April and June" may be two people

_Found = tuple[int, list[DateSpan]]


def date_spans(text: str, today: dt.date) -> tuple[DateSpan, ...]:
    """The days and stretches of days that a question names, in the order of the text, none overlapping.

    Args:
        text: A question in any language.
        today: The day it is asked; relative dates are reckoned from it.
    """
    reading = Reading.of(text, today)
    result: list[DateSpan] = []
    place = 0
    while place < len(reading.lexemes):
        end, found = _longest(reading, place)
        result += found
        place = max(end, place + 1)
    return tuple(_in_their_year(text, result))


def _in_their_year(text: str, found: list[DateSpan]) -> list[DateSpan]:
    """Where a question names a single year, what lacks one lies in it: "in 2024, what did I do on May 3?"."""
    closed = [span for span in found if span.first.year == span.last.year and not span.every_year]
    named = {
        span.first.year for span in closed if _whole_year(span) or str(span.first.year) in text[span.start : span.end]
    }
    if len(named) != 1 or not any(span.every_year for span in found):
        return found
    (year,) = named
    return [_moved(span, year) if span.every_year else span for span in found if not _whole_year(span)]


def _whole_year(span: DateSpan) -> bool:
    days = (span.first.month, span.first.day, span.last.month, span.last.day)
    return not span.every_year and span.first.year == span.last.year and days == (1, 1, 12, 31)


def _moved(span: DateSpan, year: int) -> DateSpan:
    """The span so that it begins in a year."""
    first, last = in_year(span, year + span.last.year - span.first.year)
    return replace(span, first=first, last=last, every_year=False)


def _longest(reading: Reading, place: int) -> _Found:
    """What begins at a place and reaches furthest; nothing where no date begins."""
    if (
        not reading.lexemes[place].means
        and reading.lexemes[place].number is None
        and reading.text(place) not in ("第", "'")
    ):
        return place, []
    return max((_open(reading, place), _led(reading, place), _list(reading, place)), key=lambda found: found[0])


def _list(reading: Reading, place: int) -> _Found:
    """A date, list or range that stands by itself."""
    found = pieces(reading, place, item)
    if not found or not (len(found) > _SURELY_MONTHS or any(_stands(reading, piece) for piece in found)):
        return place, []
    for at, piece in enumerate(found):
        goes_on = at + 1 < len(found) and found[at + 1].joined == "to"
        opened = None if goes_on or piece.joined == "to" else _open_behind(reading, piece)
        if opened and at == 0:
            return opened
        if opened:
            found = found[:at]  # what opens stands for itself
            break
    return found[-1].item.end, spans(reading, found)


def _stands(reading: Reading, piece: Piece) -> bool:
    """Whether a stretch needs nothing before it, or has it."""
    needs = piece.item.needs
    if not needs:
        return True
    before = piece.start - 1
    if needs == "at" and not reading.plain(piece.item.end):
        return True
    while needs != "on" and reading.word(before, "of") and not _leads(reading, before, piece.item):
        before -= 1
    return _leads(reading, before, piece.item)


def _leads(reading: Reading, place: int, item: Item) -> bool:
    """Whether a word stands at a place that leads to such a stretch; an article that is "in" elsewhere is none."""
    if item.langs == ANY and reading.word(place, "every"):
        return False
    return any(reading.word(place, kind, item.langs) for kind in _CONTEXT[item.needs])


def _led(reading: Reading, place: int) -> _Found:
    """Ranges with a word before them: "from … to …", "between … and …"; and "from … on"."""
    ranged = reading.word(place, "between")
    lead = ranged or reading.word(place, "from") or reading.word(place, "since")
    if not lead:
        return place, []
    start = reading.skip(place + 1)
    found = pieces(reading, start, item)
    if not found or not reading.agree(lead, found[0].item):
        return place, []
    end = found[-1].item.end
    if len(found) == 1 and reading.word(end, "onwards", lead.langs) and not reading.text(end + 1)[:1].isalpha():
        return end + 1, _opened(reading, place, end + 1, found[0].item, "since")
    if any(piece.joined == "to" for piece in found) or (ranged and len(found) > 1):
        return end, spans(reading, found, ranged=bool(ranged))
    return place, []


def _open(reading: Reading, place: int) -> _Found:
    """Open stretches: "since March", "before May 3", "bis gestern"."""
    for kind in OPENERS:
        word = reading.word(place, kind)
        found = item(reading, reading.skip(place + 1, "of", "in", "on")) if word else None
        if word and found and found.needs != "decade" and reading.agree(word, found):
            opened = _opened(reading, place, found.end, found, kind)
            if opened:
                return found.end, opened
    return place, []


def _open_behind(reading: Reading, piece: Piece) -> _Found | None:
    """三月以来, 5月3日まで, 3월 이후."""
    end = reading.skip(piece.item.end, langs=piece.item.langs & EAST)
    for kind in OPENERS:
        if reading.word(end, f"{kind}_post", piece.item.langs):
            return end + 1, _opened(reading, piece.start, end + 1, piece.item, kind)
    return None


def _opened(reading: Reading, start: int, end: int, item: Item, kind: str) -> list[DateSpan]:
    try:
        (first, last), _ = days_of(item, reading.today)
        days = {
            "since": (first, dt.date.max),
            "until": (dt.date.min, last),
            "before": (dt.date.min, first - _DAY),
            "after": (last + _DAY, dt.date.max),
        }[kind]
    except (ValueError, OverflowError):
        return []
    return [reading.span(start, end, days)]
