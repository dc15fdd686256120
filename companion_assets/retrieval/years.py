"""The same days of another year."""

import calendar
import datetime as dt

from companion_assets.contracts.searching import DateSpan

_LONGEST = 31  # days of a month


def in_year(span: DateSpan, year: int) -> tuple[dt.date, dt.date]:
    """First and last of the same days, so that the last lies in `year`.

    Whole months stay whole months: of February 2024 comes 1–28 February 2025. A single 29 February becomes the 28th
    where there is none.

    Args:
        span: Any span; one across New Year begins in the year before.
        year: Any number; beyond the years that dates have, the nearest of them. Days before these are cut off.
    """
    year = max(dt.MINYEAR, min(year, dt.MAXYEAR))
    begins = year - (span.last.year - span.first.year)
    first = _day(begins, span.first.month, span.first.day) if begins >= dt.MINYEAR else dt.date.min
    whole = span.first.day == 1 and span.last.day == _days_of(span.last.year, span.last.month)
    return first, _day(year, span.last.month, _LONGEST if whole else span.last.day)


def _day(year: int, month: int, day: int) -> dt.date:
    return dt.date(year, month, min(day, _days_of(year, month)))


def _days_of(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]
