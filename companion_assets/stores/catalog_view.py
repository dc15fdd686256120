"""What one may ask the catalog: single notes, figures, and why a note is not found. Changes nothing."""

import datetime as dt
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion_assets.contracts.records import HeldRemovals, Note, NoteStatus
from companion_assets.stores.catalog_rows import (
    create_facts,
    create_tables,
    date_publications,
    index_note_states,
    note_from_row,
)
from companion_assets.stores.database import open_database
from companion_assets.stores.note_graph_rows import create_note_graph

MIGRATIONS = (create_tables, create_facts, index_note_states, date_publications, create_note_graph)

HELD_REMOVALS = "held_removals"
SYNCED_AT = "synced_at"
UNEMBEDDED = "unembedded"
COMMITTED = "committed"
PUT_FACT = "INSERT OR REPLACE INTO facts VALUES (?, ?)"

AMONG = "IN (SELECT value FROM json_each(?))"
# What a note's chunks must have been cut from; `chunked_key` begins with it.
TEXT_KEY = "sha || ':' || parsed_key || ':' || mtime_ns || ':'"

# `indexed_key` is set only while the index holds the note's present chunks (see `stores.catalog`).
_COUNTS = (
    "SELECT folder, count(*) AS notes, coalesce(sum(n), 0) AS chunks, sum(status = 'partial') AS partial,"
    " sum(status = 'skipped') AS skipped, sum(status != 'skipped' AND indexed_key IS NULL) AS pending"
    " FROM notes LEFT JOIN (SELECT path, count(*) AS n FROM chunks GROUP BY path) USING (path)"
    " WHERE NOT gone GROUP BY folder ORDER BY folder"
)


@dataclass(frozen=True, slots=True)
class CatalogCounts:
    """Figures of a folder or of the vault.

    Attributes:
        notes: All notes whose file is there, skipped ones included.
        pending: Readable notes that the index does not hold as they were last read.
    """

    notes: int = 0
    chunks: int = 0
    partial: int = 0
    skipped: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True)
class NoteState:
    """Where one note stands, for a person who asks why it is not found.

    Attributes:
        indexed: The index holds it as it was last read.
        gone: The file vanished and the index has yet to drop it.
        updated_at: When it was last read, UTC.
        checked_at: When the file was last found to be as it was read, UTC.
        published_at: When the index last took it in, UTC; None if it never did.
    """

    path: str
    folder: str
    status: NoteStatus
    reason: str
    chunks: int
    indexed: bool
    gone: bool
    modified_at: dt.datetime
    updated_at: dt.datetime
    checked_at: dt.datetime
    published_at: dt.datetime | None
    run_id: str


def json_list(values: Iterable[str]) -> tuple[str]:
    """The one parameter of `AMONG`: lists of any length, without SQLite's limit on parameters."""
    return (json.dumps(list(values)),)


