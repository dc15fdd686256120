"""The things that travel between rooms: notes, chunks, hits, messages, replies. All frozen."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

# Characters. A longer one is a pasted text: it would fill the model's context many times over.
LONGEST_QUESTION = 8000


class NoteStatus(StrEnum):
    """How much of a note could be read."""

    OK = "ok"
    PARTIAL = "partial"  # read, with a loss that `reason` names (bad frontmatter, undecodable bytes, cut)
    SKIPPED = "skipped"  # not indexed; `reason` says why


class FrontmatterState(StrEnum):
    """What stood at the top of the note."""

    NONE = "none"
    EMPTY = "empty"
    OK = "ok"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. `line` is 1-based in the file as stored on disk (frontmatter counted)."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a note to a note or file of the vault.

    Attributes:
        target: As written, without heading, block and display; "" is the same note.
        resolved: Path of the file in the vault (NFC), or None.
        kind: `wiki`, `markdown` or `property` (a wikilink inside frontmatter).
    """

    target: str
    heading: str | None = None
    block: str | None = None
    display: str | None = None
    size: str | None = None
    embed: bool = False
    kind: Literal["wiki", "markdown", "property"] = "wiki"
    line: int = 0
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task item: the one character between the brackets, and its text."""

    mark: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A Markdown file seen in the vault, before it is read.

    Attributes:
        path: NFC key relative to the vault, "/" between parts.
        raw_path: The same path exactly as the file system spells it (for opening).
        folder: Top-level folder (NFC), or `_root` for loose notes.
    """

    path: str
    raw_path: str
    folder: str
    mtime_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class HeldRemovals:
    """Notes that seem to be gone and are kept all the same, because so many went at once.

    Attributes:
        vanished: How many, those that only moved not counted.
        known: How many notes the catalog knew.
        examples: Some of their paths.
        since: When this was first seen, UTC.
    """

    vanished: int
    known: int
    examples: tuple[str, ...]
    since: dt.datetime

    @property
    def reason(self) -> str:
        """Why nothing was removed, and the way on, in one sentence."""
        return (
            f"{self.vanished:,} of {self.known:,} notes vanished at once, so none was removed; "
            "if that is right: companion sync --confirm-removals"
        )


@dataclass(frozen=True, slots=True)
class Note:
    r"""A parsed note.

    Attributes:
        body: Text without frontmatter, line ends as LF, comments and code kept.
        body_line: 1-based line of the file on which `body` starts.
        index_lines: For each line of `body` the text that goes to the search index: "" where the
            line is noise (drawing data, base64, HTML comments). Same length as `body.split("\n")`.
        frontmatter_lines: Lines 1 to `body_line - 1` of the file as they stand there, delimiters included.
        properties: Frontmatter, YAML 1.2 core; dates kept as text; JSON-serialisable.
        date: The day the note is about (file name first, then property), or None.
    """

    path: str
    title: str
    folder: str
    sha: str
    body: str
    body_line: int
    index_lines: tuple[str, ...]
    frontmatter: FrontmatterState = FrontmatterState.NONE
    frontmatter_lines: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    blocks: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    date: dt.date | None = None
    status: NoteStatus = NoteStatus.OK
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a note that is embedded and searched.

    Attributes:
        chunk_id: Hash of note path, text and repeat number: editing one paragraph changes only its chunks.
        source_file: Path relative to the vault (NFC).
        source_directory: Top-level folder (the partition).
        section: Heading path joined by " > ", or the section tag of a journal (`#DayInShort`).
        tags: Tags of the note and of the chunk, then targets of the wikilinks in the chunk.
        modified_at: The file's mtime.
        rule_applied: The glob of the chunking rule in force ("default").
        text: What is shown and cited; title and heading path are not part of it.
        first_line, last_line: 1-based, inclusive, in the file on disk.
        embed_text: What is embedded: heading path, then the text; nothing of the file's name.
        token_count: Tokens of `embed_text` with the embedder's tokenizer, special tokens included.
        people: Targets of links into people notes; empty until the note graph is known.
    """

    chunk_id: str
    source_file: str
    source_directory: str
    title: str
    section: str
    date: dt.date | None
    tags: tuple[str, ...]
    chunk_index: int
    modified_at: dt.datetime
    rule_applied: str
    text: str
    first_line: int
    last_line: int
    heading_path: tuple[str, ...]
    links: tuple[str, ...]
    people: tuple[str, ...]
    aliases: tuple[str, ...]
    embed_text: str
    token_count: int
    sensitive: bool
    source_kind: Literal["vault", "shelf"] = "vault"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A number in a reply, bound to the chunk it stands for."""

    number: int
    chunk_id: str
    path: str
    title: str
    section: str
    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished exchange, as it is stored and carried into later prompts."""

    question: str
    reply: str
    citations: tuple[Citation, ...] = ()
    trace_id: str = ""
    model: str = ""
    stopped: bool = False
