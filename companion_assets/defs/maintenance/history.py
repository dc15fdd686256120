"""Dagster's run log, kept small: it has no end of its own, and a saved note adds 0.2 to 0.3 MB to it.

Deleting a run deletes its materialisations, so a partition whose newest run is deleted looks as if it had never been
made. Hence the newest run of each asset and partition stays, however old it is.
"""

import datetime as dt
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from companion_assets.defs.knowledge.passes import newest_pass
from companion_assets.defs.run_tags import FAST_LANE, FINISHED, KIND_TAG, LANE_TAG, TRAINING
from companion_assets.stores.compaction import Compaction, compact_database
from companion_assets.stores.sizes import size_of

KEPT_FOR = dt.timedelta(days=14)
KEPT_FOR_FAST = dt.timedelta(days=3)  # runs of the resident worker: a hundred a day, each for a note or two
KEPT_JOBS = ("retrain_job",)  # as are all runs of the kind `train`: how a model came about is worth keeping

_PAGE = 500
_RECORDS = 500
# Dagster gives its own connections five seconds; half of that for rewriting, and about as much for copying back.
_SECONDS_TO_REWRITE = 2.0


@dataclass(frozen=True, slots=True)
class Pruned:
    """What became of the run log.

    Attributes:
        deleted, kept: Runs.
        orphans: Runs that were gone, but not their files: an earlier pruning was killed.
        before, after: Bytes of the whole folder of Dagster.
        left: Database → why it was not made smaller although it could be.
    """

    deleted: int
    kept: int
    orphans: int
    before: int
    after: int
    left: dict[str, str]


def prune_history(instance: dg.DagsterInstance, now: dt.datetime | None = None) -> Pruned:
    """Delete old runs with their files. Killed anywhere, the next call goes on.

    Kept are the newest materialisation of every (asset, partition), training, runs that have not ended, the last pass
    over every folder, and what is younger than 14 days, or 3 for runs of the resident worker.

    Args:
        instance: Whose run log it is.
        now: The present moment, UTC.
    """
    now = now or dt.datetime.now(dt.UTC)
    root = Path(instance.root_directory)
    before = size_of(root)
    condemned = list(_condemned(instance, now))
    for run_id in condemned:
        instance.delete_run(run_id)
        _forget(instance, run_id)
    orphans = _orphans(instance)
    for run_id in orphans:
        instance.event_log_storage.delete_events(run_id)
        _forget(instance, run_id)
    left = {file.name: done.left for file, done in _compacted(instance) if done.left}
    return Pruned(len(condemned), instance.get_runs_count(), len(orphans), before, size_of(root), left)


def _condemned(instance: dg.DagsterInstance, now: dt.datetime) -> Iterator[str]:
    """Runs to delete, found before the first one is deleted."""
    kept = _needed_runs(instance)
    for record in list(_finished_before(instance, now - KEPT_FOR_FAST)):
        run = record.dagster_run
        age = KEPT_FOR_FAST if run.tags.get(LANE_TAG) == FAST_LANE else KEPT_FOR
        training = run.tags.get(KIND_TAG) == TRAINING or run.job_name in KEPT_JOBS
        if run.run_id not in kept and not training and now - record.create_timestamp > age:
            yield run.run_id


def _finished_before(instance: dg.DagsterInstance, moment: dt.datetime) -> Iterator[dg.RunRecord]:
    cursor = None
    filters = dg.RunsFilter(statuses=FINISHED, created_before=moment)
    while page := instance.get_run_records(filters, limit=_PAGE, cursor=cursor):
        yield from page
        cursor = page[-1].dagster_run.run_id


def _needed_runs(instance: dg.DagsterInstance) -> set[str]:
    """Runs that made what is there now, by asset and partition, and the last pass over every folder."""
    needed = {record.dagster_run.run_id for record in [newest_pass(instance)] if record}
    for asset in instance.get_asset_records():
        key = asset.asset_entry.asset_key
        if asset.asset_entry.last_run_id:
            needed.add(asset.asset_entry.last_run_id)
        if (last := instance.get_latest_materialization_event(key)) is not None:
            needed.add(last.run_id)
        newest = list(
            instance.get_latest_storage_id_by_partition(key, dg.DagsterEventType.ASSET_MATERIALIZATION).values()
        )
        for start in range(0, len(newest), _RECORDS):
            some = dg.AssetRecordsFilter(asset_key=key, storage_ids=newest[start : start + _RECORDS])
            found = instance.fetch_materializations(some, limit=_RECORDS).records
            needed.update(record.run_id for record in found)
    return needed


def _forget(instance: dg.DagsterInstance, run_id: str) -> None:
    """Remove what Dagster leaves of a deleted run. The shard goes last: without it, nobody would look for the rest."""
    log: Any = instance.event_log_storage
    instance.compute_log_manager.delete_logs(prefix=[run_id])
    shutil.rmtree(Path(instance.storage_directory()) / run_id, ignore_errors=True)
    if (shards := _shards(instance)) is not None:
        with log.index_connection() as connection:
            connection.exec_driver_sql("DELETE FROM asset_check_executions WHERE run_id = ?", (run_id,))
        for side in ("-wal", "-shm", ""):
            (shards / f"{run_id}.db{side}").unlink(missing_ok=True)


def _orphans(instance: dg.DagsterInstance) -> set[str]:
    """Runs that the run log does not know, but of which there are files."""
    folders = [Path(instance.storage_directory()), _shards(instance)]
    # The files first: a run that begins just now is written into the log before its first file is made.
    names = {
        path.name.partition(".")[0] for folder in folders if folder and folder.is_dir() for path in folder.iterdir()
    }
    return {name for name in names if _is_run_id(name)} - set(instance.get_run_ids())


def _compacted(instance: dg.DagsterInstance) -> Iterator[tuple[Path, Compaction]]:
    if (shards := _shards(instance)) is None:
        return
    schedules = Path(instance.schedules_directory())
    for file in (shards / "index.db", shards.parent / "runs.db", schedules / "schedules.db"):
        yield file, compact_database(file, seconds=_SECONDS_TO_REWRITE)


def _shards(instance: dg.DagsterInstance) -> Path | None:
    """The folder with a file for each run; a database server has none."""
    log: Any = instance.event_log_storage
    return Path(log.path_for_shard("index")).parent if log.is_run_sharded else None


def _is_run_id(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False
