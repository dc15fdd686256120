"""The names, links, tags and folders of the notes, as tables of `catalog.db`; written with the note they belong to.

    note_names    what a note is called: title, aliases, and the parts of a person's name
    note_links    where its links lead, by the name they end in; which file that is depends on the whole vault and is
                  decided when it is asked (see `note_graph`)
    note_tags     its tags and what they are nested in
    note_folders  every folder with a readable note in or below it

`person` marks a note that is somebody's, and a link that stands where people are named. All of it follows from what
the catalog has of each note, so that `fill` can make it anew at any time.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from companion_assets.contracts.records import Note
from companion_assets.stores.name_keys import file_key, name_key
from companion_assets.stores.people_rules import is_person, names_within, people_in
from companion_assets.stores.predicates import tag_keys

GRAPH_TABLES = ("note_names", "note_links", "note_tags", "note_folders")

_ATTACHMENT_ENDINGS = """
    avif bmp gif jpeg jpg png svg webp heic tiff 3gp aac flac m4a mkv mov mp3 mp4 oga ogg ogv opus wav webm
    pdf doc docx xls xlsx ppt pptx odt ods csv txt html zip canvas base epub
"""
_ATTACHMENTS = frozenset(_ATTACHMENT_ENDINGS.split())
_TABLES = (
    "note_names (path TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,"
    " person INTEGER NOT NULL, PRIMARY KEY (path, key))",
    "note_links (path TEXT NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL, line INTEGER NOT NULL,"
    " person INTEGER NOT NULL, PRIMARY KEY (path, key, target))",
    "note_tags (path TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (path, key))",
    "note_folders (folder TEXT PRIMARY KEY, key TEXT NOT NULL)",
)
_INDEXES = (
    "names_by_key ON note_names (key)",
    "links_by_key ON note_links (key, person)",
    "tags_by_key ON note_tags (key)",
    "folders_by_key ON note_folders (key)",
    # For the first day, the last one, and the last before another, without a look at the notes.
    "notes_by_day ON notes (date, gone, status) WHERE NOT gone AND status != 'skipped' AND date IS NOT NULL",
)
_AMONG = "IN (SELECT value FROM json_each(?))"
_NOTES_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class _Source:
    """What the graph takes from a note."""

    path: str
    title: str
    tags: Sequence[str]
    aliases: Sequence[str]
    links: Sequence[tuple[str, int]]
    properties: Mapping[str, Any]


def create_note_graph(connection: Connection) -> None:
    """Fifth migration: the tables, filled from what the catalog already has."""
    for table in _TABLES:
        connection.exec_driver_sql(f"CREATE TABLE {table} WITHOUT ROWID")
    fill(connection)
    for index in _INDEXES:
        connection.exec_driver_sql(f"CREATE INDEX {index}")


def fill(connection: Connection) -> None:
    """Make all rows anew from the notes; a migration that changes what a name is calls it again.

    No file is read.
    """
    for table in GRAPH_TABLES:
        connection.exec_driver_sql(f"DELETE FROM {table}")
    # Of `gone`, which stands behind the bodies, the index is asked.
    query = "SELECT path FROM notes INDEXED BY note_states WHERE NOT gone AND status != 'skipped' ORDER BY path"
    paths = list(connection.exec_driver_sql(query).scalars())
    for start in range(0, len(paths), _NOTES_AT_ONCE):
        query = f"SELECT path, title, tags, aliases, links, properties FROM notes WHERE path {_AMONG}"
        rows = connection.exec_driver_sql(query, (json.dumps(paths[start : start + _NOTES_AT_ONCE]),)).all()
        _insert(connection, [_stored(*row) for row in rows])


def put_graph(connection: Connection, notes: Iterable[Note]) -> None:
    """Replace what these readable notes are called and what they link to, in the transaction that stores them."""
    sources = [
        _Source(
            note.path, note.title, note.tags, note.aliases, [(link.target, link.line) for link in note.links],
            note.properties,
        )
        for note in notes
    ]  # fmt: skip
    if sources:
        _delete(connection, json.dumps([source.path for source in sources]))
        _insert(connection, sources)


def drop_graph(connection: Connection, paths: Iterable[str]) -> None:
    """Forget notes that are gone or can no longer be read, and folders that are empty now."""
    gone = list(paths)
    if not gone:
        return
    _delete(connection, json.dumps(gone))
    inside = "path > note_folders.folder || '/' AND path < note_folders.folder || '0'"  # "0" comes after "/"
    query = f"DELETE FROM note_folders WHERE folder {_AMONG} AND NOT EXISTS (SELECT 1 FROM note_names WHERE {inside})"
    connection.exec_driver_sql(query, (json.dumps(_folders(gone)),))


def _delete(connection: Connection, paths: str) -> None:
    for table in ("note_names", "note_links", "note_tags"):
        connection.exec_driver_sql(f"DELETE FROM {table} WHERE path {_AMONG}", (paths,))


def _insert(connection: Connection, sources: Sequence[_Source]) -> None:
    rows: dict[str, list[tuple[Any, ...]]] = {
        "note_names VALUES (?, ?, ?, ?, ?)": [row for source in sources for row in _names(source)],
        "note_links VALUES (?, ?, ?, ?, ?)": [row for source in sources for row in _links(source)],
        "note_tags VALUES (?, ?)": [(source.path, _plain(key)) for source in sources for key in tag_keys(source.tags)],
        "note_folders VALUES (?, ?)": [
            (folder, name_key(folder.rpartition("/")[2])) for folder in _folders(source.path for source in sources)
        ],
    }
    for target, values in rows.items():
        if values:
            connection.exec_driver_sql(f"INSERT OR IGNORE INTO {target}", values)


def _names(source: _Source) -> list[tuple[Any, ...]]:
    """One row a key: a title goes before an alias, an alias before a word of a person's name."""
    person = int(is_person(source.path, source.title, source.tags, source.properties))
    found = [(name_key(source.title), source.title, "title")]
    found += [(name_key(alias), alias, "alias") for alias in source.aliases]
    if person:
        called = names_within(source.title)
        found += [(part, part, "part" if at else "given") for at, part in enumerate(called)]
    kept: dict[str, tuple[Any, ...]] = {}
    for key, name, kind in found:
        kept.setdefault(key, (source.path, key, _plain(name), kind, person))
    return list(kept.values())


