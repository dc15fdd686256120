"""Questions with known evidence, read from a file of JSON lines. What cannot be used is named and left out."""

import datetime as dt
import json
import posixpath
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, StringConstraints, ValidationError

from companion_assets.contracts.errors import CompanionError
from companion_assets.stages.decoding import decode_note

_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_WORDS = {"Field required": "is missing", "String should have at least 1 character": "is empty"}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and where its answer stands.

    Attributes:
        key: Its `id`, or the number of its line.
        text: The question.
        evidence: Paths of the notes that hold (parts of) the answer; empty where the vault does not tell.
        groups: The same notes by the piece they carry: any note of a group will do for that piece.
        category, language: Slices of a report; "" where the row names none.
        today: The day it is asked on; None is the day it is really asked.
    """

    key: str
    text: str
    evidence: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    category: str = ""
    language: str = ""
    today: dt.date | None = None

    @property
    def answerable(self) -> bool:
        """Whether the vault tells."""
        return bool(self.evidence)


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file that was read.

    Attributes:
        questions: In the order of the file.
        faults: One sentence, with its line, for each row that was left out or not used as a whole.
    """

    questions: tuple[Question, ...]
    faults: tuple[str, ...]


def note_path(written: str) -> str:
    """A note's path as an index spells it: `/`, no `./`, composed accents (NFC)."""
    plain = unicodedata.normalize("NFC", written.strip()).replace("\\", "/")
    return posixpath.normpath(plain).lstrip("/")


def read_questions(file: Path) -> QuestionFile:
    """Read rows `{question, evidence}`, with `id`, `category`, `groups`, `answerable`, `language` and `today` if known.

    Without `groups` each note of `evidence` is a piece of its own. A row without evidence, or with `answerable: false`,
    is one that the vault does not answer. `asked_at` is read as `today`. Other fields are left alone, empty lines too.

    Args:
        file: JSON lines in UTF-8, with or without byte order mark.

    Raises:
        CompanionError: The file cannot be read.
    """
    try:
        text = decode_note(file.read_bytes()).text
    except OSError as fault:
        raise CompanionError(f"the questions in {file} cannot be read: {fault.strerror}", "check the path") from fault
    questions: list[Question] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: text may hold U+2028
        if not line.strip():
            continue
        try:
            row = _Row.model_validate(json.loads(line))
            questions.append(_question(row, number))
        except (ValueError, RecursionError) as fault:
            faults.append(f"line {number}: {_told(fault)}")
            continue
        if row.day is None and (row.today or row.asked_at):
            faults.append(f"line {number}: {row.today or row.asked_at!r} is no day such as 2026-10-31; asked as of now")
    return QuestionFile(tuple(questions), tuple(faults))


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_text(value: Any) -> Any:
    return "" if value is None else str(value)


Text = Annotated[str, BeforeValidator(_as_text)]
_Written = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Notes = Annotated[tuple[_Written, ...], BeforeValidator(_as_list)]


class _Row(BaseModel):
    """A row as it is written."""

    id: Text = ""
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    evidence: Notes | None = None
    groups: tuple[Notes, ...] | None = None
    answerable: bool | None = None
    category: Text = ""
    language: Text = ""
    today: Text = ""
    asked_at: Text = ""

    @property
    def day(self) -> dt.date | None:
        """The day in an ISO date, a time stamp, or a date such as `2026/10/31`."""
        found = _DAY.search(self.today or self.asked_at)
        try:
            return dt.date(*map(int, found.groups())) if found else None
        except ValueError:  # the 31st of June
            return None


def _question(row: _Row, number: int) -> Question:
    """A row as it is asked and scored.

    Raises:
        ValueError: It cannot be scored.
    """
    groups = [tuple(dict.fromkeys(map(note_path, group))) for group in row.groups or () if group]
    evidence = dict.fromkeys(map(note_path, row.evidence or (note for group in groups for note in group)))
    if row.evidence is None and row.groups is None and row.answerable is not False:
        raise ValueError("evidence is missing")
    if row.answerable and not evidence:
        raise ValueError("it is answerable and names no evidence")
    if row.answerable is False:
        groups, evidence = [], {}
    return Question(
        key=row.id or str(number),
        text=row.question,
        evidence=tuple(evidence),
        groups=tuple(groups) or tuple((note,) for note in evidence),
        category=row.category.strip(),
        language=row.language.strip(),
        today=row.day,
    )


def _told(fault: ValueError | RecursionError) -> str:
    """What is wrong with a row, in a few words."""
    if isinstance(fault, json.JSONDecodeError):
        return f"not a JSON object: {fault.msg} at character {fault.pos + 1}"
    if not isinstance(fault, ValidationError):
        return str(fault)
    first = fault.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    place = " ".join(map(str, first["loc"]))
    return (
        f"{place} {_WORDS[message]}" if message in _WORDS else f"{place}: {message}" if place else "not a JSON object"
    )
