"""Stretches that are reckoned from others or from today: "early May", "the last week of 2024", "vor drei Tagen"."""

import datetime as dt
from collections.abc import Iterator
from functools import partial

from companion_assets.retrieval import date_shapes as shapes
from companion_assets.retrieval.date_items import named
from companion_assets.retrieval.date_lexicon import EAST, POSTFIXED
from companion_assets.retrieval.date_reading import Counted, Item, Reading
from companion_assets.retrieval.date_shapes import Span
from companion_assets.retrieval.date_tokens import ANY

_THIRDS, _HALVES, _FEW = 3, 2, 3
_DASHES = frozenset("-‐‑–—")


def item(reading: Reading, place: int) -> Item | None:
    """The stretch of days that begins at a place and reaches furthest, or None."""
    if place not in reading.items:
        reading.items[place] = _read(reading, place)
    return reading.items[place]


def _read(reading: Reading, place: int) -> Item | None:
    if not reading.knows(place):
        return None
    best: Item | None = None
    for found in _forms(reading, place):
        if found.needs not in ("number", "every") and (best is None or found.end > best.end):
            best = found
    return best


def _forms(reading: Reading, place: int) -> Iterator[Item]:
    for form in (
        named,
        _parts,
        _inner,
        _first_few,
        _day_of_month,
        _with_behind,
        _ago,
        _ago_today,
        _rolling,
        _offset,
        _weekday_beside,
    ):
        try:
            yield from form(reading, place)
        except (ValueError, OverflowError):  # 30 February, or a year beyond the calendar
            continue


def _wholes(reading: Reading, place: int) -> Iterator[Item]:
    """What has parts: months, years, weeks, seasons; of "the year" that of today, or of every year."""
    for found in named(reading, place):
        if not found.month:
            yield found
    unit = reading.word(place, "unit")
    if unit and unit.value == "year":
        yield Item(place + 1, unit.langs, yearly=lambda year: shapes.months(year, 1, 12))
    elif unit and unit.value != "day":
        yield Item(place + 1, unit.langs, span=shapes.around(reading.today, unit.value))


def _parts(reading: Reading, place: int) -> Iterator[Item]:
    """A third of something: "early", "mid", "the end of"."""
    word = reading.word(place, "part")
    if not word:
        return
    at = place + 2 if reading.text(place + 1) in _DASHES else reading.skip(place + 1, langs=word.langs)
    for whole in _wholes(reading, at):
        if whole.langs & word.langs:
            yield whole.through(partial(shapes.part, index=word.value, of=_THIRDS), whole.end, word.langs)


def _inner(reading: Reading, place: int) -> Iterator[Item]:
    """The nth unit, weekday or half of something: "the first week of May", "zweite Hälfte des Jahres"."""
    which = reading.ordinal(place)
    if not which:
        return
    kind, end = _inner_kind(reading, which)
    if kind in ("quarter", "half") and 1 <= which.value <= 12 // shapes.MONTHS_IN[kind]:
        yield Item(end, yearly=partial(_of_year, kind=kind, which=which.value), needs="in")
    at = reading.skip(end)
    if not kind or (at == end and reading.word(place, "rel")):  # "last week, last month"
        return
    for whole in _wholes(reading, at):
        if whole.langs & which.langs:
            yield whole.through(partial(_nth, kind=kind, which=which.value), whole.end, which.langs)


def _first_few(reading: Reading, place: int) -> Iterator[Item]:
    """The first or last few: "the first three days of March", "die letzten zwei Wochen im Mai"."""
    which = reading.ordinal(place)
    if not which or abs(which.value) != 1:
        return
    few = reading.word(which.end, "few", which.langs)
    count = Counted(_FEW, which.end + 1, few.langs) if few else reading.count(which.end)
    unit = reading.word(count.end, "unit", which.langs & count.langs) if count else None
    if not count or not unit:
        return
    for whole in _wholes(reading, reading.skip(count.end + 1)):
        if whole.langs & unit.langs:
            change = partial(_run, unit=unit.value, count=which.value * count.value)
            yield whole.through(change, whole.end, unit.langs)