def _links(source: _Source) -> list[tuple[Any, ...]]:
    """One row a target, with the first line that names it; line 1 for a name that a property only writes out."""
    people = {file_key(name): name for name in people_in(source.properties)}
    found = [(file_key(target), target, line) for target, line in source.links if target and not _is_attachment(target)]
    linked = {key for key, _, _ in found}
    found += [(key, name, 1) for key, name in people.items() if key not in linked]
    kept: dict[tuple[str, str], tuple[Any, ...]] = {}
    for key, target, line in sorted(found, key=lambda link: link[2]):
        written = _plain(target)
        kept.setdefault((key, written), (source.path, key, written, line, int(key in people)))
    return list(kept.values())


def _stored(path: str, title: str, tags: str, aliases: str, links: str, properties: str) -> _Source:
    pairs = [(link["target"], link["line"]) for link in json.loads(links)]
    return _Source(path, title, json.loads(tags), json.loads(aliases), pairs, json.loads(properties))


def _folders(paths: Iterable[str]) -> list[str]:
    """The folders of these notes, with those they lie in."""
    found: set[str] = set()
    for path in paths:
        while path := path.rpartition("/")[0]:
            found.add(path)
    return sorted(found)


def _is_attachment(target: str) -> bool:
    return target.rpartition(".")[2].lower() in _ATTACHMENTS


def _plain(text: str) -> str:
    """Without lone surrogates, which SQLite's text cannot hold."""
    return text.encode("utf-8", "replace").decode()
