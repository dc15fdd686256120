import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.retrieval.dates import days_mentioned

NOTE = dt.date(2026, 7, 1)


def days(text: str, anchor: dt.date | None = NOTE) -> list[str]:
    return [str(day) for day in days_mentioned(text, anchor)]


@pytest.mark.parametrize(
    ("passage", "found"),
    [
        ("see [[2025-07-09]] and [[2025-07-10|the day after]]", ["2025-07-09", "2025-07-10"]),
        ("date: 2025-03-30", ["2025-03-30"]),
        ("the file 2025_07_09 and 20250708", ["2025-07-08", "2025-07-09"]),
        ("paid on 14.3.2025, due 3/31/2025", ["2025-03-14", "2025-03-31"]),
        ("met on July 8th, 2024", ["2024-07-08"]),
        ("le 1er mai 2024, am 3. Juni 2024, 3 de julio de 2024", ["2024-05-01", "2024-06-03", "2024-07-03"]),
        ("2025年3月14日 und 2025년 3월 15일", ["2025-03-14", "2025-03-15"]),
    ],
)
def test_a_full_date_is_a_day_with_or_without_a_note_of_a_day(passage: str, found: list[str]) -> None:
    assert days(passage) == days(passage, None) == found


@pytest.mark.parametrize(
    ("passage", "found"),
    [
        ("met on July 8th", ["2026-07-08"]),
        ("the **2 Oct** train", ["2026-10-02"]),
        ("| 14 May | arrive |\n| 15 May | Furnas |", ["2026-05-14", "2026-05-15"]),
        ("starting on the fifth of May", ["2026-05-05"]),
        ("May 13, 15 and 22", ["2026-05-13", "2026-05-15", "2026-05-22"]),
        ("from 2 to 5 June", ["2026-06-02", "2026-06-03", "2026-06-04", "2026-06-05"]),
        ("from 2 to 25 June", ["2026-06-02", "2026-06-25"]),
        ("am 14. Mai", ["2026-05-14"]),
        ("三月五日", ["2026-03-05"]),
        ("3월 4일", ["2026-03-04"]),
    ],
)
def test_a_day_without_its_year_is_near_the_day_of_the_note(passage: str, found: list[str]) -> None:
    assert days(passage) == found
    assert days(passage, None) == []


def test_the_nearest_year_is_taken_across_new_year() -> None:
    assert days("since 30 December", dt.date(2026, 1, 2)) == ["2025-12-30"]
    assert days("until 2 January", dt.date(2025, 12, 30)) == ["2026-01-02"]


@pytest.mark.parametrize(
    "passage",
    [
        "In March we moved; in 2024 we rested.",
        "yesterday, last week, on Monday, at Christmas",
        "page 301, 4.1 km, 12:30, version 1.2.3, 780 euros",
        "In May we may go, all 3 of us",
        "30 February, 2025-13-45",
        "May I? The march of 12 men.",
        "IMG_20251022_101520.jpg",
        "",
    ],
)
def test_months_years_and_relative_dates_are_no_days(passage: str) -> None:
    assert days(passage) == []


def test_a_date_far_into_a_passage_is_found_and_each_day_once() -> None:
    passage = f"{'word ' * 400}on 8 July {'word ' * 400}and again on July 8th, 2026."
    assert days(passage) == ["2026-07-08"]


@given(text=st.text(), anchor=st.one_of(st.none(), st.dates()))
def test_any_text_gives_days_in_order(text: str, anchor: dt.date | None) -> None:
    found = days_mentioned(text, anchor)
    assert list(found) == sorted(set(found))
