"""Filters of the index as SQL text. The only place where a value becomes part of a predicate.

Strings stand in single quotes, doubled inside; in this dialect a backslash is an ordinary character and double
quotes would name a column. Tags and paths of a vault are user text: nothing here may be built with an f-string
around an unquoted value.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable

from companion_assets.contracts.records import SearchFilters

NOTHING = "false"

_REGEX_SIGNS = frozenset("\\.+*?()|[]{}^$")
_GLOB_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")


def literal(value: str) -> str:
    """A string as SQL text."""
    return "'" + value.encode("utf-8", "replace").decode().replace("'", "''") + "'"


def among(column: str, values: Iterable[str]) -> str:
    """Rows whose column has one of the values; an empty list matches nothing."""
    listed = ", ".join(literal(value) for value in sorted(set(values)))
    return f"{column} IN ({listed})" if listed else NOTHING


def has_tag(tag: str) -> str:
    """Rows that carry the tag or one nested in it, in any letter case (`project` finds `#Project/alpha`)."""
    return f"array_has(tag_keys, {literal(tag_key(tag))})"


def tag_key(tag: str) -> str:
    """A tag as it is compared: without `#`, NFC, case-folded."""
    return unicodedata.normalize("NFC", tag.strip().lstrip("#").strip("/")).casefold()


def tag_keys(tags: Iterable[str]) -> list[str]:
    """All keys under which a row with these tags is found: the tags and what they are nested in."""
    parts = [tag_key(tag).split("/") for tag in tags]
    keys = ("/".join(names[:depth]) for names in parts for depth in range(1, len(names) + 1))
    return list(dict.fromkeys(key for key in keys if key))


def under(pattern: str) -> str:
    """Rows whose note's path matches.

    Args:
        pattern: A glob over the path: `*` and `?` stay within a name, `**` crosses folders; every other character
            stands for itself. Without a wildcard it names a folder, or one note.
    """
    plain = unicodedata.normalize("NFC", pattern.strip()).strip("/")
    if not plain:
        return NOTHING
    if not re.search(r"[*?]", plain):
        return f"(starts_with(source_file, {literal(plain + '/')}) OR source_file = {literal(plain)})"
    expression = "".join(_as_regex(part) for part in _GLOB_PARTS.findall(plain))
    return f"regexp_like(source_file, {literal(f'(?s)^{expression}$')})"


def not_before(day: dt.date) -> str:
    """Rows of this day and later."""
    return f"date >= date '{day.isoformat()}'"


def not_after(day: dt.date) -> str:
    """Rows of this day and earlier."""
    return f"date <= date '{day.isoformat()}'"


def where(filters: SearchFilters) -> str | None:
    """The filters as one predicate, all of them in force; None if there are none."""
    parts = [has_tag(tag) for tag in filters.tags]
    if filters.after:
        parts.append(not_before(filters.after))
    if filters.before:
        parts.append(not_after(filters.before))
    if filters.folder is not None:
        parts.append(under(filters.folder))
    if filters.source_kind is not None:
        parts.append(among("source_kind", [filters.source_kind]))
    return " AND ".join(f"({part})" for part in parts) or None


def _as_regex(part: str) -> str:
    wildcards = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return wildcards.get(part) or "".join(f"\\{sign}" if sign in _REGEX_SIGNS else sign for sign in part)
