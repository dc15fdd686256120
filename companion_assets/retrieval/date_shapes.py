"""Calendar arithmetic behind what a text calls a date: units, thirds and halves, the nth week, the year that is meant.

A week is Monday to Sunday. Seasons are those of the northern hemisphere, in whole months; a winter carries the year in
which it begins.
"""

import datetime as dt
from collections.abc import Callable

Span = tuple[dt.date, dt.date]
Yearly = Callable[[int], Span]
"""What comes round each year: gives its days in a year, or raises ValueError where that year lacks it."""

MONTHS_IN = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_DAYS_IN = {"day": 1, "week": 7, "weekend": 7}
_YEARS_TO_A_LEAP_DAY = 8  # 1896 to 1904; between 1904 and 2096 it is four


def months(year: int, month: int, count: int = 1) -> Span:
    """The days of `count` months from `month` on, which may lie beyond December."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = month - 1 + count
    return dt.date(year, month, 1), dt.date(year + after // 12, after % 12 + 1, 1) - dt.timedelta(days=1)


def around(day: dt.date, unit: str) -> Span:
    """The whole day, week, weekend, month, quarter, half or year that holds a day (the weekend: of its week)."""
    if unit in MONTHS_IN:
        count = MONTHS_IN[unit]
        return months(day.year, (day.month - 1) // count * count + 1, count)
    if unit == "day":
        return day, day
    monday = day - dt.timedelta(days=day.weekday())
    return monday + dt.timedelta(days=5 if unit == "weekend" else 0), monday + dt.timedelta(days=6)


def moved(day: dt.date, unit: str, count: int) -> dt.date:
    """The day `count` units later; in a shorter month its last day."""
    if unit in _DAYS_IN:
        return day + dt.timedelta(days=_DAYS_IN[unit] * count)
    first, last = months(day.year, day.month + MONTHS_IN[unit] * count)
    return first.replace(day=min(day.day, last.day))


def shifted(today: dt.date, unit: str, count: int) -> Span:
    """The unit `count` units away from the one that holds `today`."""
    start = around(today, unit)[0] if unit in MONTHS_IN else today
    return around(moved(start, unit, count), unit)


def part(span: Span, index: int, of: int) -> Span:
    """One of several equal parts of a span: by months where it is made of months, else by days."""
    first, last = span
    whole = (last.year - first.year) * 12 + last.month - first.month + 1
    if first.day == 1 and (last + dt.timedelta(days=1)).day == 1 and whole % of == 0:
        return months(first.year, first.month + whole // of * index, whole // of)
    size = (last - first).days + 1
    return (
        first + dt.timedelta(days=size * index // of),
        first + dt.timedelta(days=max(size * (index + 1) // of, 1) - 1),
    )


def nth(span: Span, unit: str, count: int) -> Span:
    """The nth unit inside a span, -1 the last; weeks and days are counted from the span's own ends.

    Raises:
        ValueError: If the span holds no such unit.
    """
    first, last = span
    if unit in MONTHS_IN:
        start = moved(first, unit, count - 1) if count > 0 else moved(last.replace(day=1), "month", 1 - MONTHS_IN[unit])
        found = months(start.year, start.month, MONTHS_IN[unit])
    elif unit == "weekend":
        return nth_weekday(span, 5, count, days=2)
    else:
        size = dt.timedelta(days=_DAYS_IN[unit])
        begin = first + size * (count - 1) if count > 0 else last - size + dt.timedelta(days=1)
        found = begin, begin + size - dt.timedelta(days=1)
    if found[0] < first or found[0] > last:
        raise ValueError("no such part")
    return found[0], min(found[1], last)


def nth_weekday(span: Span, weekday: int, count: int, days: int = 1) -> Span:
    """The nth Monday (0) … Sunday (6) inside a span, -1 the last, with the days after it.

    Raises:
        ValueError: If the span holds no such day.
    """
    first, last = span
    if count > 0:
        begin = first + dt.timedelta(days=(weekday - first.weekday()) % 7 + 7 * (count - 1))
    else:
        begin = last - dt.timedelta(days=(last.weekday() - weekday) % 7)
    if not first <= begin <= last:
        raise ValueError("no such day")
    return begin, begin + dt.timedelta(days=days - 1)


def weekday_near(today: dt.date, weekday: int, direction: int) -> dt.date:
    """The weekday before `today` (-1), in its week (0), or after it (1)."""
    if direction == 0:
        return today + dt.timedelta(days=weekday - today.weekday())
    away = (today.weekday() - weekday) * -direction % 7 or 7
    return today + dt.timedelta(days=direction * away)


def occurrence(yearly: Yearly, today: dt.date, direction: int = 0) -> Span:
    """The time a yearly stretch came round.

    Args:
        yearly: The stretch.
        today: The day to count from.
        direction: 0 the latest that has begun, -1 the latest that is over, 1 the next to begin.

    Raises:
        ValueError: If there is none, as for 30 February.
    """
    step = 1 if direction > 0 else -1
    for year in range(today.year - step, today.year + step * (_YEARS_TO_A_LEAP_DAY + 1), step):
        try:
            first, last = yearly(year)
        except ValueError:
            continue
        if first > today if direction > 0 else (last < today if direction < 0 else first <= today):
            return first, last
    raise ValueError("no such day in any year")


def nearest(yearly: Yearly, day: dt.date) -> Span:
    """The time a yearly stretch came round that lies nearest to a day.

    Raises:
        ValueError: If there is none.
    """
    spans = []
    for year in range(day.year - 1, day.year + 2):
        try:
            spans.append(yearly(year))
        except ValueError:
            continue
    return min(spans, key=lambda span: abs(span[0] - day))
