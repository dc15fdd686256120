"""Writes the index: one writer at a time, one commit per batch of notes, and the `live` pointer last.

Readers serve the published version and see nothing of the commits in between. LanceDB traps that shape this file
(measured with 0.40): an optimise beside another writer fails, hence the lock; a merge that deletes by source without
a condition empties the table; `optimize` drops versions older than a week by itself and fails if a tag is on one.
"""

import datetime as dt
import os
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock, Timeout

from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.manifests import Calibration, EmbedderSpec, IndexManifest
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.records import Chunk
from companion_assets.stores import index_table
from companion_assets.stores.calibration import PROBES, draw_background
from companion_assets.stores.index_health import IndexHealth, measure_health, unindexed_rows
from companion_assets.stores.index_table import LIVE_TAG, WORD_INDEXES, Vector
from companion_assets.stores.predicates import among
from companion_assets.stores.tongue import main_tongue

if TYPE_CHECKING:
    from lancedb.table import Table

VECTOR_INDEX_ROWS = 50_000  # below, brute force is exact and takes < 40 ms
MANY_VERSIONS = 50  # 1,000 single-note commits without pruning made hybrid search three times slower
SMALL_TAIL = 200  # rows the keyword half scans unindexed in about 1 ms
CALIBRATION_SAMPLE = 500  # chunks, each compared with every probe
CALIBRATION_DRIFT = 0.2
_MOST_ROUNDS = 5
_NEVER = dt.timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class Merge:
    """What one commit did, in rows."""

    inserted: int
    updated: int
    deleted: int


@contextmanager
def open_writer(
    paths: DataPaths,
    spec: EmbedderSpec,
    embed_question: Callable[[str], Vector],
    *,
    rebuild: bool = False,
    wait_seconds: float = 600.0,
) -> Iterator["IndexWriter"]:
    """Hold the index for writing.

    Args:
        paths: The data root.
        spec: Who made the vectors; each identity has its own table.
        embed_question: Embeds a question with the same embedder; asked for a few dozen when the scale of scores must
            be drawn (see `calibration`), else never.
        rebuild: Start a new, empty table even if this embedder has one.
        wait_seconds: How long to wait for another writer.

    Raises:
        StoreError: Another process writes, or the index cannot be opened.
    """
    paths.locks_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(paths.locks_dir / "index.lock", mode=0o600)
    try:
        lock.acquire(timeout=wait_seconds)
    except Timeout as fault:
        raise StoreError("another process is writing the index", "Wait for the running sync, or end it.") from fault
    try:
        with index_table.faults(paths):
            yield IndexWriter(paths, spec, embed_question, rebuild=rebuild)
    finally:
        lock.release()


