"""All that a question says, put together; and how it is shown."""

import datetime as dt
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_assets.contracts.searching import SearchFilters
from companion_assets.retrieval.understanding import document, in_one_line, understand
from companion_assets.stores.note_graph import NoteGraph
from tests.retrieval.graphs import graph_of
from tests.stores.samples import note

TODAY = dt.date(2026, 11, 30)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> NoteGraph:
    days = ("2024-02-29", "2024-05-02", "2025-01-14", "2025-12-24", "2026-03-03")
    return graph_of(
        tmp_path_factory.mktemp("understanding"),
        note("People/Anna Meyer.md", aliases=("Annie",)),
        note("People/May Hart.md"),
        note("Work/Half marathon.md", tags=("work",)),
        *(note(f"Journal/{day}.md", date=dt.date.fromisoformat(day)) for day in days),
    )


def test_everything_at_once(graph: NoteGraph) -> None:
    question = (
        'When did I last talk with Anna about the half marathon and "sore feet" on 14 January 2025, '
        "in my Journal folder, but not in Lisbon, only in #work?"
    )
    found = understand(question, today=TODAY, graph=graph)
    assert [(span.first, span.last) for span in found.dates] == [(dt.date(2025, 1, 14), dt.date(2025, 1, 14))]
    assert [(named.name, named.kind) for named in found.named] == [("Anna Meyer", "person"), ("Half marathon", "note")]
    assert (found.tags, found.folders, found.phrases, found.without, found.order) == (
        (), ("Journal",), ("sore feet",), ("Lisbon",), "newest"
    )  # fmt: skip
    assert found.filters == SearchFilters(tags=("work",))
    assert (found.question, found.today) == (question, TODAY)
    assert "Lisbon" not in found.subject
    assert "#work" not in found.subject
    assert '"sore feet"' in found.subject


def test_places_are_those_of_the_question_although_parts_of_it_are_taken_out(graph: NoteGraph) -> None:
    question = "only in #work: Anna on 14 January 2025"
    found = understand(question, today=TODAY, graph=graph)
    (span,), (anna,) = found.dates, found.named
    assert (question[anna.start : anna.end], "14 January 2025" in question[span.start : span.end]) == ("Anna", True)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What happened on 14 January?", dt.date(2025, 1, 14)),
        ("What happened on 24 December?", dt.date(2025, 12, 24)),
        ("What happened on 3 March?", dt.date(2026, 3, 3)),
        ("What happened on 29 February?", dt.date(2024, 2, 29)),
    ],
)
def test_a_day_without_a_year_is_of_the_last_year_that_has_it(graph: NoteGraph, question: str, first: dt.date) -> None:
    (span,) = understand(question, today=TODAY, graph=graph).dates
    assert (span.first, span.last, span.every_year) == (first, first, True)


def test_a_day_of_a_named_year_stays_there(graph: NoteGraph) -> None:
    (span,) = understand("What happened on 14 January 2024?", today=TODAY, graph=graph).dates
    assert (span.first, span.every_year) == (dt.date(2024, 1, 14), False)


def test_a_month_is_no_person(graph: NoteGraph) -> None:
    assert understand("What did I do in May?", today=TODAY, graph=graph).named == ()
    assert [n.name for n in understand("What did May Hart do?", today=TODAY, graph=graph).named] == ["May Hart"]


def test_what_is_excluded_is_not_named(graph: NoteGraph) -> None:
    found = understand("Who came except Anna on 14 January 2025?", today=TODAY, graph=graph)
    assert (found.named, found.without, len(found.dates)) == ((), ("Anna",), 1)


def test_lately_asks_for_the_newest_unless_a_day_is_named(graph: NoteGraph) -> None:
    assert understand("What have I read lately?", today=TODAY, graph=graph).order == "newest"
    assert understand("What had I read lately on 14 January 2025?", today=TODAY, graph=graph).order == ""


def test_a_plain_question_says_nothing_beside_its_words(graph: NoteGraph) -> None:
    found = understand("What is my shoe size?", today=TODAY, graph=graph)
    assert (found.subject, in_one_line(found)) == ("What is my shoe size?", "")


def test_a_vault_without_an_index_is_asked_all_the_same(tmp_path: Path) -> None:
    found = understand(
        '"red wine" only in #work on 14 January 2025', today=TODAY, graph=NoteGraph(tmp_path / "none.db")
    )
    assert (found.phrases, found.filters.tags, len(found.dates), found.named) == (("red wine",), ("work",), 1, ())


def test_the_document_has_a_stable_shape_and_plain_values(graph: NoteGraph) -> None:
    question = 'Anna, the half marathon and "x y" on 14 January, not #work; in:Journal after:2024 -wine'
    shown = document(understand(question, today=TODAY, graph=graph))
    assert json.loads(json.dumps(shown)) == shown
    assert shown["people"] == [{"name": "Anna Meyer", "paths": ["People/Anna Meyer.md"]}]
    assert shown["notes"] == [{"name": "Half marathon", "paths": ["Work/Half marathon.md"]}]
    assert [(day["first"], day["last"], day["every_year"]) for day in shown["dates"]] == [
        ("2025-01-14", "2025-01-14", True)
    ]
    assert shown["dates"][0]["text"] in question
    assert shown["filters"] == {
        "after": "2024-01-01", "before": None, "tags": [], "folder": "Journal", "source_kind": None, "note": None,
        "people": [],
    }  # fmt: skip
    assert set(shown) == {"dates", "people", "notes", "tags", "folders", "phrases", "without", "order", "filters"}
    nothing = document(understand("hello", today=TODAY, graph=graph))
    assert set(nothing) == set(shown)
    assert set(nothing["filters"]) == set(shown["filters"])


def test_the_line_for_a_person_says_it_all(graph: NoteGraph) -> None:
    question = 'Anna last time on 14 January 2025 "x y" #work in my Journal folder -wine after:2024-05-06 tag:work'
    line = in_one_line(understand(question, today=TODAY, graph=graph))
    asked = ["2025-01-14", "Anna Meyer", "#work", "Journal/", "“x y”", "not wine", "newest first"]
    assert line.split(" · ") == [*asked, "only from 2024-05-06", "only #work"]


PARTS = (" ", "\0", "\ud800", "'", "Anna ", "李", "2025-01-14 ", "([{", "é\u0301", "Anna's ", ".", "a.")
HOSTILE = ["", *(part * (8000 // len(part)) for part in PARTS)]


@pytest.mark.parametrize("question", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_understood_somehow(graph: NoteGraph, question: str) -> None:
    found = understand(question, today=TODAY, graph=graph)
    json.dumps(document(found))
    in_one_line(found)


@settings(max_examples=100, deadline=None)
@given(question=st.text(st.characters(exclude_categories=()), max_size=80), today=st.dates())
def test_any_text_on_any_day(graph: NoteGraph, question: str, today: dt.date) -> None:
    json.dumps(document(understand(question, today=today, graph=graph)))


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("dinners except in May", []),
        ("dinners not in March", []),
        ("dinners in May, except in 2024", [(dt.date(2024, 5, 1), dt.date(2024, 5, 31))]),
        ("trips last year, but not last week", [(dt.date(2025, 1, 1), dt.date(2025, 12, 31))]),
        ("in 2024, what did I do in February?", [(dt.date(2024, 2, 1), dt.date(2024, 2, 29))]),
    ],
)
def test_days_of_exclusions_are_not_asked_for(
    graph: NoteGraph, question: str, days: list[tuple[dt.date, dt.date]]
) -> None:
    assert [(span.first, span.last) for span in understand(question, today=TODAY, graph=graph).dates] == days
