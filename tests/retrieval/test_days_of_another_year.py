"""The same days in another year."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.contracts.searching import DateSpan
from companion_assets.retrieval.years import in_year

CASES = [
    ("2024-02-01", "2024-02-29", 2025, "2025-02-01", "2025-02-28"),
    ("2025-02-01", "2025-02-28", 2024, "2024-02-01", "2024-02-29"),
    ("2023-12-01", "2024-02-29", 2026, "2025-12-01", "2026-02-28"),
    ("2024-12-24", "2025-01-06", 2024, "2023-12-24", "2024-01-06"),
    ("2024-02-29", "2024-02-29", 2025, "2025-02-28", "2025-02-28"),
    ("2024-02-28", "2024-02-28", 2028, "2028-02-28", "2028-02-28"),
    ("2026-05-03", "2026-05-03", 2019, "2019-05-03", "2019-05-03"),
    ("2024-12-24", "2025-01-06", 0, "0001-01-01", "0001-01-06"),
    ("2024-12-24", "2025-01-06", 10000, "9998-12-24", "9999-01-06"),
]


@pytest.mark.parametrize(("first", "last", "year", "moved_first", "moved_last"), CASES)
def test_in_year(first: str, last: str, year: int, moved_first: str, moved_last: str) -> None:
    days = in_year(DateSpan(dt.date.fromisoformat(first), dt.date.fromisoformat(last), 0, 1, True), year)
    assert days == (dt.date.fromisoformat(moved_first), dt.date.fromisoformat(moved_last))


@given(st.dates(), st.dates(), st.integers(-20000, 20000))
def test_any_days_in_any_year(one: dt.date, other: dt.date, year: int) -> None:
    first, last = in_year(DateSpan(min(one, other), max(one, other), 0, 1, True), year)
    assert first <= last
    assert last.year == max(dt.MINYEAR, min(year, dt.MAXYEAR))
