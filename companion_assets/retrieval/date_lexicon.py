"""A text cut into lexemes, each with what its words may mean about time, in every language at once.

No language is guessed. A word keeps the languages it was found in, and the grammar joins only words that share one:
"vor" and "Tagen" belong together, "fine" and "March" do not.

Keys of the word tables are a kind, then its value. `months`, `weekdays`, `counts` and `ordinals` list a word for 1, 2,
3 …, with "/" between forms.

| kind | value | for example |
| --- | --- | --- |
| in, on, at | | what may stand before a month, a weekday, a holiday; a doubtful name counts only behind one |
| of | | what may stand between the parts of a date |
| since, until, before, after, `…_post` | | open stretches; `_post` where the word comes last |
| between, from, to, and, onwards | | ranges and lists |
| every | | "every Monday" means no day |
| definite, article, genitive | | nor do "the next week" and "the last week of the trip" |
| ago, ago_first | | "3 days ago"; "vor 3 Tagen" |
| rel, week | -1 last, 0 this, 1 next | `week`: reckoned by whole weeks |
| recent, coming | | "the past 3 weeks" |
| unit, halves, count, few, ordinal, part | | "second half of", "the first few days of", "early" |
| half, half_post | 1 or 2 | 上半年; 前半, which comes last |
| shift | unit and how many away | "yesterday" |
| month, weekday, season, holiday | number; month-day and length | |
| classifier, era | 0 of the era | 个; 令和 |
| mark | year, month or day | what a number of a date carries behind it in East Asia |
| none | | phrases that hold words about time and mean none: "spring roll" |
| spoken | | common words that tell a language, where a word of it is a common word of another |
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from companion_assets.retrieval.date_names import DOUBTFUL, MONTHS, WEEKDAYS
from companion_assets.retrieval.date_tokens import Lexeme, Word, fold, is_east, tokens
from companion_assets.retrieval.date_words_east_asian import EAST_ASIAN
from companion_assets.retrieval.date_words_germanic import GERMANIC
from companion_assets.retrieval.date_words_romance import ROMANCE
from companion_assets.retrieval.date_words_slavic import SLAVIC

_WORDS: dict[str, dict[str, str]] = {**GERMANIC, **ROMANCE, **SLAVIC, **EAST_ASIAN}
_BITS = {language: 1 << place for place, language in enumerate({**MONTHS, **_WORDS})}
POSTFIXED = sum(_BITS[language] for language in ("es", "fr", "pt", "it"))
"""Languages that say "March past" for last March."""
EAST = sum(_BITS[language] for language in EAST_ASIAN)

# Languages whose short forms of months are no other common words and stand alone behind "in".
_SHORT_FORMS_STAND = ("en", "de")
_NEVER_ALONE = frozenset({"mar", "mär"})  # "en mar abierto"
# What is a common word of another language: "hier" is "yesterday" in French and "here" in German, "do" is "until" in
# Polish. It counts where something else tells the language.
_HOMOGRAPHS = frozenset({"hier", "do", "na", "da", "po", "sedan", "till", "ab"})
# "In summer" in one word.
_ADVERBS = frozenset({"latem", "летом", "зимой", "весной", "осенью", "somras", "höstas", "vintras", "våras"})
_CONTEXT = {"weekday": "on", "season": "in", "holiday": "at"}
_ENUMERATED = ("months", "weekdays", "counts", "ordinals")

_Entry = tuple[tuple[str, ...], dict[str, Word]]


def lexemes(text: str) -> list[Lexeme]:
    """Cuts a text; the longest phrase that is known wins."""
    cut = list(tokens(text))
    known = lexicon()
    found: list[Lexeme] = []
    place = 0
    while place < len(cut):
        token = cut[place]
        size = 1
        for phrase, means in known.get(token.text, ()) if not token.means else ():
            if _stands(cut, place, phrase):
                size = len(phrase)
                token = Lexeme(token.start, cut[place + size - 1].end, token.text, means, token.number)
                break
        found.append(token)
        place += size
    return found


def _stands(cut: list[Lexeme], place: int, phrase: tuple[str, ...]) -> bool:
    if place + len(phrase) > len(cut):
        return False
    for step, part in enumerate(phrase):
        token = cut[place + step]
        if token.text != part or (step and is_east(part) and token.start != cut[place + step - 1].end):
            return False
    return True


@cache
def lexicon() -> dict[str, tuple[_Entry, ...]]:
    """Phrases of all languages by their first word, the longest first. About 2,500; built once, in some 10 ms."""
    meanings: dict[tuple[str, ...], dict[str, Word]] = {}
    for kind, phrase, word in _entries():
        alone = phrase.isalpha() and not is_east(phrase[0])
        parts = (fold(phrase),) if alone else tuple(token.text for token in tokens(phrase))
        means = meanings.setdefault(parts, {})
        known = means.setdefault(kind, word)
        if known.value == word.value:
            means[kind] = Word(word.value, known.langs | word.langs, min(known.needs, word.needs))
    by_first: dict[str, list[_Entry]] = {}
    for parts, means in meanings.items():
        by_first.setdefault(parts[0], []).append((parts, means))
    return {first: tuple(sorted(entries, key=lambda entry: -len(entry[0]))) for first, entries in by_first.items()}


def _entries() -> Iterator[tuple[str, str, Word]]:
    """Kind, phrase and meaning of every phrase of the tables."""
    for language, row in MONTHS.items():
        yield from _month_names(language, row)
    for language, row in WEEKDAYS.items():
        yield from _enumerated(language, "weekday", row, least=0)
    for language, table in _WORDS.items():
        for key, row in table.items():
            kind, _, value = key.partition(" ")
            if kind in _ENUMERATED:
                yield from _enumerated(language, kind[:-1], row, least=0 if kind == "weekdays" else 1)
                continue
            for phrase in row.split(","):
                yield kind, phrase.strip(), Word(_value(kind, value), _BITS[language], _needs(language, kind, phrase))


def _month_names(language: str, row: str) -> Iterator[tuple[str, str, Word]]:
    for month, forms in enumerate(row.split(), 1):
        full, *others = forms.split("/")
        for form in (full, *others):
            short = form != full and full.startswith(form[:3]) and len(form) < len(full)
            doubtful = fold(form) in DOUBTFUL or len(form) <= 3
            stands = not short or language in _SHORT_FORMS_STAND or fold(form) in DOUBTFUL
            needs = "number" if not stands or form in _NEVER_ALONE else "in" if doubtful or short else ""
            yield "month", form, Word(month, _BITS[language], needs)


def _enumerated(language: str, kind: str, row: str, least: int) -> Iterator[tuple[str, str, Word]]:
    for value, forms in enumerate(row.split(), least):
        for form in forms.split("/"):
            yield kind, form, Word(value, _BITS[language], _needs(language, kind, form))


def _value(kind: str, text: str) -> Any:
    if kind == "shift":
        unit, _, away = text.partition(" ")
        return unit, int(away)
    if kind == "holiday":
        date, _, length = text.partition(" ")
        month, day = date.split("-")
        return int(month), int(day), int(length or 1)
    return int(text) if text.lstrip("-").isdigit() else text


def _needs(language: str, kind: str, phrase: str) -> str:
    if language in EAST_ASIAN:
        return "in" if kind == "season" and len(phrase) == 1 else ""
    if kind == "season" and phrase.strip() in _ADVERBS:
        return ""
    if phrase.strip() in _HOMOGRAPHS:
        return "spoken"
    if kind == "month":
        return "in" if fold(phrase) in DOUBTFUL else ""
    return _CONTEXT.get(kind, "")
