"""The last step: merge a folder's difference into the index, check the result, and only then let readers see it."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from companion_assets.contracts.records import Chunk
from companion_assets.stages.sync import TEXTS_A_BATCH, FolderReport, batches, embed_chunks
from companion_assets.stages.workspace import ENGINE, Workspace
from companion_assets.stores.catalog_view import SYNCED_AT, UNEMBEDDED
from companion_assets.stores.index_writer import SMALL_TAIL, IndexWriter, open_writer
from companion_assets.stores.vectors import Vector

_SHOWN = 20
_NOTES_A_COMMIT = 1000
_FEW_NOTES = 500


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
        self._was_live = writer.is_live  # else a killed run may have left anything behind
        self._touched: set[str] = set()
        self._unembedded: dict[str, str] = {}
        work.catalog.reconcile(writer.table, writer.version)

    def publish_folder(self, work: Workspace, folder: str) -> FolderReport:
        """Make the index hold this folder as the catalog does.

        One commit for up to a thousand notes, so that memory does not grow with the folder; readers see all of them
        or none, since nothing is shown before `finish`. A note that moved, from whatever folder, leaves its old path
        in the commit that brings the new one.
        """
        catalog, table = work.catalog, self._writer.table
        pending = catalog.notes_to_publish(folder, table)
        total = FolderReport({"notes_merged": len(pending), "notes_removed": 0, "rows_written": 0, "rows_deleted": 0})
        for batch in batches(work.progress.over(sorted(pending), "publishing", folder), _NOTES_A_COMMIT):
            total += self._merge({path: pending[path] for path in batch})
        if gone := catalog.tombstones_to_drop(folder):
            total += self._merge({}, gone)
        return total

    def _merge(self, pending: dict[str, str], gone: Sequence[str] = ()) -> FolderReport:
        """Replace the rows of notes (path → chunked_key), and drop those of the gone ones, in one commit."""
        catalog = self._work.catalog
        gone = [*gone, *catalog.tombstones_of(pending)]
        rows, unembedded = self._rows(pending)
        merge = self._writer.replace_notes(rows, [*pending, *gone])
        self._touched.update(pending, gone)
        self._unembedded |= unembedded
        # A note with a text that could not be embedded stays pending, so that a later run tries again.
        complete = {path: key for path, key in pending.items() if path not in unembedded}
        catalog.mark_published(complete, self._writer.table, version=self._writer.version, dropped=gone)
        counts = {
            "notes_removed": len(gone),
            "rows_written": merge.inserted + merge.updated,
            "rows_deleted": merge.deleted,
        }
        return FolderReport(counts, tuple(unembedded.items()))

    def finish(self) -> Verdict:
        """Index the new rows for words, check, and publish if everything holds.

        A table that a change of embedder is still filling is not shown before it holds the whole vault.
        """
        writer, catalog = self._writer, self._work.catalog
        notes, chunks = catalog.published_totals(writer.table)
        strays = self._stray_rows(chunks)
        if writer.is_served_table and (strays or not self._was_live):
            # What a killed run has committed is shown with this run's, and what nobody knows is dropped: with it goes
            # whatever else is ready. Else a note could be missing that has left a place, and not yet come to its new
            # one in another folder.
            for folder in catalog.folders():
                self.publish_folder(self._work, folder)
            notes, chunks = catalog.published_totals(writer.table)
            strays = self._stray_rows(chunks)
        if strays:
            self._sweep()
            strays = self._stray_rows(chunks)
        if not self._touched and writer.is_live:
            writer.retire_others()
            self._note_down()
            return Verdict({}, True, writer.rows, writer.version, changed=False)
        writer.optimise()
        catalog.write_version(writer.table, writer.version)
        faults = self._faults(all_rows=strays)
        complete = writer.is_served_table or catalog.behind(writer.table).keys() <= self._unembedded.keys()
        if faults or not complete:
            return Verdict(faults, False, writer.rows, writer.version)
        manifest = writer.publish(self._work.run_id, notes=notes)
        writer.prune()
        self._note_down()
        return Verdict({}, True, manifest.chunks, manifest.version)

    def _note_down(self) -> None:
        """Write down that a sync ended well, at which version, by which engine, and why notes are not whole."""
        before = self._work.catalog.unembedded()
        after = {path: why for path, why in before.items() if path not in self._touched} | self._unembedded
        if after != before:
            self._work.catalog.write_fact(UNEMBEDDED, after or None)
        self._work.catalog.write_version(self._writer.table, self._writer.version)
        self._work.catalog.write_fact(SYNCED_AT, dt.datetime.now(dt.UTC).isoformat(timespec="seconds"))
        engine = list(self._work.engine or ())
        if engine and self._work.catalog.fact(ENGINE) != engine:
            self._work.catalog.write_fact(ENGINE, engine)

    def _sweep(self) -> None:
        """Drop the rows of notes that neither catalog nor vault know: a catalog that was lost leaves them behind."""
        if strays := self._strays(self._writer.note_paths()):
            self._writer.replace_notes([], strays)
            self._work.catalog.write_version(self._writer.table, self._writer.version)
            self._touched |= strays

    def _stray_rows(self, chunks: int) -> bool:
        """Whether there are other rows than those of published notes and what is left of pending ones."""
        catalog, writer = self._work.catalog, self._writer
        pending = {*catalog.behind(writer.table), *catalog.tombstones()}
        return len(pending) > _FEW_NOTES or writer.rows != chunks + (writer.rows_of(pending) if pending else 0)

    def _strays(self, indexed: set[str]) -> set[str]:
        """Indexed notes that are neither in the catalog, tombstones included, nor in the vault."""
        return self._work.scan().gone(indexed - self._work.catalog.paths(gone=True))

    def _rows(self, pending: dict[str, str]) -> tuple[list[tuple[Chunk, Vector]], dict[str, str]]:
        """The rows of notes, and path → how many of its passages have no vector, and why."""
        chunks = list(self._work.catalog.chunks_of(pending))
        embedder_id = self._work.embedder.spec.embedder_id
        vectors = self._work.vectors.get_many(embedder_id, {sha for _, sha in chunks})
        why: dict[str, str] = {}
        # Usually made in the step before; not if the cache of vectors was lost after it.
        for batch in batches([(chunk, sha) for chunk, sha in chunks if sha not in vectors], TEXTS_A_BATCH):
            why |= embed_chunks(self._work, batch).problems
            vectors |= self._work.vectors.get_many(embedder_id, {sha for _, sha in batch})
        lacking = Counter(chunk.source_file for chunk, sha in chunks if sha not in vectors)
        reasons = {path: f"{count} of its passages cannot be embedded: {why[path]}" for path, count in lacking.items()}
        return [(chunk, vectors[sha]) for chunk, sha in chunks if sha in vectors], reasons

    def _faults(self, *, all_rows: bool) -> dict[str, str]:
        """What the blocking checks find.

        They look at the rows of the touched notes if these are few and the number of all rows is what it should be:
        the others were checked when they were written. Else they look at all rows.
        """
        writer, catalog = self._writer, self._work.catalog
        few = self._was_live and len(self._touched) <= _FEW_NOTES and not all_rows
        health = writer.health(self._touched if few else None)
        expected = catalog.published_counts(writer.table, self._touched if few else None)
        faults: dict[str, str] = {}
        found = health.chunks_by_note
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


def _some(paths: list[str]) -> str:
    rest = len(paths) - _SHOWN
    return ", ".join(paths[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
