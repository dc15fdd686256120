"""Lists and ranges: "January 14th and 15th", "3, 5 and 7 March", "from March to May", "du 3 au 10 mars".

Bare days take the month of their neighbour, and what lacks a year that of its neighbour.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from companion_assets.contracts.searching import DateSpan
from companion_assets.retrieval import date_shapes as shapes
from companion_assets.retrieval.date_items import day_of
from companion_assets.retrieval.date_reading import MOST_FILLERS, OPENERS, Item, Reading
from companion_assets.retrieval.date_shapes import Span, Yearly

_DASHES = frozenset("-‐‑–—~〜～")
_COMMAS = frozenset(",、，")
_JOINED = frozenset("&/")
_WEEK = dt.timedelta(days=7)
_MOST_PIECES = 31  # every day of a month

ReadItem = Callable[[Reading, int], Item | None]


@dataclass(frozen=True, slots=True)
class Piece:
    """One stretch of a list.

    Attributes:
        item: The stretch.
        start: Place of its first lexeme.
        joined: How it follows the one before: "" (the first), `,`, `and`, `to`.
    """

    item: Item
    start: int
    joined: str = ""


def pieces(reading: Reading, place: int, read: ReadItem) -> list[Piece]:
    """The stretches that begin at a place and follow each other; empty if there is none."""
    found: list[Piece] = []
    join: tuple[str, int] | None = ("", place)
    while join and len(found) < _MOST_PIECES:
        joined, place = join
        piece = _piece(reading, place, joined, read)
        if piece is None:
            break
        found.append(piece)
        join = _join(reading, piece.item)
    return _with_years(_with_months(found))


def _piece(reading: Reading, place: int, joined: str, read: ReadItem) -> Piece | None:
    """What stands at a place; where a list goes on, behind words such as "and on the" too."""
    for start in _starts(reading, place) if joined else (place,):
        item = read(reading, start)
        if item is None or _new_clause(reading, start, item, joined):
            item = _bare_day(reading, start, first=not joined)
        if item:
            return Piece(item, start, joined)
    return None


def _starts(reading: Reading, place: int) -> Iterator[int]:
    for start in range(place, place + 1 + MOST_FILLERS):
        yield start
        if any(reading.word(start, kind) for kind in OPENERS) or not any(
            reading.word(start, kind) for kind in ("of", "on", "in")
        ):
            return


def _new_clause(reading: Reading, place: int, item: Item, joined: str) -> bool:
    """Whether a doubtful name behind a comma is no more of a list: "in March, may I ask"."""
    return joined == "," and bool(item.needs) and reading.original(place).islower()


def _bare_day(reading: Reading, place: int, first: bool) -> Item | None:
    day = reading.day(place)
    if day is None or reading.word(day.end, "unit"):
        return None
    if not first and (not reading.text(place)[0].isdigit() or (not day.marked and reading.plain(day.end))):
        return None  # "on 14 January and 3 friends"
    return Item(day.end, day.langs, day=day.value)


def _join(reading: Reading, item: Item) -> tuple[str, int] | None:
    """How the list goes on, and where."""
    place = item.end
    if reading.text(place) in _DASHES or reading.word(place, "to", item.langs):
        return "to", place + 1
    comma = reading.text(place) in _COMMAS
    if comma:
        place += 1
    if reading.text(place) not in _COMMAS and (
        reading.word(place, "and", item.langs) or reading.text(place) in _JOINED
    ):
        return "and", place + 1
    return (",", place) if comma else None


def _with_months(found: list[Piece]) -> list[Piece]:
    whole: list[Piece] = []
    for place, piece in enumerate(found):
        if not piece.item.day:
            whole.append(piece)
            continue
        left = whole[-1].item if whole else None
        right = next((other.item for other in found[place + 1 :] if not other.item.day), None)
        if left and left.month and (left.month_first or not (right and right.month)):
            source = left
        elif right and right.month and not right.month_first:
            source = right
        else:
            break
        yearly = day_of(source.month, piece.item.day)
        lent = replace(source, end=piece.item.end, yearly=yearly)
        whole.append(Piece(lent, piece.start, piece.joined))
    return whole


def _with_years(found: list[Piece]) -> list[Piece]:
    """Years said once: of the next that has one, else of the one before."""
    if len(found) < 2:
        return found
    years = [piece.item.year for piece in found]
    for order in (range(len(found) - 2, -1, -1), range(1, len(found))):
        for place in order:
            other = place + (1 if order.step < 0 else -1)
            if years[place] is None and _share_a_year(found[min(place, other)], found[max(place, other)]):
                years[place] = years[other]
    return [replace(piece, item=replace(piece.item, year=year)) for piece, year in zip(found, years, strict=True)]


def _share_a_year(one: Piece, other: Piece) -> bool:
    """Both days, or both longer stretches; between these a comma begins something new."""
    days = bool(one.item.month), bool(other.item.month)
    return bool(one.item.yearly and other.item.yearly) and (all(days) or (not any(days) and other.joined != ","))


def days_of(item: Item, today: dt.date) -> tuple[Span, bool]:
    """Its days, and whether the year was guessed.

    Raises:
        ValueError: If there are no such days.
    """
    if item.span:
        return item.span, False
    assert item.yearly
    if item.year is not None:
        return item.yearly(item.year), False
    return shapes.occurrence(item.yearly, today), True


def between(one: Item, other: Item, today: dt.date) -> tuple[Span, bool]:
    """The days from one stretch to another.

    Raises:
        ValueError: If the second ends before the first begins.
    """
    (first, _), guessed = days_of(one, today)
    (_, last), _ = days_of(other, today)
    if one.yearly and other.yearly and guessed:
        last = _next_end(other.yearly, first)
    elif last < first and one.yearly:
        first = one.yearly(first.year - 1)[0]  # from November to February 2025
    elif last < first and one.span and other.span:
        first -= _WEEK  # from Friday to Sunday, asked on a Saturday
    if last < first:
        raise ValueError("ends before it begins")
    return (first, last), guessed


def _next_end(yearly: Yearly, first: dt.date) -> dt.date:
    """The first end of a yearly stretch on or after a day."""
    _, last = (
        shapes.occurrence(yearly, first - dt.timedelta(days=1), 1)
        if yearly(first.year)[1] < first
        else yearly(first.year)
    )
    return last


def spans(reading: Reading, found: list[Piece], ranged: bool = False) -> list[DateSpan]:
    """What a list names.

    Args:
        reading: The text.
        found: Its stretches.
        ranged: "between … and …": the first "and" means "to".
    """
    result: list[DateSpan] = []
    for place, piece in enumerate(found):
        opener = found[place - 1] if piece.joined == "to" or (ranged and place == 1) else None
        span = _span(reading, piece, opener) if opener and result else None
        if span:
            result[-1] = span
        elif span := _span(reading, piece):
            result.append(span)
    return result


def _span(reading: Reading, piece: Piece, opener: Piece | None = None) -> DateSpan | None:
    try:
        if opener:
            (first, last), guessed = between(opener.item, piece.item, reading.today)
        else:
            (first, last), guessed = days_of(piece.item, reading.today)
    except (ValueError, OverflowError):
        return None
    return reading.span((opener or piece).start, piece.item.end, (first, last), guessed)
