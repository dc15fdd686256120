"""Files of questions as people and programs write them: what can be asked is asked, the rest is named."""

import datetime as dt
import json
from pathlib import Path

import pytest

from companion_assets.contracts.errors import CompanionError
from companion_assets.stages.questions import Question, read_questions


def written(folder: Path, *rows: object, raw: bytes | None = None) -> Path:
    file = folder / "questions.jsonl"
    file.write_bytes(raw if raw is not None else "\n".join(map(json.dumps, rows)).encode())
    return file


def only(folder: Path, row: object) -> Question:
    read = read_questions(written(folder, row))
    assert read.faults == ()
    (question,) = read.questions
    return question


def test_a_question_and_its_evidence_are_enough(tmp_path: Path) -> None:
    question = only(tmp_path, {"question": " Who? ", "evidence": ["A.md", "B.md"]})
    assert question == Question("1", "Who?", ("A.md", "B.md"), (("A.md",), ("B.md",)))
    assert question.answerable


def test_every_field_is_read_and_strange_ones_are_left_alone(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "question": "When?",
        "evidence": ["A.md", "B.md", "C.md"],
        "groups": [["A.md", "B.md"], ["C.md"]],
        "answerable": True,
        "category": "date",
        "language": "de",
        "today": "2026-10-31",
        "options": {"a": 1},
    }
    assert only(tmp_path, row) == Question(
        "7",
        "When?",
        ("A.md", "B.md", "C.md"),
        (("A.md", "B.md"), ("C.md",)),
        "date",
        "de",
        dt.date(2026, 10, 31),
    )


@pytest.mark.parametrize(
    "row",
    [
        {"question": "?", "evidence": [], "answerable": False},
        {"question": "?", "evidence": []},
        {"question": "?", "answerable": False},
        {"question": "?", "answerable": False, "evidence": ["nearly.md"], "groups": [["nearly.md"]]},
    ],
)
def test_what_the_vault_does_not_tell_has_no_evidence(tmp_path: Path, row: object) -> None:
    question = only(tmp_path, row)
    assert not question.answerable
    assert question.groups == ()


@pytest.mark.parametrize(
    "spelling", ["./Notes/Café.md", "Notes\\Café.md", "Notes//Café.md", "/Notes/Café.md", "Notes/Cafe\u0301.md"]
)
def test_paths_are_spelled_as_the_index_spells_them(tmp_path: Path, spelling: str) -> None:
    assert only(tmp_path, {"question": "?", "evidence": spelling}).evidence == ("Notes/Café.md",)


def test_groups_alone_name_the_evidence(tmp_path: Path) -> None:
    question = only(tmp_path, {"question": "?", "groups": [["./A.md", "B.md"], "C.md"]})
    assert question.evidence == ("A.md", "B.md", "C.md")
    assert question.groups == (("A.md", "B.md"), ("C.md",))


@pytest.mark.parametrize(
    "day", ["2026-03-05", "2026-03-05T10:00:00Z", "2026/03/05 (Thu) 02:21", "2026.3.5", "on 2026-03-05"]
)
def test_the_day_of_asking_may_be_a_time_stamp(tmp_path: Path, day: str) -> None:
    assert only(tmp_path, {"question": "?", "evidence": ["A.md"], "asked_at": day}).today == dt.date(2026, 3, 5)


def test_a_day_that_is_none_is_named_and_the_question_asked_all_the_same(tmp_path: Path) -> None:
    read = read_questions(written(tmp_path, {"question": "?", "evidence": ["A.md"], "today": "2026-06-31"}))
    assert [question.today for question in read.questions] == [None]
    assert read.faults == ("line 1: '2026-06-31' is no day such as 2026-10-31; asked as of now",)


def test_marks_line_ends_and_empty_lines_are_nothing_to_speak_of(tmp_path: Path) -> None:
    row = '{"question": "one\u2028line", "evidence": ["A.md"]}'.encode()
    read = read_questions(written(tmp_path, raw=b"\xef\xbb\xbf" + row + b"\r\n\r\n  \r\n" + row + b"\r\n"))
    assert [question.key for question in read.questions] == ["1", "4"]
    assert read.faults == ()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "not a JSON object: Expecting property name enclosed in double quotes at character 2"),
        ("[1]", "not a JSON object"),
        ('"Who?"', "not a JSON object"),
        ('{"evidence": ["A.md"]}', "question is missing"),
        ('{"question": "  ", "evidence": ["A.md"]}', "question is empty"),
        ('{"question": 3, "evidence": ["A.md"]}', "question: Input should be a valid string"),
        ('{"question": "?"}', "evidence is missing"),
        ('{"question": "?", "evidence": [3]}', "evidence 0: Input should be a valid string"),
        ('{"question": "?", "evidence": [], "answerable": true}', "it is answerable and names no evidence"),
        ("[" * 100_000, "maximum recursion depth exceeded"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_line_and_stops_nothing(
    tmp_path: Path, line: str, fault: str
) -> None:
    good = '{"question": "?", "evidence": ["A.md"]}'
    read = read_questions(written(tmp_path, raw=f"{good}\n{line}\n{good}\n".encode()))
    assert [question.key for question in read.questions] == ["1", "3"]
    (told,) = read.faults
    assert told.startswith(f"line 2: {fault}")


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(CompanionError, match=r"the questions in .* cannot be read"):
        read_questions(tmp_path / name)
