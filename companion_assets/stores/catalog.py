"""What was read of each note, its chunks, and how far each note has come: `catalog.db`.

Each step of the pipeline compares the state it finds here with the state it wants, works on the difference and
writes down what it reached, note by note. A step that is killed anywhere is simply run again.

    parsed_key    parser that read the note
    chunked_key   content hash : parser : chunking rule its chunks were cut by; None = no chunks
    indexed_key   chunked_key @ table that holds those chunks; None = the index has something else, or nothing
    gone          the file vanished; the row stays until the index has dropped the note

Rebuildable. Rows are replaced, never patched from outside.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from companion_assets.contracts.records import Chunk, HeldRemovals, Note, NoteFile, NoteStatus
from companion_assets.stores.catalog_rows import (
    CHUNK_COLUMNS,
    NOTE_COLUMNS,
    chunk_from_payload,
    chunk_row,
    note_row,
    now,
)
from companion_assets.stores.catalog_view import AMONG, HELD_REMOVALS, CatalogView, json_list

_UPDATES = ", ".join(f"{column} = excluded.{column}" for column in NOTE_COLUMNS if column != "path")
# The chunks of a note that comes back, or can be read again, were dropped: they have to be cut anew.
_PUT_NOTE = (
    f"INSERT INTO notes ({', '.join(NOTE_COLUMNS)}) VALUES ({', '.join('?' * len(NOTE_COLUMNS))})"
    f" ON CONFLICT (path) DO UPDATE SET {_UPDATES}, gone = 0,"
    " chunked_key = CASE WHEN gone OR status = 'skipped' THEN NULL ELSE chunked_key END,"
    " indexed_key = CASE WHEN gone OR status = 'skipped' THEN NULL ELSE indexed_key END"
)
_PUT_CHUNK = f"INSERT INTO chunks ({', '.join(CHUNK_COLUMNS)}) VALUES ({', '.join('?' * len(CHUNK_COLUMNS))})"
_NOTHING_TO_CHUNK = "skipped"


@dataclass(frozen=True, slots=True)
class FileDelta:
    """What a look at a folder found: files to read, paths that vanished, how many need nothing."""

    changed: list[NoteFile]
    vanished: list[str]
    unchanged: int


class Catalog(CatalogView):
    """The notes and chunks of `catalog.db`, and the steps that change them."""

    # --- files against notes

    def diff_files(self, folder: str, files: Iterable[NoteFile], parser_version: str) -> FileDelta:
        """Compare the files now in a folder with what was read of it.

        A file counts as changed when its spelling, mtime or size differs, when another parser read it, or when
        it could not be read at all (its row has no content hash).
        """
        query = "SELECT path, raw_path, mtime_ns, size, parsed_key, sha FROM notes WHERE folder = ? AND NOT gone"
        with self._database.read() as connection:
            known = {
                row[0]: tuple(row[1:5]) if row[5] else None for row in connection.exec_driver_sql(query, (folder,))
            }
        changed, unchanged = [], 0
        for file in files:
            state = (os.fsencode(file.raw_path), file.mtime_ns, file.size, parser_version)
            if known.pop(file.path, None) == state:
                unchanged += 1
            else:
                changed.append(file)
        return FileDelta(changed, list(known), unchanged)

    def shas(self, folder: str, parser_version: str) -> dict[str, str]:
        """Path → content hash of the notes of a folder that this parser could read."""
        query = "SELECT path, sha FROM notes WHERE folder = ? AND parsed_key = ? AND sha != '' AND NOT gone"
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.exec_driver_sql(query, (folder, parser_version))}

    def touch(self, files: Iterable[NoteFile]) -> None:
        """Take over new file times of notes whose content turned out to be the same."""
        rows = [(os.fsencode(file.raw_path), file.mtime_ns, file.size, now(), file.path) for file in files]
        if rows:
            query = "UPDATE notes SET raw_path = ?, mtime_ns = ?, size = ?, checked_at = ? WHERE path = ?"
            with self._database.write() as connection:
                connection.exec_driver_sql(query, rows)

    def put_notes(self, notes: Iterable[tuple[NoteFile, Note]], parser_version: str, run_id: str = "") -> int:
        """Store parsed notes, all or none; returns how many. A skipped note loses its chunks."""
        pairs = list(notes)
        if not pairs:
            return 0
        skipped = json_list([note.path for _, note in pairs if note.status is NoteStatus.SKIPPED])
        with self._database.write() as connection:
            rows = [note_row(file, note, parser_version, run_id) for file, note in pairs]
            connection.exec_driver_sql(_PUT_NOTE, rows)
            query = f"UPDATE notes SET chunked_key = '{_NOTHING_TO_CHUNK}', indexed_key = NULL WHERE path {AMONG}"
            connection.exec_driver_sql(query, skipped)
            connection.exec_driver_sql(f"DELETE FROM chunks WHERE path {AMONG}", skipped)
        return len(pairs)

    def mark_gone(self, paths: Iterable[str]) -> None:
        """The files vanished: drop their chunks, keep a tombstone until the index has dropped them too."""
        among = json_list(paths)
        with self._database.write() as connection:
            query = (
                f"UPDATE notes SET gone = 1, chunked_key = NULL, indexed_key = NULL, updated_at = ? WHERE path {AMONG}"
            )
            connection.exec_driver_sql(query, (now(), *among))
            connection.exec_driver_sql(f"DELETE FROM chunks WHERE path {AMONG}", among)

    def hold_removals(self, held: HeldRemovals | None) -> None:
        """Write down that so many notes are kept although their files are gone; None when all is well again."""
        with self._database.write() as connection:
            if held is None:
                connection.exec_driver_sql("DELETE FROM facts WHERE name = ?", (HELD_REMOVALS,))
            else:
                value = json.dumps({**asdict(held), "since": held.since.isoformat()})
                connection.exec_driver_sql("INSERT OR REPLACE INTO facts VALUES (?, ?)", (HELD_REMOVALS, value))

    # --- notes to chunks

    def notes_to_chunk(self, folder: str, signature: Callable[[str], str]) -> Iterator[tuple[Note, str]]:
        """Notes whose chunks are missing or were cut from another text or by another rule.

        Args:
            folder: The folder.
            signature: Path of a note → signature of the chunking rule in force for it (tokenizer included).

        Yields:
            The note, and the key to hand to `put_chunks`.
        """
        query = (
            "SELECT path, sha, parsed_key, chunked_key FROM notes"
            " WHERE folder = ? AND NOT gone AND status != 'skipped' ORDER BY path"
        )
        with self._database.read() as connection:
            rows = connection.exec_driver_sql(query, (folder,)).all()
        for row in rows:
            key = f"{row.sha}:{row.parsed_key}:{signature(row.path)}"
            if row.chunked_key != key and (note := self.note(row.path)) is not None:
                yield note, key

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

    # --- chunks to vectors and index

    def text_shas(self, folder: str) -> list[str]:
        """Hashes of all texts to embed in a folder, each once."""
        query = "SELECT DISTINCT text_sha FROM chunks JOIN notes USING (path) WHERE folder = ? ORDER BY path, position"
        with self._database.read() as connection:
            return list(connection.exec_driver_sql(query, (folder,)).scalars())

    def texts(self, folder: str, text_shas: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Hash and text to embed, for those hashes that occur in the folder, each once."""
        query = (
            "SELECT text_sha, payload FROM chunks JOIN notes USING (path)"
            f" WHERE folder = ? AND text_sha {AMONG} GROUP BY text_sha"
        )
        with self._database.read() as connection:
            for sha, payload in connection.exec_driver_sql(query, (folder, *json_list(text_shas))):
                yield sha, chunk_from_payload(payload).embed_text

    def notes_of_texts(self, folder: str, text_shas: Iterable[str]) -> dict[str, str]:
        """Hash → path of a note of the folder that holds the text."""
        query = (
            "SELECT text_sha, min(path) FROM chunks JOIN notes USING (path)"
            f" WHERE folder = ? AND text_sha {AMONG} GROUP BY text_sha"
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.exec_driver_sql(query, (folder, *json_list(text_shas)))}

    def chunks_of(self, paths: Iterable[str]) -> Iterator[tuple[Chunk, str]]:
        """The chunks of these notes in order, each with the hash of its embedded text."""
        query = f"SELECT payload, text_sha FROM chunks WHERE path {AMONG} ORDER BY path, position"
        with self._database.read() as connection:
            for payload, sha in connection.exec_driver_sql(query, json_list(paths)):
                yield chunk_from_payload(payload), sha

    def notes_to_publish(self, folder: str, table: str) -> dict[str, str]:
        """Path → chunked_key of notes with chunks (or skipped) that this index table does not hold as they are."""
        query = (
            "SELECT path, chunked_key FROM notes WHERE folder = ? AND NOT gone AND chunked_key IS NOT NULL"
            " AND indexed_key IS NOT chunked_key || '@' || ? ORDER BY path"
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.exec_driver_sql(query, (folder, table))}

    def tombstones(self, folder: str) -> list[str]:
        """Paths of vanished notes that the index may still hold."""
        with self._database.read() as connection:
            query = "SELECT path FROM notes WHERE folder = ? AND gone ORDER BY path"
            return list(connection.exec_driver_sql(query, (folder,)).scalars())

    def mark_published(self, notes: Mapping[str, str], table: str) -> None:
        """The index table holds these notes (path → chunked_key) now. A note cut again meanwhile stays pending."""
        rows = [(f"{key}@{table}", path, key) for path, key in notes.items()]
        if rows:
            with self._database.write() as connection:
                connection.exec_driver_sql("UPDATE notes SET indexed_key = ? WHERE path = ? AND chunked_key = ?", rows)

    def forget_tombstones(self, paths: Iterable[str]) -> None:
        """The index has dropped these notes; a note that came back meanwhile is kept."""
        with self._database.write() as connection:
            connection.exec_driver_sql(f"DELETE FROM notes WHERE gone AND path {AMONG}", json_list(paths))
