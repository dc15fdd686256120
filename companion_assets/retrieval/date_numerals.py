"""Dates written in figures alone: 2025-03-14, 14.3.2025, 2025-03, 2025-W12, the 1990s.

Day and month are told apart by what is possible: dots put the day first; with slashes one of the two must be above
twelve, else the language of the text decides (`Reading.day_first`).
"""

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

from companion_assets.retrieval.date_shapes import Span, months

_PARTS = re.compile(r"\d+")


def read_numeric(text: str) -> Iterator[tuple[str, Any, str]]:
    """What figures say: kind, value, and what must stand before them.

    Kinds: `date` (year or None, month, day), `doubtful` (the same, if the day is first), `span` (days).
    """
    try:
        yield from _read(text)
    except ValueError:
        return


def _read(text: str) -> Iterator[tuple[str, Any, str]]:
    parts = [int(part) for part in _PARTS.findall(text)]
    digits = _PARTS.findall(text)
    if "W" in text:
        first = dt.date.fromisocalendar(parts[0], parts[1] if len(parts) > 1 else 0, 1)
        yield "span", (first, first + dt.timedelta(days=6)), ""
    elif len(parts) == 1:
        yield from _alone(text, digits[0])
    elif len(digits[0]) == 4 and len(parts) == 2:
        yield "span", months(parts[0], parts[1]), ""
    elif len(digits[0]) == 4 and len(parts) == 3:
        yield "date", _checked(*parts), ""
    elif max(map(len, digits[:2])) <= 2:
        yield from _day_and_month(text, digits)


def _alone(text: str, digits: str) -> Iterator[tuple[str, Any, str]]:
    if len(digits) == 8:
        yield "date", _checked(int(digits[:4]), int(digits[4:6]), int(digits[6:])), ""
    elif len(digits) in (2, 4):
        yield "span", _decade(int(digits)), "" if len(digits) == 4 or "年" in text else "decade"


def _decade(number: int) -> Span:
    first = number if number >= 1900 else number + (2000 if number < 30 else 1900)
    return dt.date(first, 1, 1), dt.date(first + 9, 12, 31)


def _day_and_month(text: str, digits: list[str]) -> Iterator[tuple[str, Any, str]]:
    one, two = int(digits[0]), int(digits[1])
    year = int(digits[2]) if len(digits) == 3 else None
    if year is not None and len(digits[2]) == 2:
        year += 2000
    needs = "on" if year is None else ""
    if "." in text or one > 12 or one == two:
        yield "date", _checked(year, two, one), needs
    elif two > 12:
        yield "date", _checked(year, one, two), needs
    elif year is not None:
        yield "doubtful", _checked(year, two, one), needs


def _checked(year: int | None, month: int, day: int) -> tuple[int | None, int, int]:
    """The same, if there is such a day.

    Raises:
        ValueError: If there is none.
    """
    dt.date(2000 if year is None else year, month, day)
    return year, month, day
