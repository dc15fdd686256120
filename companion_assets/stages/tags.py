"""What a tag is, in text and in frontmatter.

A tag starts with `#` at the start of a line, after white space or after opening emphasis marks. It holds any
characters but white space, ASCII punctuation (`_`, `-` and `/` are allowed) and the General and Supplemental
Punctuation blocks, which is Obsidian's own rule; the zero-width joiner is allowed on top, since emoji need it.
At least one character is no digit. Tags are the same whatever the case; the first writing is kept.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_CHARACTERS = r"[^\s\x00-\x1f\x7f!-,.:-@\[-^`{-~\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f]+"
# For the scanner of inline text: group "tag" is the tag without `#`.
TAG_PATTERN = rf"(?<!\S)(?:\*\*?|~~|==)*+\#(?P<tag>{_CHARACTERS})"
_WHOLE = re.compile(_CHARACTERS)
_BRACKETED = re.compile(r"\s*\[(.*)\]\s*", re.DOTALL)


def clean_tag(text: str) -> str | None:
    """`text` as a tag without `#`, or None when it is none."""
    tag = text.strip().lstrip("#").rstrip("/")
    if not tag.strip("0123456789") or not _WHOLE.fullmatch(tag):
        return None
    return tag


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, in order, the first writing kept."""
    kept: dict[str, str] = {}
    for tag in tags:
        kept.setdefault(tag.casefold(), tag)
    return tuple(kept.values())


def property_tags(properties: Mapping[str, Any]) -> list[str]:
    """Tags of the frontmatter: a list, or one word as text.

    Text with commas is no tag, as in Obsidian since 1.9, unless it is a list in brackets that YAML read as text.
    The old key `tag` is still read, as written there before 1.9.
    """
    found: list[str] = []
    for key, value in properties.items():
        if key.casefold() == "tags" or key == "tag":
            found += [tag for item in _items(value) if isinstance(item, str) and (tag := clean_tag(item))]
    return found


def property_aliases(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """Other names of the note: a list, or text in which commas part the names; the old key `alias` too.

    A number becomes its text; a mapping of one entry, which is what YAML makes of `T4: totals`, becomes its text again.
    """
    found: dict[str, None] = {}
    for key, value in properties.items():
        if key.casefold() == "aliases" or key == "alias":
            items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
            found |= {alias: None for item in items if (alias := _alias(item))}
    return tuple(found)


def _items(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    bracketed = _BRACKETED.fullmatch(value) if isinstance(value, str) else None
    return [part.strip(" \t'\"") for part in bracketed[1].split(",")] if bracketed else [value]


def _alias(item: object) -> str:
    if isinstance(item, dict) and len(item) == 1:
        key, value = next(iter(item.items()))
        return f"{key}: {_alias(value)}".strip()
    if isinstance(item, bool):
        return str(item).lower()
    return str(item).strip() if isinstance(item, str | int | float) else ""
