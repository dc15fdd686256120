"""What a text calls by name: dates, months, seasons, holidays, years, weeks and weekdays, with the year beside them.

`2025年3月14日`, "14 de enero", "March last year", "summer 2024", "last Monday", "Friday of last week".
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

from companion_assets.retrieval import date_shapes as shapes
from companion_assets.retrieval.date_lexicon import EAST, POSTFIXED
from companion_assets.retrieval.date_reading import Counted, Item, Reading
from companion_assets.retrieval.date_shapes import Span, Yearly
from companion_assets.retrieval.date_tokens import Word

_SEASON_BEGINS = {1: 3, 2: 6, 3: 9, 4: 12}
_DECADES = range(20, 100, 10)  # "los años 90"
_VERBS = frozenset({"may", "march"})  # in small letters


def named(reading: Reading, place: int) -> Iterator[Item]:
    """Everything that is called by name at a place."""
    yield from dated(reading, place)
    yield from figures(reading, place)
    yield from units(reading, place)
    yield from _weekdays(reading, place)


def dated(reading: Reading, place: int) -> Iterator[Item]:
    """What comes round each year, alone and with the year before or behind it, or "last" and the like."""
    for thing in _yearly(reading, place):
        if thing.needs != "number":
            yield thing
        yield from _year_behind(reading, thing)
        rel = reading.word(thing.end, "rel", thing.langs & POSTFIXED)
        if rel:
            yield from _relative(reading, thing, rel.value, thing.end + 1)
    year = reading.year(place)
    if year:
        start = reading.possessive(year.end)
        for thing in _yearly(reading, reading.skip(start)):
            if thing.langs & year.langs:
                yield replace(thing, year=year.value, needs="", langs=thing.langs & year.langs)
    if rel := reading.word(place, "rel"):
        for thing in _yearly(reading, place + 1):
            if thing.langs & rel.langs and not (rel.value == 0 and _verb(reading, thing.end - 1)):
                yield from _relative(reading, thing, rel.value, thing.end)


def _year_behind(reading: Reading, thing: Item) -> Iterator[Item]:
    """With its year behind: "March 2024", "14 January, 2025", "March of last year", "marzo del año pasado"."""
    place = thing.end
    if reading.text(place) in (",", ".") and reading.touches(place):
        place += 1
    place = reading.skip(place)
    ahead = place + 1 if _unit(reading, place, "year") and not reading.relative_year(place) else place
    year = reading.year(ahead)
    if year and year.langs & thing.langs & ~EAST:  # there the year stands first
        yield replace(thing, end=year.end, year=year.value, needs="")


def _relative(reading: Reading, thing: Item, rel: int, end: int) -> Iterator[Item]:
    """The last, this or the next of what comes round each year, as a fixed stretch."""
    if thing.yearly is None:
        return
    try:
        if rel == 0:
            span = thing.yearly(reading.today.year)
        else:
            span = shapes.occurrence(thing.yearly, reading.today, max(-1, min(rel, 1)))
    except (ValueError, OverflowError):  # there is none, as of 30 February
        return
    yield Item(end, thing.langs, span=span)


def _unit(reading: Reading, place: int, unit: str) -> bool:
    word = reading.word(place, "unit")
    return bool(word and word.value == unit)


def _yearly(reading: Reading, place: int) -> Iterator[Item]:
    """What comes round each year, without its year."""
    yield from _days(reading, place)
    if month := _month(reading, place):
        yield Item(month.end, month.langs, yearly=_months(month.value), needs=_month_needs(reading, place))
    if season := reading.word(place, "season"):
        begin = _SEASON_BEGINS[season.value]
        needs = "number" if reading.word(place + 1, "genitive") else season.needs  # "in the fall of the wall"
        yield Item(place + 1, season.langs, yearly=_months(begin, 3), needs=needs)
    if holiday := reading.word(place, "holiday"):
        yield Item(place + 1, holiday.langs, yearly=day_of(*holiday.value), needs=holiday.needs)
    if quarter := reading.word(place, "quarter"):
        yield Item(place + 1, yearly=_months(quarter.value * 3 - 2, 3))


def _days(reading: Reading, place: int) -> Iterator[Item]:
    """A day of a month, in either order."""
    if day := reading.day(place):
        at = reading.skip(day.end)
        month = _month(reading, at)
        if month and month.langs & day.langs and not (_verb(reading, at) and _talk(reading, place, month.end)):
            yield Item(month.end, month.langs & day.langs, yearly=day_of(month.value, day.value), month=month.value)
    month = _month(reading, place)
    if not month:
        return
    at = month.end + 1 if reading.text(month.end) == "." and reading.touches(month.end) else month.end
    behind = reading.skip(at, "definite")
    day = reading.day(behind)
    if not day or not day.langs & month.langs or not _follows(reading, month, day, behind, behind > at):
        return
    if not reading.word(day.end, "unit") and not (_verb(reading, place) and _talk(reading, place, day.end)):
        end = day.end - 1 if reading.text(day.end - 1) == "." else day.end  # of the sentence
        yield Item(
            end, month.langs, yearly=day_of(month.value, day.value), month=month.value, month_first=not month.marked
        )


def _follows(reading: Reading, month: Counted, day: Counted, place: int, the: bool) -> bool:
    """Whether a day may stand behind its month: "May 3", "May the third", 3月14日; not "march second", "3月14"."""
    if the or month.marked:
        return day.marked
    return reading.number(place) is not None


def _month(reading: Reading, place: int) -> Counted | None:
    if word := reading.word(place, "month"):
        return Counted(word.value, place + 1, word.langs)
    found = reading.marked_number(place, "month")
    return found if found and 1 <= found.value <= 12 else None


def _month_needs(reading: Reading, place: int) -> str:
    word = reading.word(place, "month")
    if word and word.needs and reading.possessive(place + 1) > place + 1:
        return "number"  # "June's letter" is a person's
    return word.needs if word else ""


def _verb(reading: Reading, place: int) -> bool:
    """Whether a month may be a verb: "may", "march"."""
    return reading.text(place) in _VERBS and reading.original(place).islower()


def _talk(reading: Reading, place: int, end: int) -> bool:
    """Whether plain words go on around: "which of the 2 may help", "to march 20 miles"."""
    led = any(reading.word(place - 1, kind) for kind in ("in", "on", "from", "since", "until", "and", "weekday"))
    return reading.text(place - 1)[:1].isalpha() and not led and (reading.plain(end) or reading.plain(end + 1))


def _months(month: int, count: int = 1) -> Yearly:
    return lambda year: shapes.months(year, month, count)


def day_of(month: int, day: int, length: int = 1) -> Yearly:
    """A day of each year, with the days behind it."""

    def span(year: int) -> Span:
        first = dt.date(year, month, day)
        return first, first + dt.timedelta(days=length - 1)

    return span


def figures(reading: Reading, place: int) -> Iterator[Item]:
    """What is written in figures alone."""
    if date := reading.word(place, "date") or (reading.day_first and reading.word(place, "doubtful")) or None:
        year, month, day = date.value
        yield Item(place + 1, yearly=day_of(month, day), year=year, month=month, needs=date.needs)
    if span := reading.word(place, "span"):
        yield Item(place + 1, span=span.value, needs=span.needs)


def units(reading: Reading, place: int) -> Iterator[Item]:
    """Days, weeks, months and years by their distance from today, and years by their number."""
    if found := reading.shift(place):
        unit, away, end, langs = found
        yield Item(end, langs, span=shapes.shifted(reading.today, unit, away))
    start = place + 1 if _unit(reading, place, "year") else place
    decade = reading.number(start) if start > place and reading.word(place, "unit", POSTFIXED) else None
    if decade and decade.value in _DECADES:
        first = dt.date(1900 + decade.value, 1, 1)
        yield Item(decade.end, span=(first, first.replace(year=first.year + 9, month=12, day=31)))
    year = reading.year(start)
    if year:
        needs = "" if year.marked or start > place else "in"
        yield Item(year.end, year.langs, span=shapes.months(year.value, 1, 12), needs=needs)


def _weekdays(reading: Reading, place: int) -> Iterator[Item]:
    """A weekday by its week, by "last" and "next", as an ornament of a date, or alone."""
    if day := reading.word(place, "weekday"):
        yield from _weekday_with_more(reading, place, day)
    day = reading.word(place + 1, "weekday")
    rel, week = reading.word(place, "rel"), reading.word(place, "week")
    if day and rel and rel.langs & day.langs & ~EAST:
        yield _near(reading, day, rel.value, place + 2)
    if day and week:
        yield _of_week(reading, day, week.value, place + 2)
    if (found := reading.shift(place)) and found[0] == "week":
        at = reading.skip(found[2])
        day = reading.word(at, "weekday", found[3])
        if day:
            yield _of_week(reading, day, found[1], at + 1)


def _weekday_with_more(reading: Reading, place: int, day: Word) -> Iterator[Item]:
    needs = "every" if reading.word(place - 1, "every") else day.needs
    yield replace(_near(reading, day, -1, place + 1), needs=needs)
    if rel := reading.word(place + 1, "rel", day.langs & POSTFIXED):
        yield _near(reading, day, rel.value, place + 2)
    found = reading.shift(reading.skip(place + 1))
    if found and found[0] == "week" and found[3] & day.langs:
        yield _of_week(reading, day, found[1], found[2])
    behind = reading.skip(place + 2 if reading.text(place + 1) in (",", ".") else place + 1, "of", "on")
    for thing in (*dated(reading, behind), *figures(reading, behind)):
        if thing.month and thing.langs & day.langs:
            yield replace(thing, needs="")


def _near(reading: Reading, day: Word, direction: int, end: int) -> Item:
    found = shapes.weekday_near(reading.today, day.value, max(-1, min(direction, 1)))
    return Item(end, day.langs, span=(found, found))


def _of_week(reading: Reading, day: Word, weeks: int, end: int) -> Item:
    monday, _ = shapes.shifted(reading.today, "week", weeks)
    found = monday + dt.timedelta(days=day.value)
    return Item(end, day.langs, span=(found, found))
