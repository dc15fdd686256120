"""The demo vault as a smoke test: its questions find their evidence, and the embedded model answers from it."""

from collections.abc import Iterator
from importlib.resources import files

import pytest

from benchmarks.demo_questions import Outcome, ask, questions
from companion_app.bootstrap import Companion, open_companion
from companion_assets.backends.weights import answerer_available
from companion_assets.contracts.paths import data_paths, model_cache_dir
from companion_assets.daemon.launching import run_sync
from companion_assets.definitions import defs


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """The demo vault, indexed once by the real job."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPANION_HOME", str(tmp_path_factory.mktemp("demo") / "home"))
        patch.setenv("COMPANION_VAULT__PATH", str(files("companion_app.demo") / "vault"))
        patch.setenv("COMPANION_COMPANION__CHAT__DEFAULT_TEMPERATURE", "0")
        assert run_sync(data_paths(), defs, reason="test").success
        opened = open_companion()
        yield opened
        opened.close()


def test_there_are_forty_questions_and_two_kinds_cannot_be_answered() -> None:
    rows = questions()
    assert len(rows) == 40
    assert sum(not row["answerable"] for row in rows) == 4
    vault = files("companion_app.demo") / "vault"
    assert all((vault / path).is_file() for row in rows for path in row["evidence"])


def test_nearly_every_question_finds_a_note_that_answers_it(companion: Companion) -> None:
    rows = [row for row in questions() if row["answerable"]]
    missed = [
        row["question"]
        for row in rows
        if not {hit.path for hit in companion.retriever.retrieve(row["question"]).hits} & set(row["evidence"])
    ]
    assert len(missed) <= 2, missed


def test_what_is_left_out_of_a_vault_is_never_found(companion: Companion) -> None:
    found = companion.retriever.retrieve("ceramic-walrus-07 half marathon 1:58:30 deleted").hits
    assert not any(".trash" in hit.path or "conflicted" in hit.path for hit in found)


@pytest.mark.model
@pytest.mark.skipif(
    not answerer_available("qwen2.5-coder-1.5b", model_cache_dir()), reason="the embedded answerer is not installed"
)
def test_the_embedded_model_answers_cites_and_abstains(companion: Companion) -> None:
    outcomes: list[Outcome] = [
        ask(companion, row) for row in questions(["q02", "q06", "q14", "q28", "q36", "q39", "q40"])
    ]
    wrong = [(outcome.row["question"], outcome.reply) for outcome in outcomes if not outcome.right]
    assert len(wrong) <= 1, wrong
    refused = [outcome.right for outcome in outcomes if not outcome.row["answerable"]]
    assert all(refused), wrong