def _run(span: Span, unit: str, count: int) -> Span:
    """So many units from the beginning of a span; from its end, if below none."""
    if count > 0:
        return shapes.nth(span, unit, 1)[0], shapes.nth(span, unit, count)[1]
    _, last = shapes.nth(span, unit, -1)
    return shapes.moved(last, unit, count) + dt.timedelta(days=1), last


def _day_of_month(reading: Reading, place: int) -> Iterator[Item]:
    """A day whose month is not named: "the 5th of last month", "on the 14th"."""
    day = reading.day(place)
    if not day or not day.marked:
        return
    month = reading.shift(reading.skip(day.end))
    if month and month[0] == "month":
        first, _ = shapes.shifted(reading.today, "month", month[1])
        found = first.replace(day=day.value)
        yield Item(month[2], month[3], span=(found, found))
    before = place - 1 if reading.word(place - 1, "definite") else place
    if reading.word(place, "nth") and reading.word(before - 1, "on") and not reading.plain(day.end):
        later = day.value > reading.today.day
        found = shapes.shifted(reading.today, "month", -1 if later else 0)[0].replace(day=day.value)
        yield Item(day.end, span=(found, found))


def _of_year(year: int, kind: str, which: int) -> Span:
    return shapes.nth(shapes.months(year, 1, 12), kind, which)


def _inner_kind(reading: Reading, which: Counted) -> tuple[str, int]:
    """What is counted: a unit, `weekday 0` … or `halves`; with the place behind. "" if nothing is."""
    if reading.word(which.end, "halves", which.langs):
        return "halves", which.end + 1
    if unit := reading.word(which.end, "unit", which.langs):
        return str(unit.value), which.end + 1
    if day := reading.word(which.end, "weekday", which.langs):
        return f"weekday {day.value}", which.end + 1
    return "", which.end


def _nth(span: Span, kind: str, which: int) -> Span:
    if kind == "halves":
        return shapes.part(span, which % _HALVES if which < 0 else which - 1, _HALVES)
    if kind.startswith("weekday "):
        return shapes.nth_weekday(span, int(kind[-1]), which)
    return shapes.nth(span, kind, which)


def _with_behind(reading: Reading, place: int) -> Iterator[Item]:
    """Where the part comes last: 三月初, 2024年下半年, 3月の第1週; and 下半年 alone."""
    if half := reading.word(place, "half"):
        first = half.value * 6 - 5
        yield Item(place + 1, half.langs, yearly=lambda year: shapes.months(year, first, 6))
    for whole in _wholes(reading, place):
        if not whole.langs & EAST:
            continue
        at = reading.skip(whole.end)
        if reading.word(at, "unit", EAST) and reading.word(at + 1, "part", EAST):
            at += 1  # 去年年底
        if part := reading.word(at, "part", EAST):
            yield whole.through(partial(shapes.part, index=part.value, of=_THIRDS), at + 1, EAST)
        if half := reading.word(at, "half") or reading.word(at, "half_post"):
            yield whole.through(partial(shapes.part, index=half.value - 1, of=_HALVES), at + 1, EAST)
        if which := reading.ordinal(at):
            kind, end = _inner_kind(reading, which)
            if kind:
                yield whole.through(partial(_nth, kind=kind, which=which.value), end, EAST)


def _amount(reading: Reading, place: int, langs: int = ANY) -> tuple[int, str, int, int] | None:
    """How many of which unit, the place behind, the languages: "three weeks", 三个月, "3 derniers mois"."""
    count = reading.count(place)
    if not count:
        return None
    at = count.end
    if reading.word(at, "recent", langs):
        at += 1
    unit = reading.word(at, "unit", langs & count.langs)
    if not unit or reading.marks(at, "month"):  # 三月 is March
        return None
    return count.value, unit.value, at + 1, unit.langs & count.langs & langs


def _ago(reading: Reading, place: int) -> Iterator[Item]:
    """The day for "3 days ago"; that whole month for "two months ago"."""
    first = reading.word(place, "ago_first")
    found = _amount(reading, place + 1 if first else place, first.langs if first else ANY)
    if not found:
        return
    count, unit, end, langs = found
    last = None if first else reading.word(end, "ago", langs)
    if not first and not last:
        return
    end += 1 if last else 0
    yield Item(end, langs, span=shapes.shifted(reading.today, unit, -count))
    if _is_today(reading, end):  # "a year ago today"
        day = shapes.moved(reading.today, unit, -count)
        yield Item(end + 1, langs, span=(day, day))


