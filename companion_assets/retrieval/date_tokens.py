"""A text cut into words, numbers, dates in figures and marks; characters of East Asia one by one."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from companion_assets.retrieval.date_numerals import read_numeric

ANY = -1
"""The languages of what needs none, such as 2025-03-14."""

_EAST = r"\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_TOKEN = re.compile(
    rf"""
    (?P<numeric>(?=\d)(?:
        (?<![A-Za-z\d.])\d{{4}}(?P<mark>[-/._])\d{{1,2}}(?P=mark)\d{{1,2}}(?![\d]|[-/.]\d)
      | (?<![A-Za-z\d./-])\d{{4}}[-/](?:0[1-9]|1[0-2])(?!\d|[-/.]\d)
      | (?<![A-Za-z\d])\d{{4}}-?W\d\d(?!\d)
      | (?<![A-Za-z\d./-])\d{{1,2}}(?P<dot>[./-])\ ?\d{{1,2}}(?P=dot)\ ?\d{{4}}(?!\d|[-/.]\d)
      | (?<![A-Za-z\d./-])\d\d\.\d\d\.\d\d(?!\d|[.]\d)
      | (?<![A-Za-z\d./,:-])\d{{1,2}}(?:\.\ ?\d{{1,2}}\.|/\d{{1,2}})(?![\d/]|\.\d)
      | (?<![A-Za-z\d.,-])(?:19|20)\d{{6}}(?!\w|[-.,]\d)
      | (?<![A-Za-z\d.,-])(?:(?:19|20)\d0|[1-9]0)(?:['’]?s|er|-?(?:х|ых|е)|年代)(?![A-Za-z])
    ))
  | (?P<figures>[#$€£¥]\ ?\d[\d.,]* | \d[\d.,]*\ ?[%€£$¥] | \d+(?:[.,:/]\d+)+)
  | (?P<number>\d+)(?P<nth>(?:st|nd|rd|th|er|re|e|ère|:e|:a)(?![^\W_]) | [ºª°])?
  | (?P<quarter>[Qq][1-4])(?!\w)
  | (?P<east>[{_EAST}])
  | (?P<word>[^\W\d{_EAST}](?:[^\W{_EAST}]|[\u0300-\u036f])*)
  | (?P<other>\S)
    """,
    re.VERBOSE,
)
_EAST_CHARACTER = re.compile(f"[{_EAST}]")
_MOST_DIGITS = 4  # of a number that a date can hold
_RING = "\u030a"
_NUMERALS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "兩": 2, "十": 10, "百": 100, "廿": 20, "卅": 30,
}  # fmt: skip


class Word(NamedTuple):
    """One meaning of a word.

    Attributes:
        value: As the kind has it, see `date_lexicon`.
        langs: Bit set of the languages that say so.
        needs: "" if it stands alone; else the kind that must stand before it (`in`, `on`, `at`), `number` if it counts
            only beside one, `spoken` if something else must tell the language.
    """

    value: Any
    langs: int = ANY
    needs: str = ""


_NOTHING: Mapping[str, Word] = MappingProxyType({})
_FIGURES: Mapping[str, Word] = MappingProxyType({"figures": Word(None)})
"""A price, a time, a version: a number that is no part of a date."""


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word, phrase, number or mark of a text and what it may mean, by kind."""

    start: int
    end: int
    text: str
    means: Mapping[str, Word]
    number: int | None = None


def tokens(text: str) -> Iterator[Lexeme]:
    """Cuts a text; only figures have a meaning yet."""
    for found in _TOKEN.finditer(text):
        kind, start, end = found.lastgroup, found.start(), found.end()
        if (number := found["number"]) is not None:
            means = {"nth": Word(None)} if found["nth"] else _NOTHING
            yield Lexeme(start, end, fold(found[0]), means, int(number) if len(number) <= _MOST_DIGITS else None)
        elif kind == "word" or kind == "other":
            yield Lexeme(start, end, fold(found[0]), _NOTHING)
        elif kind == "east":
            char = found[0]
            yield Lexeme(start, end, char, _NOTHING, _NUMERALS.get(char))
        elif kind == "figures":
            yield Lexeme(start, end, found[0], _FIGURES)
        elif kind == "quarter":
            yield Lexeme(start, end, fold(found[0]), {"quarter": Word(int(found[0][1]))})
        else:
            means = {name: Word(value, needs=needs) for name, value, needs in read_numeric(found[0])}
            yield Lexeme(start, end, found[0], means or _FIGURES)


def numeral(chars: str) -> int:
    """The number that Chinese numerals spell: 二十三, 二〇二五."""
    values = [_NUMERALS[char] for char in chars]
    if all(value < 10 for value in values):
        return int("".join(map(str, values)))
    total, ones = 0, 0
    for value in values:
        if value < 10:
            ones = value
        else:
            total += (ones or 1) * value if value in (10, 100) else value
            ones = 0
    return total + ones


def fold(word: str) -> str:
    """Without case and accents, the ring of "år" excepted ("är" is another word); "’" as "'"."""
    if word.isascii():
        return word.lower()
    if word == "’":
        return "'"
    split = unicodedata.normalize("NFKD", word.casefold())
    kept = (char for char in split if char == _RING or not unicodedata.combining(char))
    return unicodedata.normalize("NFC", "".join(kept))


def is_east(part: str) -> bool:
    """Whether it begins with a character that is read one by one."""
    return _EAST_CHARACTER.match(part) is not None