class CatalogView:
    """Questions to `catalog.db`.

    Args:
        path: The file, created if missing.

    Raises:
        StoreError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._database = open_database(path, MIGRATIONS, canonical=False)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._database.close()

    def note(self, path: str) -> Note | None:
        """One note as it was parsed; None if it is unknown or gone."""
        with self._database.read() as connection:
            row = connection.exec_driver_sql("SELECT * FROM notes WHERE path = ? AND NOT gone", (path,)).first()
        return note_from_row(row) if row else None

    def notes(self, folder: str | None = None) -> Iterator[Note]:
        """All notes of a folder, or of the vault, by path; skipped ones too."""
        query = "SELECT * FROM notes WHERE NOT gone AND (?1 IS NULL OR folder = ?1) ORDER BY path"
        with self._database.read() as connection:
            for row in connection.exec_driver_sql(query, (folder,)):
                yield note_from_row(row)

    def paths(self, *, gone: bool = False) -> set[str]:
        """Paths of the readable notes; with `gone` also of those that the index has yet to drop."""
        query = "SELECT path FROM notes WHERE status != 'skipped' AND (NOT gone OR ?)"
        with self._database.read() as connection:
            return set(connection.exec_driver_sql(query, (gone,)).scalars())

    def folders(self) -> list[str]:
        """Every folder with a note, or with a vanished one that the index has yet to drop."""
        with self._database.read() as connection:
            return list(connection.exec_driver_sql("SELECT DISTINCT folder FROM notes ORDER BY folder").scalars())

    def counts_by_folder(self) -> dict[str, CatalogCounts]:
        """Figures of each folder that has notes."""
        with self._database.read() as connection:
            return {row[0]: CatalogCounts(*row[1:]) for row in connection.exec_driver_sql(_COUNTS)}

    def counts(self) -> CatalogCounts:
        """Figures of the vault."""
        folders = self.counts_by_folder().values()
        return CatalogCounts(
            notes=sum(folder.notes for folder in folders),
            chunks=sum(folder.chunks for folder in folders),
            partial=sum(folder.partial for folder in folders),
            skipped=sum(folder.skipped for folder in folders),
            pending=sum(folder.pending for folder in folders),
        )

    def skipped(self) -> list[tuple[str, str]]:
        """Path and reason of every note that is not indexed on purpose or could not be read."""
        return self._reasons(NoteStatus.SKIPPED)

    def partial(self) -> list[tuple[str, str]]:
        """Path and reason of every note of which only a part could be read."""
        return self._reasons(NoteStatus.PARTIAL)

    def held_removals(self) -> HeldRemovals | None:
        """Notes that the guard against mass loss keeps in the index although their files are not there."""
        if (raw := self.fact(HELD_REMOVALS)) is None:
            return None
        since = dt.datetime.fromisoformat(raw["since"])
        return HeldRemovals(**{**raw, "examples": tuple(raw["examples"]), "since": since})

    def synced_at(self) -> dt.datetime | None:
        """When a sync last ended well, whether or not it changed anything, UTC; None before the first."""
        value = self.fact(SYNCED_AT)
        return dt.datetime.fromisoformat(value) if value else None

    def committed(self, table: str) -> int | None:
        """The version of this table that was written down last; None if it was another table's."""
        name, version = self.fact(COMMITTED) or ("", 0)
        return int(version) if name == table else None

    def unembedded(self) -> dict[str, str]:
        """Path → why a note is not whole in the index although it was read, as the last sync that tried found it."""
        return self.fact(UNEMBEDDED) or {}

    def fact(self, name: str) -> Any:
        """Something known of the vault as a whole; None if nothing was written down under that name."""
        with self._database.read() as connection:
            value = connection.exec_driver_sql("SELECT value FROM facts WHERE name = ?", (name,)).scalar()
        return None if value is None else json.loads(value)

    def all_text_shas(self) -> set[str]:
        """Hashes of the texts of all chunks, whatever their note; reads the whole table."""
        with self._database.read() as connection:
            return set(connection.exec_driver_sql("SELECT DISTINCT text_sha FROM chunks").scalars())

    def _reasons(self, status: NoteStatus) -> list[tuple[str, str]]:
        query = "SELECT path, reason FROM notes WHERE status = ? AND NOT gone ORDER BY path"
        with self._database.read() as connection:
            return [(row[0], row[1]) for row in connection.exec_driver_sql(query, (str(status),))]

    def note_status(self, path: str) -> NoteState | None:
        """Where a note stands; None if no such note was ever seen."""
        query = "SELECT *, (SELECT count(*) FROM chunks WHERE path = n.path) AS chunks FROM notes n WHERE path = ?"
        with self._database.read() as connection:
            row = connection.exec_driver_sql(query, (path,)).first()
        if row is None:
            return None
        return NoteState(
            path=row.path,
            folder=row.folder,
            status=NoteStatus(row.status),
            reason=row.reason or ("" if row.indexed_key else self.unembedded().get(path, "")),
            chunks=row.chunks,
            indexed=row.indexed_key is not None and row.status != NoteStatus.SKIPPED,
            gone=bool(row.gone),
            modified_at=dt.datetime.fromtimestamp(row.mtime_ns / 1e9, dt.UTC),
            updated_at=dt.datetime.fromisoformat(row.updated_at),
            checked_at=dt.datetime.fromisoformat(row.checked_at),
            published_at=dt.datetime.fromisoformat(row.published_at) if row.published_at else None,
            run_id=row.run_id,
        )
