"""The frontmatter lines that tell something: a fact that stands only in a property must be found and cited."""

import re
from collections.abc import Iterator

from companion_assets.contracts.records import Note
from companion_assets.stages.source_text import SourceText

# Carried by the chunk itself, or about display and bookkeeping.
_NOT_TOLD = frozenset(
    {"tags", "tag", "aliases", "alias", "cssclasses", "cssclass", "publish", "permalink", "date"}
    | {"created", "modified", "updated", "date created", "date modified", "date updated"}
)
_KEY = re.compile(r"(?P<quote>[\"']?)(?P<key>[^\s\"'#:-][^\"':]*)(?P=quote)\s*:(?:\s+(?P<value>.*))?$")
_EMPTY_VALUES = frozenset({"", "null", "~", "[]", "{}", '""', "''"})


def property_source(note: Note) -> SourceText:
    """The lines of the properties that carry information, with their numbers in the file."""
    return SourceText.of(_told(note))


def _told(note: Note) -> Iterator[tuple[int, str]]:
    for entry in _entries(note):
        match = _KEY.match(entry[0][1])
        if match is None or not _tells(match["key"].strip().casefold()):
            continue
        value = (match["value"] or "").strip()
        if len(entry) > 1 or value not in _EMPTY_VALUES:
            yield from entry


def _tells(key: str) -> bool:
    return key not in _NOT_TOLD and not key.endswith("-plugin")  # `excalidraw-plugin: parsed`


def _entries(note: Note) -> Iterator[list[tuple[int, str]]]:
    """Each key's line and the lines that belong to its value."""
    entry: list[tuple[int, str]] = []
    for number, line in enumerate(note.frontmatter_lines, start=1):
        if not line.strip() or line.lstrip("\ufeff").rstrip() == "---" or line.startswith("#"):
            continue
        if _KEY.match(line) and entry:
            yield entry
            entry = []
        entry.append((number, line))
    if entry:
        yield entry
