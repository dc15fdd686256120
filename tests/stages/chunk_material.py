"""What the chunking tests are made of: a plain tokenizer, and notes built from Markdown without the parser."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

from companion_assets.contracts.records import Chunk, Heading, Link, Note
from companion_assets.contracts.settings import ChunkingRule
from companion_assets.stages.chunk_rules import sensitive_tags
from companion_assets.stages.chunking import chunk_note

MODIFIED = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
SENSITIVE = sensitive_tags(["#mentalhealth", "#finance"])

_WORDS = re.compile(r"[A-Za-z]{1,8}|\d+|[^\sA-Za-z\d]")
_TAG = re.compile(r"(?<!\S)#([\w/-]*[^\W\d][\w/-]*)")
_LINK = re.compile(r"(?P<embed>!?)\[\[(?P<target>[^\]|#]*)(?:\|[^\]]*)?\]\]")


class WordTokenizer:
    """Latin words in pieces of eight letters, numbers, and every other character are tokens."""

    def __init__(self) -> None:
        self.characters = 0  # read so far, to see that the work is linear

    def count(self, text: str) -> int:
        return len(self.spans(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        self.characters += len(text)
        return [match.span() for match in _WORDS.finditer(text)]


def make_note(text: str, *, path: str = "Notes/Pear trees.md", **fields: Any) -> Note:
    """A note of a file's text. Headings are lines that start with `#`s; nothing is known of code but fences."""
    lines = text.split("\n")
    body_line = lines.index("---", 1) + 2 if lines[0] == "---" and "---" in lines[1:] else 1
    body = lines[body_line - 1 :] or [""]
    headings, in_code = [], False
    for number, line in enumerate(body, start=body_line):
        in_code ^= line.lstrip().startswith("```")
        if not in_code and (match := re.match(r"(#{1,6}) (.*)", line)):
            headings.append(Heading(len(match[1]), match[2], number))
    links = [
        Link(match["target"], embed=bool(match["embed"]), line=number)
        for number, line in enumerate(body, start=body_line)
        for match in _LINK.finditer(line)
    ]
    given = {
        "title": path.rsplit("/", 1)[-1].removesuffix(".md"),
        "folder": path.split("/")[0],
        "index_lines": tuple(body),
        "frontmatter_lines": tuple(lines[: body_line - 1]),
        "headings": tuple(headings),
        "links": tuple(links),
        "tags": tuple(dict.fromkeys(_TAG.findall("\n".join(body)))),
    }
    return Note(path=path, sha="0", body="\n".join(body), body_line=body_line, **{**given, **fields})


def chunks_of(note: Note | str, tokenizer: Any = None, *, window: int = 512, **rule: Any) -> list[Chunk]:
    """Chunks of a note (or of a text) under one rule for everything."""
    note = make_note(note) if isinstance(note, str) else note
    return chunks_by(note, {"default": ChunkingRule(**rule)}, tokenizer, window=window)


def chunks_by(
    note: Note, rules: Mapping[str, ChunkingRule], tokenizer: Any = None, *, window: int = 512, **more: Any
) -> list[Chunk]:
    """Chunks of a note under some rules."""
    return chunk_note(
        note,
        rules=rules,
        tokenizer=tokenizer or WordTokenizer(),
        max_tokens=window,
        passage_overhead=4,
        modified_at=MODIFIED,
        sensitive=SENSITIVE,
        **more,
    )
