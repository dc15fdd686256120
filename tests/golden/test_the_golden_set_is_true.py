"""The golden set on the demo vault: what it names is there, holds the words of the answer, and is not copied."""

import json
import re
import unicodedata
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from companion_assets.stages.questions import read_questions

FILE = Path(__file__).with_name("demo_vault.jsonl")
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
VAULT = Path(str(files("companion_app.demo") / "vault"))
COPIED = 7


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def runs(text: str) -> set[tuple[str, ...]]:
    """Every stretch of seven words, or of seven signs where words have no spaces."""
    words = re.findall(r"[\u3040-\u9fff]|\w+", folded(text))
    return set(zip(*(words[start:] for start in range(COPIED)), strict=False))


@pytest.fixture(scope="module")
def notes() -> dict[str, str]:
    paths = {path.relative_to(VAULT).as_posix(): path for path in VAULT.rglob("*.md")}
    return {path: folded(f"{path}\n{file.read_text(encoding='utf-8')}") for path, file in paths.items()}


def test_it_reads_without_a_fault_as_the_command_reads_it() -> None:
    read = read_questions(FILE)
    assert read.faults == ()
    assert [question.key for question in read.questions] == [row["id"] for row in ROWS]
    assert [question.answerable for question in read.questions] == [row["answerable"] for row in ROWS]


def test_it_is_large_and_wide_enough_to_tell_something() -> None:
    answerable = Counter(row["language"] for row in ROWS if row["answerable"])
    kinds = Counter(row["category"] for row in ROWS)
    assert len(ROWS) >= 130
    assert min(answerable[language] for language in ("zh", "ja", "de")) >= 20
    assert {"es", "fr", "pt", "sv"} <= set(answerable)
    assert kinds["unanswerable"] >= 20
    assert kinds["multi-hop"] + kinds["change"] >= 25
    assert min(kinds[kind] for kind in ("fact", "date", "person", "tags and folders", "across languages")) >= 10
    assert len({folded(row["question"]) for row in ROWS}) == len({row["id"] for row in ROWS}) == len(ROWS)


def test_every_piece_stands_in_every_note_that_is_said_to_carry_it(notes: dict[str, str]) -> None:
    lacking = [
        (row["id"], path)
        for row in ROWS
        for forms, group in zip(row["answer_words"], row["groups"], strict=True)
        for path in group
        if not any(folded(form) in notes.get(path, "") for form in forms)
    ]
    assert lacking == []


def test_groups_and_evidence_are_the_same_notes() -> None:
    for row in ROWS:
        assert set(row["evidence"]) == {path for group in row["groups"] for path in group}
        assert row["answerable"] == bool(row["evidence"])


def test_no_question_is_a_sentence_of_the_vault(notes: dict[str, str]) -> None:
    vault = set[tuple[str, ...]]().union(*map(runs, notes.values()))
    assert [row["id"] for row in ROWS if runs(row["question"]) & vault] == []
