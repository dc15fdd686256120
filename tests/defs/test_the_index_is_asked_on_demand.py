"""The check `retrieval_golden`: asks a file of questions when somebody wants to know, and never in a sync."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import open_instance
from companion_assets.definitions import defs
from companion_assets.defs.knowledge import golden
from companion_assets.defs.knowledge.golden import retrieval_golden
from companion_assets.retrieval.search import Search
from companion_assets.stores.index_table import Vector
from tests.defs.conftest import sync

CELLO = {"question": "Is the crack in the wing closed?", "evidence": ["Projects/Cello.md"], "category": "fact"}
WHALES = {"question": "Why did we see no whales?", "evidence": ["Journal/2026-05-15.md"], "language": "en"}
LOST = {"question": "Where is the key of the boat?", "evidence": ["Projects/Boat.md"]}
UNTOLD = {"question": "Which pills did the vet prescribe?", "evidence": []}


@pytest.fixture
def ask(synced: DataPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Ask":
    return Ask(synced, tmp_path / "questions.jsonl", monkeypatch)


class Ask:
    """Runs the check as Dagster's page does."""

    def __init__(self, paths: DataPaths, file: Path, patch: pytest.MonkeyPatch) -> None:
        self.paths = paths
        self.file = file
        self.patch = patch

    def __call__(self, *rows: object, **floors: float) -> dg.AssetCheckEvaluation:
        self.file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.patch.setenv("COMPANION_RAG__EVALUATION__QUESTIONS", str(self.file))
        for name, floor in floors.items():
            self.patch.setenv(f"COMPANION_RAG__EVALUATION__FLOORS__{name.upper()}", str(floor))
        return self.run()

    def run(self) -> dg.AssetCheckEvaluation:
        job = dg.define_asset_job("on_demand", selection=dg.AssetSelection.checks(retrieval_golden))
        all_of_it = dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
        with open_instance(self.paths) as instance:
            result = all_of_it.resolve_job_def("on_demand").execute_in_process(instance=instance)
        (evaluation,) = result.get_asset_check_evaluations()
        return evaluation


def test_it_passes_where_the_floors_are_reached(ask: Ask) -> None:
    told = ask(CELLO, WHALES, UNTOLD, mrr=0.4, recall_at_8=1.0)
    assert told.passed
    assert told.description == "Every floor is reached."
    assert told.metadata["asked"].value == 3
    records = told.metadata["figures"].records
    assert [record.data["slice"] for record in records] == ["all", "fact", "en"]
    assert records[0].data["recall@8"] == 1


def test_it_names_every_floor_that_is_not_reached(ask: Ask) -> None:
    told = ask(CELLO, LOST, hit_at_1=1.0, recall_at_8=0.9, full_at_10=0.5)
    assert not told.passed
    assert told.severity is dg.AssetCheckSeverity.WARN
    assert told.description == "hit@1 is 0.500, the floor is 1; recall@8 is 0.500, the floor is 0.9"


@contextmanager
def refusing(open_search: Callable, word: str) -> Iterator[Search]:
    """The search, with an embedder that does not answer to questions with this word."""
    with open_search() as search:

        def embed(text: str) -> Vector | None:
            if word in text:
                raise BackendUnavailable("the server is gone")
            return search.embed(text)

        yield replace(search, embed=embed)


def test_a_question_that_cannot_be_searched_is_named_and_stops_no_other(ask: Ask) -> None:
    real = golden.open_search
    ask.patch.setattr(golden, "open_search", lambda: refusing(real, "whales"))
    told = ask(CELLO, WHALES, recall_at_8=0.4)
    assert not told.passed
    assert told.description == "1 could not be searched, the first is 2: the server is gone"
    assert told.metadata["failed"].value == ["2: the server is gone"]
    assert told.metadata["figures"].records[0].data["recall@8"] == 1 / 2
    told = ask(WHALES)
    assert not told.passed
    assert told.description == "No question could be searched: the server is gone"


def test_a_floor_without_a_figure_is_not_reached(ask: Ask) -> None:
    told = ask(UNTOLD)
    assert not told.passed
    assert told.description == "no question tells recall@8, the floor is 0.8"
    assert ask(UNTOLD, recall_at_8=0).passed
    assert ask(CELLO, marked=0.1).description == "no question tells marked, the floor is 0.1"


def test_a_category_and_a_language_of_one_name_are_two_slices(ask: Ask) -> None:
    told = ask({**CELLO, "category": "english"}, {**WHALES, "language": "english"})
    slices = [(record.data["by"], record.data["slice"]) for record in told.metadata["figures"].records]
    assert slices == [("", "all"), ("category", "english"), ("language", "english")]


def test_without_a_file_it_is_skipped_in_words(ask: Ask) -> None:
    told = ask.run()
    assert told.passed
    assert told.description == "Skipped: rag.evaluation.questions names no file."


def test_a_file_without_a_question_is_no_success(ask: Ask) -> None:
    told = ask({"question": "?"})
    assert not told.passed
    assert "holds no question" in (told.description or "")


def test_no_sync_runs_it(ask: Ask, synced: DataPaths) -> None:
    ask.file.write_text("nothing that could be read\n")
    ask.patch.setenv("COMPANION_RAG__EVALUATION__QUESTIONS", str(ask.file))
    sync(synced)
    with open_instance(synced) as instance:
        key = retrieval_golden.check_key
        assert instance.event_log_storage.get_latest_asset_check_execution_by_key([key]) == {}