class IndexWriter:
    """The table of one embedder, open for writing. Made by `open_writer`."""

    def __init__(
        self, paths: DataPaths, spec: EmbedderSpec, embed_question: Callable[[str], Vector], *, rebuild: bool
    ) -> None:
        self._paths = paths
        self._spec = spec
        self._embed_question = embed_question
        self._connection = index_table.connect(paths)
        self._table = (None if rebuild else self._open_last()) or self._create()

    @property
    def table(self) -> str:
        """Name of the table: identifies embedder and rebuild; part of the catalog's `indexed_key`."""
        return str(self._table.name)

    @property
    def rows(self) -> int:
        """Chunks in the table."""
        return int(self._table.count_rows())

    @property
    def version(self) -> int:
        """LanceDB's version of the table as it is now."""
        return int(self._table.version)

    @property
    def is_served_table(self) -> bool:
        """Readers are on this table, at this or an earlier version."""
        return (served := self._served()) is not None and served.table == self.table

    @property
    def is_live(self) -> bool:
        """Readers see the table exactly as it is now."""
        return self.is_served_table and (served := self._served()) is not None and served.version == self.version

    def health(self, notes: Collection[str] | None = None) -> IndexHealth:
        """Figures for the checks, of the table as it is now, published or not; of some notes only, or of all."""
        return measure_health(self._table, self._spec, notes)

    def rows_of(self, notes: Iterable[str]) -> int:
        """How many rows these notes have."""
        return int(self._table.count_rows(among("source_file", notes)))

    def note_paths(self) -> set[str]:
        """Paths of the notes that have rows; to find what the catalog no longer knows."""
        return set(self._table.search().select(["source_file"]).to_arrow().column("source_file").to_pylist())

    def replace_notes(self, rows: Iterable[tuple[Chunk, Vector]], touched: Iterable[str]) -> Merge:
        """Make these the rows of the touched notes, in one commit; a touched note without rows disappears.

        Args:
            rows: Chunks with their vectors, float32[d], all of touched notes.
            touched: Paths of the notes. 10,000 of them make a predicate of about 0.6 MB and take 0.4 s.

        Raises:
            StoreError: A vector or a row cannot be stored; nothing was changed.
        """
        touched_paths = set(touched)
        data = index_table.to_arrow(rows, self._spec.embedder_id, self._spec.dimensions)
        strays = set(data.column("source_file").to_pylist()) - touched_paths
        if strays:
            raise ValueError(f"rows of notes that are not among the touched: {sorted(strays)[:3]}")
        if not touched_paths:
            return Merge(0, 0, 0)
        result = (
            self._table.merge_insert("chunk_id")
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .when_not_matched_by_source_delete(among("source_file", touched_paths))
            .execute(data)
        )
        return Merge(result.num_inserted_rows, result.num_updated_rows, result.num_deleted_rows)

    def optimise(self, *, force: bool = False) -> None:
        """Make and refresh the indexes and compact small files; cheap to call when there is little to do.

        Args:
            force: Also fold in a small unindexed tail (which is searched all the same).
        """
        names = {index.name for index in self._table.list_indices()}
        rows = self.rows
        if not rows:
            return
        if not names.issuperset(WORD_INDEXES.values()):
            self._create_fts()  # never on an empty table, where it would cover no rows
        elif (tail := unindexed_rows(self._table)) > SMALL_TAIL or (force and tail):
            try:
                self._table.optimize(cleanup_older_than=_NEVER)
            except RuntimeError:  # lance-format/lance#7508: a full-text index can break in frequent optimising
                self._create_fts()
        if rows >= VECTOR_INDEX_ROWS and "vector_idx" not in names:
            from lancedb.index import IvfFlat

            self._table.create_index("vector", config=IvfFlat(distance_type="cosine"), name="vector_idx")

    def publish(self, run_id: str = "", *, notes: int | None = None) -> IndexManifest:
        """Show readers the table as it is now: move the tag, then the pointer.

        Args:
            run_id: Who did it.
            notes: How many notes it holds; counted if None.

        Returns:
            The manifest that is now served.
        """
        previous = self._served()
        rows = self.rows
        manifest = IndexManifest(
            table=self.table,
            embedder=self._spec,
            calibration=self._calibrated(previous, rows),
            chunks=rows,
            notes=len(self.note_paths()) if notes is None else notes,
            version=self.version,
            published_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            run_id=run_id,
        )
        tags = self._table.tags
        (tags.update if LIVE_TAG in tags.list() else tags.create)(LIVE_TAG, manifest.version)
        index_table.write_manifest(self._paths, manifest)
        index_table.retired_file(self._paths, self.table).unlink(missing_ok=True)
        self.retire_others()
        return manifest

    def retire_others(self) -> None:
        """Give up the tables of other embedders, half built or served before; for when this one is served."""
        for name in index_table.table_names(self._paths):
            if name != self.table and not index_table.retired_file(self._paths, name).exists():
                self._retire(name)

    def prune(self, grace_minutes: float = 10.0, *, force: bool = False) -> None:
        """Compact, and drop versions and retired tables that no reader can still be using.

        Does nothing before `publish`, nor while few versions can be dropped: it takes a second for 20,000 rows.

        Args:
            grace_minutes: How long a reader may go on with what it has; with 0, a question under way may fail.
            force: Even if few versions can be dropped.
        """
        served = self._served()
        if served is None or not self.is_live or not (force or self._droppable(grace_minutes) > MANY_VERSIONS):
            return
        # Compacting makes versions of its own, and takes two rounds to find nothing more to do. Cleaning refuses while
        # the tag is on an old one, and must not make one itself: what is published stays the newest.
        self._settle()
        self.publish(served.run_id, notes=served.notes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # LanceDB's word on a grace of zero, which is ours to choose
            self._table.optimize(cleanup_older_than=dt.timedelta(minutes=grace_minutes))
        index_table.remove_retired(self._paths, older_than=time.time() - grace_minutes * 60)

    def _settle(self) -> None:
        """Compact until there is nothing more to compact."""
        for _ in range(_MOST_ROUNDS):
            before = self.version
            self._table.optimize(cleanup_older_than=_NEVER)
            if self.version == before:
                break

    def _droppable(self, grace_minutes: float) -> int:
        """How many versions no reader can still be using."""
        limit = time.time() - grace_minutes * 60
        return sum(version["timestamp"].timestamp() < limit for version in self._table.list_versions())

    def _open_last(self) -> "Table | None":
        """The served table of this embedder, else its youngest unfinished one; a broken one is passed over."""
        served = self._served()
        names = index_table.table_names(self._paths, self._spec.embedder_id)[::-1]
        if served is not None and served.table in names:
            names.insert(0, served.table)
        for name in names:
            try:
                table = self._connection.open_table(name)
            except (RuntimeError, ValueError):
                continue
            if table.schema.equals(index_table.schema(self._spec.dimensions)):
                return table
        return None

    def _create(self) -> "Table":
        name = index_table.new_table_name(self._spec.embedder_id)
        return self._connection.create_table(name, schema=index_table.schema(self._spec.dimensions))

    def _create_fts(self) -> None:
        for column, name in WORD_INDEXES.items():
            self._table.create_index(column, config=index_table.word_index(column), name=name, replace=True)

    def _served(self) -> IndexManifest | None:
        try:
            return index_table.read_manifest(self._paths)
        except StoreError:  # nothing published, or a damaged pointer, which the next `publish` replaces
            return None

    def _retire(self, table: str) -> None:
        mark = index_table.retired_file(self._paths, table)
        mark.parent.mkdir(mode=0o700, exist_ok=True)
        mark.touch(mode=0o600)
        os.utime(mark)

    def _calibrated(self, previous: IndexManifest | None, rows: int) -> Calibration | None:
        """The background of similarities; kept while the table has about as many rows as when it was drawn."""
        old = previous.calibration if previous is not None and previous.table == self.table else None
        if old is not None and abs(rows - old.chunks) <= CALIBRATION_DRIFT * old.chunks:
            return old
        if not rows:
            return None
        drawn = np.random.default_rng(rows).permutation(rows)[:CALIBRATION_SAMPLE]
        sample = self._table.take_offsets(sorted(drawn.tolist())).select(["vector", "text"]).to_arrow()
        questions = np.stack([self._embed_question(probe) for probe in PROBES])
        background = draw_background(questions, index_table.matrix(sample), rows)
        return replace(background, tongue=main_tongue(sample.column("text").to_pylist()))