def _ago_today(reading: Reading, place: int) -> Iterator[Item]:
    """The very day: "heute vor einem Jahr", 去年の今日."""
    year = reading.relative_year(place)
    if year and _is_today(reading, reading.skip(year.end)):
        day = shapes.moved(reading.today, "year", year.value - reading.today.year)
        yield Item(reading.skip(year.end) + 1, year.langs, span=(day, day))
    if not _is_today(reading, place) or not (first := reading.word(place + 1, "ago_first")):
        return
    if found := _amount(reading, place + 2, first.langs):
        count, unit, end, langs = found
        day = shapes.moved(reading.today, unit, -count)
        yield Item(end, langs, span=(day, day))


def _is_today(reading: Reading, place: int) -> bool:
    word = reading.word(place, "shift")
    return bool(word and word.value == ("day", 0))


def _rolling(reading: Reading, place: int) -> Iterator[Item]:
    """Up to today: "the past 3 weeks", "les 3 derniers mois", "seit zwei Wochen"; from today: "the next 3 days"."""
    for kind in ("recent", "since", "coming"):
        if word := reading.word(place, kind):
            found = _amount(reading, reading.skip(place + 1), word.langs)
            if found:
                yield _stretch(reading, *found, ahead=kind == "coming")
    if (found := _amount(reading, place, POSTFIXED)) and any(
        reading.word(at, "recent") for at in range(place + 1, found[2])
    ):
        yield _stretch(reading, *found)
    unit = reading.word(place + 1, "unit")
    recent = reading.word(place, "recent")
    if unit and recent and unit.langs & recent.langs and not reading.word(place, "rel"):
        yield _stretch(reading, 1, unit.value, place + 2, unit.langs & recent.langs)


def _stretch(reading: Reading, count: int, unit: str, end: int, langs: int, ahead: bool = False) -> Item:
    away = shapes.moved(reading.today, unit, count if ahead else -count)
    return Item(end, langs, span=(min(away, reading.today), max(away, reading.today)))


def _offset(reading: Reading, place: int) -> Iterator[Item]:
    """Reckoned from a date: "two days before 3 May", "the week after Christmas", "the week of 3 May"."""
    unit = reading.word(place, "unit")
    count, name, at, langs = _amount(reading, place) or (
        (1, unit.value, place + 1, unit.langs) if unit else (0, "", 0, 0)
    )
    if not count:
        return
    for kind in ("before", "after", "of"):
        word = reading.word(at, kind, langs)
        if not word or (kind == "of" and not unit):
            continue
        for found in named(reading, reading.skip(at + 1)):
            if not found.langs & langs:
                continue
            if kind != "of":
                change = partial(_away, unit=name, count=count, before=kind == "before")
                yield found.through(change, found.end, langs)
            elif found.month and name in ("week", "weekend"):
                yield found.through(lambda span: shapes.around(span[0], name), found.end, langs)


def _weekday_beside(reading: Reading, place: int) -> Iterator[Item]:
    """The weekday next to a date: "the Friday before Christmas", "the Monday after 3 May"."""
    day = reading.word(place, "weekday")
    if not day:
        return
    for kind, direction in (("before", -1), ("after", 1)):
        if reading.word(place + 1, kind, day.langs):
            for found in named(reading, reading.skip(place + 2)):
                if found.langs & day.langs:
                    change = partial(_nearest_weekday, weekday=day.value, direction=direction)
                    yield found.through(change, found.end, day.langs)


def _nearest_weekday(span: Span, weekday: int, direction: int) -> Span:
    day = shapes.weekday_near(span[0] if direction < 0 else span[1], weekday, direction)
    return day, day


def _away(span: Span, unit: str, count: int, before: bool) -> Span:
    """The unit that begins so many units before a span, or the last of so many after it."""
    begin = shapes.moved(span[0], unit, -count) if before else shapes.moved(span[1], unit, count - 1)
    begin = begin if before else begin + dt.timedelta(days=1)
    return begin, shapes.moved(begin, unit, 1) - dt.timedelta(days=1)
