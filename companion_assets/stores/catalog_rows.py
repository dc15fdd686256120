"""How a note and a chunk look as rows of the catalog. Nothing else knows these formats.

What is asked for in queries has a column; the rest is JSON, bodies are compressed. JSON keeps what SQLite's
text cannot (lone surrogates of broken YAML escapes and file names).
"""

import datetime as dt
import hashlib
import json
import os
import zlib
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, Row

from companion_assets.contracts.records import Chunk, FrontmatterState, Heading, Link, Note, NoteFile, NoteStatus, Task

NOTE_COLUMNS = (
    "path", "raw_path", "folder", "sha", "mtime_ns", "size", "status", "reason", "title", "date", "tags", "aliases",
    "links", "headings", "blocks", "tasks", "properties", "frontmatter", "frontmatter_lines",
    "body_line", "body", "parsed_key", "run_id", "updated_at", "checked_at",
)  # fmt: skip
CHUNK_COLUMNS = ("chunk_id", "path", "position", "text_sha", "payload")


def create_tables(connection: Connection) -> None:
    """First migration of `catalog.db`."""
    connection.exec_driver_sql(
        "CREATE TABLE notes ("
        " path TEXT PRIMARY KEY, raw_path BLOB NOT NULL, folder TEXT NOT NULL, sha TEXT NOT NULL,"
        " mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,"
        " title TEXT NOT NULL, date TEXT, tags TEXT NOT NULL, aliases TEXT NOT NULL, links TEXT NOT NULL,"
        " headings TEXT NOT NULL, blocks TEXT NOT NULL, tasks TEXT NOT NULL, properties TEXT NOT NULL,"
        " frontmatter TEXT NOT NULL, frontmatter_lines TEXT NOT NULL, body_line INTEGER NOT NULL, body BLOB NOT NULL,"
        " parsed_key TEXT NOT NULL, run_id TEXT NOT NULL, updated_at TEXT NOT NULL, checked_at TEXT NOT NULL,"
        # State of the later steps: which text and rules the chunks stand for, and which table holds them.
        " chunked_key TEXT, indexed_key TEXT, gone INTEGER NOT NULL DEFAULT 0)"
    )
    connection.exec_driver_sql("CREATE INDEX notes_by_folder ON notes (folder)")
    connection.exec_driver_sql(
        "CREATE TABLE chunks ("
        " chunk_id TEXT NOT NULL, path TEXT NOT NULL REFERENCES notes ON DELETE CASCADE, position INTEGER NOT NULL,"
        " text_sha TEXT NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (path, position))"
    )


def create_facts(connection: Connection) -> None:
    """Second migration: what is known of the vault as a whole, one JSON value a name."""
    connection.exec_driver_sql("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")


def index_note_states(connection: Connection) -> None:
    """Third migration: where the notes stand, apart from their bodies.

    Every step of every sync asks for it. Without it SQLite reads all bodies on the way: with it a sync of 10,000
    unchanged notes spends 10 ms here instead of 200.
    """
    connection.exec_driver_sql("DROP INDEX IF EXISTS notes_by_folder")
    connection.exec_driver_sql(
        "CREATE INDEX note_states ON notes (folder, gone, path, raw_path, sha, mtime_ns, size, status, parsed_key,"
        " chunked_key, indexed_key)"
    )
    # Moved notes are found by their text, and most of the time no note is gone.
    connection.exec_driver_sql("CREATE INDEX notes_by_text ON notes (sha)")
    connection.exec_driver_sql("CREATE INDEX notes_gone ON notes (path) WHERE gone")


def date_publications(connection: Connection) -> None:
    """Fourth migration: when the index last took a note in."""
    connection.exec_driver_sql("ALTER TABLE notes ADD COLUMN published_at TEXT")


def text_sha(embed_text: str) -> str:
    """Key of an embedded text in the vector cache: sha256 in hex."""
    return hashlib.sha256(embed_text.encode("utf-8", "surrogatepass")).hexdigest()


def now() -> str:
    """The present moment, UTC, to the second."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def note_row(file: NoteFile, note: Note, parser_version: str, run_id: str) -> tuple[Any, ...]:
    """Values for `NOTE_COLUMNS`."""
    stamp = now()
    return (
        note.path, os.fsencode(file.raw_path), file.folder, note.sha, file.mtime_ns, file.size, str(note.status),
        _plain(note.reason), _plain(note.title), note.date.isoformat() if note.date else None,
        _json(note.tags), _json(note.aliases), _json([asdict(link) for link in note.links]),
        _json([asdict(heading) for heading in note.headings]), _json(note.blocks),
        _json([asdict(task) for task in note.tasks]), _json(dict(note.properties)), str(note.frontmatter),
        _json(note.frontmatter_lines), note.body_line, _pack_body(note), parser_version, run_id, stamp, stamp,
    )  # fmt: skip


def note_from_row(row: Row[Any]) -> Note:
    """The note as it was parsed."""
    body, index_lines = _unpack_body(row.body)
    return Note(
        path=row.path, title=row.title, folder=row.folder, sha=row.sha, body=body, body_line=row.body_line,
        index_lines=index_lines, frontmatter=FrontmatterState(row.frontmatter),
        frontmatter_lines=tuple(json.loads(row.frontmatter_lines)), properties=json.loads(row.properties),
        tags=tuple(json.loads(row.tags)), aliases=tuple(json.loads(row.aliases)),
        headings=tuple(Heading(**item) for item in json.loads(row.headings)),
        links=tuple(Link(**item) for item in json.loads(row.links)), blocks=tuple(json.loads(row.blocks)),
        tasks=tuple(Task(**item) for item in json.loads(row.tasks)),
        date=dt.date.fromisoformat(row.date) if row.date else None, status=NoteStatus(row.status), reason=row.reason,
    )  # fmt: skip


def chunk_row(position: int, chunk: Chunk) -> tuple[Any, ...]:
    """Values for `CHUNK_COLUMNS`."""
    rest = {field.name: getattr(chunk, field.name) for field in fields(chunk)}
    rest["date"] = chunk.date.isoformat() if chunk.date else None
    rest["modified_at"] = chunk.modified_at.isoformat()
    return (
        chunk.chunk_id,
        chunk.source_file,
        position,
        text_sha(chunk.embed_text),
        zlib.compress(_json(rest).encode(), 1),
    )


def chunk_from_payload(payload: bytes) -> Chunk:
    """The chunk as it was cut."""
    raw: dict[str, Any] = json.loads(zlib.decompress(payload))
    for name in ("tags", "heading_path", "links", "people", "aliases"):
        raw[name] = tuple(raw[name])
    raw["date"] = dt.date.fromisoformat(raw["date"]) if raw["date"] else None
    raw["modified_at"] = dt.datetime.fromisoformat(raw["modified_at"])
    return Chunk(**raw)


def _pack_body(note: Note) -> bytes:
    """Body, and only those index lines that differ from its lines (few do)."""
    lines = note.body.split("\n")
    differing = {i: text for i, (line, text) in enumerate(zip(lines, note.index_lines, strict=True)) if line != text}
    return zlib.compress(_json([note.body, differing]).encode(), 6)


def _unpack_body(blob: bytes) -> tuple[str, tuple[str, ...]]:
    body, differing = json.loads(zlib.decompress(blob))
    lines = body.split("\n")
    for position, text in differing.items():
        lines[int(position)] = text
    return body, tuple(lines)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _plain(text: str) -> str:
    """Without lone surrogates, which SQLite's text cannot hold."""
    return text.encode("utf-8", "replace").decode()
