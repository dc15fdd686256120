"""Filters of the index as SQL text. The only place where a value becomes part of a predicate.

Strings stand in single quotes, doubled inside; in this dialect a backslash is an ordinary character and double
quotes would name a column. Tags and paths of a vault are user text: nothing here may be built with an f-string
around an unquoted value.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Sequence

from companion_assets.contracts.searching import Named, SearchFilters
from companion_assets.stores.search_text import as_phrase

NOTHING = "false"
EVERYTHING = "true"

_REGEX_SIGNS = frozenset("\\.+*?()|[]{}^$")
_WILDCARD = re.compile(r"[*?]")
_FROM_ROOT = re.compile(r"^\.?(?:/\.?)*(?:/|$)")
_NOTE = r"(?:\.md)?"
_NOTE_OR_FOLDER = r"(?:\.md|/.*)?"
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
    """A tag as it is compared: without `#` and a `/*` at its end, NFC, case-folded."""
    return unicodedata.normalize("NFC", tag.strip().lstrip("#").strip("/*")).casefold()


def tag_keys(tags: Iterable[str]) -> list[str]:
    """All keys under which a row with these tags is found: the tags and what they are nested in."""
    parts = [tag_key(tag).split("/") for tag in tags]
    keys = ("/".join(names[:depth]) for names in parts for depth in range(1, len(names) + 1))
    return list(dict.fromkeys(key for key in keys if key))


def under(pattern: str) -> str:
    """Rows whose note's path matches, in any letter case.

    Args:
        pattern: A glob over the path: `*` and `?` stay within a name, `**` crosses folders; every other character
            stands for itself. A last part without a wildcard names a folder with all that is in it, or one note,
            with or without `.md`. `./` or `/` in front and `/` at the end may be there.
    """
    plain = unicodedata.normalize("NFC", pattern.strip())
    names = _FROM_ROOT.sub("", plain).rstrip("/")
    if not names:
        return EVERYTHING if plain else NOTHING
    within = plain.endswith("/") or not _WILDCARD.search(names.rpartition("/")[2])
    expression = "".join(_as_regex(part) for part in _GLOB_PARTS.findall(names))
    return f"regexp_like(source_file, {literal(f'(?is)^{expression}{_NOTE_OR_FOLDER if within else _NOTE}$')})"


def not_before(day: dt.date) -> str:
    """Rows of this day and later."""
    return f"date >= date '{day.isoformat()}'"


def not_after(day: dt.date) -> str:
    """Rows of this day and earlier."""
    return f"date <= date '{day.isoformat()}'"


def within(first: dt.date, last: dt.date, around: dt.timedelta = dt.timedelta(0)) -> str:
    """Rows of these days, and of those so little before or after them."""
    earliest, latest = dt.date.min + around, dt.date.max - around
    return every(not_before(max(first, earliest) - around), not_after(min(last, latest) + around)) or NOTHING


def containing(phrase: str) -> str:
    """Rows that contain the words of the phrase one after the other, letter case and accents levelled."""
    wanted = as_phrase(phrase)
    return f"strpos(concat(' ', search_text, ' '), {literal(f' {wanted} ')}) > 0" if wanted else NOTHING


def every(*parts: str | None) -> str | None:
    """All of the predicates; None if there is none."""
    return " AND ".join(f"({part})" for part in parts if part) or None


def either(*parts: str | None) -> str | None:
    """Any of the predicates; None if there is none."""
    return " OR ".join(f"({part})" for part in parts if part) or None


def of_note(path: str) -> str:
    """Rows of one note; its ending may be left out."""
    plain = unicodedata.normalize("NFC", path.strip()).strip("/")
    return among("source_file", [plain, f"{plain}.md"])


def about(person: Named) -> str:
    """Rows that name somebody or link to them, under any of their keys, and their own notes."""
    return either(among("source_file", person.paths), *map(containing, person.keys)) or NOTHING


def where(filters: SearchFilters, people: Sequence[Named] = ()) -> str | None:
    """The filters as one predicate, all of them in force; None if there are none.

    Args:
        filters: What is demanded.
        people: The filter's people with all names and notes of theirs (`retrieval.names.resolve_filters`); who is
            missing is looked for under the name given.
    """
    parts = [has_tag(tag) for tag in filters.tags]
    if filters.after:
        parts.append(not_before(filters.after))
    if filters.before:
        parts.append(not_after(filters.before))
    if filters.folder is not None:
        parts.append(under(filters.folder))
    if filters.source_kind is not None:
        parts.append(among("source_kind", [filters.source_kind]))
    if filters.note is not None:
        parts.append(of_note(filters.note))
    known = {person.name: person for person in people}
    parts += [about(known.get(name) or Named(name, (name,), (), "person", 0, 0)) for name in filters.people]
    return every(*parts)


def _as_regex(part: str) -> str:
    wildcards = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return wildcards.get(part) or "".join(f"\\{sign}" if sign in _REGEX_SIGNS else sign for sign in part)
