"""What was read of each note, its chunks, and how far each note has come: `catalog.db`.

Each step of the pipeline compares the state it finds here with the state it wants, works on the difference and
writes down what it reached, note by note. A step that is killed anywhere is simply run again.

    parsed_key    parser that read the note
    chunked_key   content hash : parser : mtime : chunking rule its chunks were cut by; None = no chunks
    indexed_key   chunked_key @ table that holds those chunks; None = the index has something else, or nothing
    gone          the file vanished; the row stays until the index has dropped the note

Rebuildable. Rows are replaced, never patched from outside.
"""

import datetime as dt
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from companion_assets.contracts.records import Chunk, HeldRemovals, Note, NoteFile, NoteStatus
from companion_assets.stores.catalog_publishing import CatalogPublishing
from companion_assets.stores.catalog_rows import CHUNK_COLUMNS, NOTE_COLUMNS, chunk_row, note_row, now
from companion_assets.stores.catalog_view import AMONG, COMMITTED, HELD_REMOVALS, PUT_FACT, TEXT_KEY, json_list
from companion_assets.stores.note_graph_rows import drop_graph, put_graph

_UPDATES = ", ".join(f"{column} = excluded.{column}" for column in NOTE_COLUMNS if column != "path")
# The chunks of a note that comes back, or can be read again, were dropped: they have to be cut anew.
_PUT_NOTE = (
    f"INSERT INTO notes ({', '.join(NOTE_COLUMNS)}) VALUES ({', '.join('?' * len(NOTE_COLUMNS))})"
    f" ON CONFLICT (path) DO UPDATE SET {_UPDATES}, gone = 0,"
    " chunked_key = CASE WHEN gone OR status = 'skipped' THEN NULL ELSE chunked_key END,"
    # What the index holds of a note that was read anew is out of date, also if the run ends before it is cut.
    " indexed_key = CASE WHEN gone OR status = 'skipped' OR sha != excluded.sha OR parsed_key != excluded.parsed_key"
    " THEN NULL ELSE indexed_key END"
)
_PUT_CHUNK = f"INSERT INTO chunks ({', '.join(CHUNK_COLUMNS)}) VALUES ({', '.join('?' * len(CHUNK_COLUMNS))})"
_NOTHING_TO_CHUNK = "skipped"
_CHUNKED_BY = "chunked_by:"


@dataclass(frozen=True, slots=True)
class KnownNote:
    """What the catalog knows of a note's file."""

    folder: str
    sha: str
    size: int


@dataclass(frozen=True, slots=True)
class FileDelta:
    """What a look at the vault found.

    Attributes:
        changed: Files to read: new, changed, or never read.
        vanished: Notes that are known and not among the files.
        emptied: Paths among `changed` whose file is empty and was not before.
        present: Content hashes of the notes that are where they were, as they were; empty if none vanished.
        known: How many notes the catalog knows.
    """

    changed: list[NoteFile]
    vanished: dict[str, KnownNote]
    emptied: frozenset[str]
    present: frozenset[str]
    known: int


