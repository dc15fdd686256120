"""The last step: merge a folder's difference into the index, check the result, and only then let readers see it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from companion_assets.contracts.records import Chunk
from companion_assets.stages.sync import FolderReport, batches
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.index_health import IndexHealth
from companion_assets.stores.index_writer import SMALL_TAIL, IndexWriter, open_writer
from companion_assets.stores.vectors import Vector

_SHOWN = 20
_NOTES_A_COMMIT = 1000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the blocking checks found.

    Attributes:
        faults: Check → what is wrong; a check that is not listed passed.
        published: Readers see the new state.
        rows: Chunks in the table.
        version: LanceDB's version of the table.
        changed: This run altered the table.
    """

    faults: dict[str, str]
    published: bool
    rows: int
    version: int
    changed: bool = True


@contextmanager
def open_publisher(work: Workspace) -> Iterator["Publisher"]:
    """Hold the index for writing, for all folders of a run.

    Raises:
        StoreError: Another process writes, or the index cannot be opened.
    """
    with open_writer(work.paths, work.embedder.spec, work.embedder.embed_query) as writer:
        yield Publisher(work, writer)


class Publisher:
    """Merges folder after folder, then checks and publishes once."""

    def __init__(self, work: Workspace, writer: IndexWriter) -> None:
        self._work = work
        self._writer = writer
        self._changed = False

    def publish_folder(self, work: Workspace, folder: str) -> FolderReport:
        """Make the index hold this folder as the catalog does.

        One commit for up to a thousand notes, so that memory does not grow with the folder; readers see all of them
        or none, since nothing is shown before `finish`.
        """
        catalog, table = work.catalog, self._writer.table
        pending = catalog.notes_to_publish(folder, table)
        gone = catalog.tombstones(folder)
        counts = {"notes_merged": len(pending), "notes_removed": len(gone), "rows_written": 0, "rows_deleted": 0}
        total = FolderReport(counts)
        if gone:
            counts["rows_deleted"] += self._writer.replace_notes([], gone).deleted
            self._changed = True
            catalog.forget_tombstones(gone)
        for batch in batches(work.progress.over(sorted(pending), "publishing", folder), _NOTES_A_COMMIT):
            total += self._merge({path: pending[path] for path in batch})
        return total

    def _merge(self, pending: dict[str, str]) -> FolderReport:
        """Replace the rows of notes (path → chunked_key) in one commit."""
        catalog = self._work.catalog
        rows, unembedded = self._rows(pending)
        merge = self._writer.replace_notes(rows, pending)
        self._changed = True
        # A note with a text that could not be embedded stays pending, so that a later run tries again.
        complete = {path: key for path, key in pending.items() if path not in unembedded}
        catalog.mark_published(complete, self._writer.table)
        counts = {"rows_written": merge.inserted + merge.updated, "rows_deleted": merge.deleted}
        problems = tuple((path, f"{count} passages have no vector") for path, count in unembedded.items())
        return FolderReport(counts, problems)

    def finish(self) -> Verdict:
        """Index the new rows for words, check, and publish if everything holds.

        A table that a change of embedder is still filling is not shown before it holds the whole vault.
        """
        writer = self._writer
        expected = self._work.catalog.published_counts(writer.table)
        if self._changed or writer.rows != sum(expected.values()):
            self._sweep()
        if not self._changed and writer.is_live:
            return Verdict({}, True, writer.rows, writer.version, changed=False)
        writer.optimise()
        faults = self._faults(writer.health(), expected)
        complete = writer.is_served_table or not self._pending_anywhere()
        if faults or not complete:
            return Verdict(faults, False, writer.rows, writer.version)
        manifest = writer.publish(self._work.run_id)
        writer.prune()
        return Verdict({}, True, manifest.chunks, manifest.version)

    def _sweep(self) -> None:
        """Drop the rows of notes that are gone, in whatever folder, and whether or not the catalog ever knew them.

        A folder that vanished, or a catalog that was lost, leaves such rows behind, and no run of a folder would look
        for them.
        """
        if strays := self._strays(self._writer.note_paths()):
            self._writer.replace_notes([], strays)
            self._changed = True
            self._work.catalog.forget_tombstones(strays)

    def _strays(self, indexed: set[str]) -> set[str]:
        """Indexed notes that are neither in the catalog nor in the vault."""
        return self._work.scan().gone(indexed - self._work.catalog.paths())

    def _rows(self, pending: dict[str, str]) -> tuple[list[tuple[Chunk, Vector]], dict[str, int]]:
        chunks = list(self._work.catalog.chunks_of(pending))
        embedder_id = self._work.embedder.spec.embedder_id
        vectors = self._work.vectors.get_many(embedder_id, {sha for _, sha in chunks})
        unembedded: dict[str, int] = {}
        for chunk, sha in chunks:
            if sha not in vectors:
                unembedded[chunk.source_file] = unembedded.get(chunk.source_file, 0) + 1
        return [(chunk, vectors[sha]) for chunk, sha in chunks if sha in vectors], unembedded

    def _faults(self, health: IndexHealth, expected: dict[str, int]) -> dict[str, str]:
        found = health.chunks_by_note
        faults: dict[str, str] = {}
        if wrong := [path for path, count in expected.items() if found.get(path, 0) != count]:
            faults["row_counts"] = f"other chunks than the catalog's: {_some(wrong)}"
        if health.duplicate_ids:
            faults["row_counts"] = f"{health.duplicate_ids} chunk ids occur more than once"
        if orphans := self._strays(set(found)):
            faults["no_orphans"] = f"rows of notes that are gone: {_some(sorted(orphans))}"
        if health.zero_vectors or health.foreign_rows or health.dimensions != self._work.embedder.spec.dimensions:
            faults["no_null_vectors"] = (
                f"{health.zero_vectors} rows without a vector, {health.foreign_rows} of another embedder, "
                f"dimension {health.dimensions}"
            )
        if health.unindexed_rows > SMALL_TAIL:
            faults["full_text_covers_all"] = f"{health.unindexed_rows} rows are in no full-text index"
        return faults

    def _pending_anywhere(self) -> bool:
        catalog, table = self._work.catalog, self._writer.table
        return any(catalog.notes_to_publish(folder, table) for folder in catalog.folders())


def _some(paths: list[str]) -> str:
    rest = len(paths) - _SHOWN
    return ", ".join(paths[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