class Catalog(CatalogPublishing):
    """The notes and chunks of `catalog.db`, and the steps that change them."""

    # --- files against notes

    def diff(self, files: Iterable[NoteFile], parser_version: str) -> FileDelta:
        """Compare all files of the vault with what was read of them.

        A file counts as changed when its spelling, mtime or size differs, when another parser read it, or when
        it could not be read at all (its row has no content hash).
        """
        query = (
            "SELECT path, CASE WHEN parsed_key = ? AND sha != '' THEN mtime_ns END, size,"
            " nullif(raw_path, CAST(path AS BLOB)), folder, sha FROM notes WHERE NOT gone"
        )
        with self._database.read() as connection:
            # The driver's own cursor: a row of SQLAlchemy's costs more than all the rest of the comparison.
            cursor = connection.exec_driver_sql(query, (parser_version,)).cursor
            known = {row[0]: row for row in cursor.fetchall()}
        count, changed, emptied, unchanged = len(known), [], set(), []
        for file in files:
            row = known.pop(file.path, None)
            if row is not None and row[1] == file.mtime_ns and row[2] == file.size and _same_spelling(file, row[3]):
                unchanged.append(row)
                continue
            changed.append(file)
            if row is not None and row[2] and not file.size:
                emptied.add(file.path)
        vanished = {path: KnownNote(row[4], row[5], row[2]) for path, row in known.items()}
        present = frozenset(row[5] for row in unchanged) if vanished else frozenset[str]()
        return FileDelta(changed, vanished, frozenset(emptied), present, count)

    def shas(self, paths: Iterable[str], parser_version: str) -> dict[str, str]:
        """Path → content hash of those of the notes that this parser could read."""
        query = f"SELECT path, sha FROM notes WHERE parsed_key = ? AND sha != '' AND NOT gone AND path {AMONG}"
        with self._database.read() as connection:
            rows = connection.exec_driver_sql(query, (parser_version, *json_list(paths)))
            return {row[0]: row[1] for row in rows}

    def touch(self, files: Iterable[NoteFile]) -> None:
        """Take over new file times of notes whose content turned out to be the same."""
        rows = [(os.fsencode(file.raw_path), file.mtime_ns, file.size, now(), file.path) for file in files]
        if rows:
            query = (
                "UPDATE notes SET indexed_key = CASE WHEN mtime_ns != ?2 THEN NULL ELSE indexed_key END,"
                " raw_path = ?1, mtime_ns = ?2, size = ?3, checked_at = ?4 WHERE path = ?5"
            )
            with self._database.write() as connection:
                connection.exec_driver_sql(query, rows)

    def forget_chunks(self, paths: Iterable[str]) -> None:
        """Let these notes be cut and published anew, whatever they were cut from."""
        with self._database.write() as connection:
            query = (
                f"UPDATE notes SET chunked_key = NULL, indexed_key = NULL WHERE status != 'skipped' AND path {AMONG}"
            )
            connection.exec_driver_sql(query, json_list(paths))

    def put_notes(self, notes: Iterable[tuple[NoteFile, Note]], parser_version: str, run_id: str = "") -> int:
        """Store parsed notes, all or none; returns how many. A skipped note loses its chunks."""
        pairs = list(notes)
        if not pairs:
            return 0
        unreadable = [note.path for _, note in pairs if note.status is NoteStatus.SKIPPED]
        skipped = json_list(unreadable)
        with self._database.write() as connection:
            rows = [note_row(file, note, parser_version, run_id) for file, note in pairs]
            connection.exec_driver_sql(_PUT_NOTE, rows)
            query = f"UPDATE notes SET chunked_key = '{_NOTHING_TO_CHUNK}', indexed_key = NULL WHERE path {AMONG}"
            connection.exec_driver_sql(query, skipped)
            connection.exec_driver_sql(f"DELETE FROM chunks WHERE path {AMONG}", skipped)
            put_graph(connection, (note for _, note in pairs if note.status is not NoteStatus.SKIPPED))
            drop_graph(connection, unreadable)
        return len(pairs)

    def mark_gone(self, paths: Iterable[str]) -> None:
        """The files vanished: drop their chunks, keep a tombstone until the index has dropped them too."""
        vanished = list(paths)
        among = json_list(vanished)
        with self._database.write() as connection:
            query = (
                f"UPDATE notes SET gone = 1, chunked_key = NULL, indexed_key = NULL, updated_at = ? WHERE path {AMONG}"
            )
            connection.exec_driver_sql(query, (now(), *among))
            connection.exec_driver_sql(f"DELETE FROM chunks WHERE path {AMONG}", among)
            drop_graph(connection, vanished)

    def hold_removals(self, held: HeldRemovals | None) -> None:
        """Write down that so many notes are kept although their files are gone; None when all is well again."""
        self.write_fact(HELD_REMOVALS, {**asdict(held), "since": held.since.isoformat()} if held else None)

    def write_version(self, table: str, version: int) -> None:
        """The table is at this version now, for other reasons than a commit of notes; see `reconcile`."""
        self.write_fact(COMMITTED, [table, version])

    def write_fact(self, name: str, value: Any) -> None:
        """Write down something of the vault as a whole, as JSON; None removes it."""
        with self._database.write() as connection:
            if value is None:
                connection.exec_driver_sql("DELETE FROM facts WHERE name = ?", (name,))
            else:
                connection.exec_driver_sql(PUT_FACT, (name, json.dumps(value)))

    # --- notes to chunks

    def notes_to_chunk(
        self, folder: str, signature: Callable[[str], str], rules: str = ""
    ) -> Iterator[tuple[Note, str, dt.datetime]]:
        """Notes whose chunks are missing or were cut from another text or by another rule.

        Args:
            folder: The folder.
            signature: Path of a note → signature of the chunking rule in force for it (tokenizer included).
            rules: Signature of all rules together. If the whole folder was last cut by these (`chunked_by`), no
                note's own signature has to be looked at.

        Yields:
            The note, the key to hand to `put_chunks`, and when its file was modified.
        """
        before = self.fact(_CHUNKED_BY + folder)
        settled = bool(rules) and before == rules
        if not settled and before is not None:
            self.write_fact(_CHUNKED_BY + folder, None)  # from the first note on, it is cut by neither
        query = (
            f"SELECT path, {TEXT_KEY} AS text_key, chunked_key, mtime_ns FROM notes"
            " WHERE folder = ? AND NOT gone AND status != 'skipped'"
        )
        if settled:
            query += f" AND substr(chunked_key, 1, length({TEXT_KEY})) IS NOT {TEXT_KEY}"
        with self._database.read() as connection:
            rows = connection.exec_driver_sql(query + " ORDER BY path", (folder,)).all()
        for row in rows:
            key = row.text_key + signature(row.path)
            if row.chunked_key != key and (note := self.note(row.path)) is not None:
                yield note, key, dt.datetime.fromtimestamp(row.mtime_ns / 1e9, dt.UTC)

    def chunked_by(self, folder: str, rules: str) -> None:
        """All notes of a folder have been cut by these rules."""
        if self.fact(_CHUNKED_BY + folder) != rules:
            self.write_fact(_CHUNKED_BY + folder, rules)

    def put_chunks(self, notes: Iterable[tuple[str, str, Sequence[Chunk]]]) -> int:
        """Replace the chunks of notes, all or none.

        Args:
            notes: Path, key as `notes_to_chunk` gave it, chunks in order.

        Returns:
            How many chunks were stored.
        """
        items = list(notes)
        rows = [chunk_row(position, chunk) for _, _, chunks in items for position, chunk in enumerate(chunks)]
        if not items:
            return 0
        with self._database.write() as connection:
            connection.exec_driver_sql(
                f"DELETE FROM chunks WHERE path {AMONG}", json_list([path for path, _, _ in items])
            )
            if rows:
                connection.exec_driver_sql(_PUT_CHUNK, rows)
            # What the index holds of the note is out of date from here on, even if this very text was there before.
            query = "UPDATE notes SET chunked_key = ?, indexed_key = NULL WHERE path = ?"
            connection.exec_driver_sql(query, [(key, path) for path, key, _ in items])
        return len(rows)


def _same_spelling(file: NoteFile, raw_path: bytes | None) -> bool:
    """`raw_path` as the catalog keeps it: None where it is the same as the key."""
    return file.raw_path == file.path if raw_path is None else os.fsencode(file.raw_path) == raw_path
