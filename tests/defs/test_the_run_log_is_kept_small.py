"""Old runs go with their files; what made the present state stays, and Dagster's page shows it as before."""

import datetime as dt
import os
import shutil
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.definitions import defs
from companion_assets.defs.knowledge.assets import CHECKS
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS, vault_folders
from companion_assets.defs.maintenance.history import prune_history
from companion_assets.defs.run_tags import ALL_FOLDERS, FAST_LANE, KIND_TAG, LANE_TAG, SCOPE_TAG, TRAINING
from tests.defs.daemon import make_older, put_run

KEYS = [dg.AssetKey(name) for name in ("notes", "chunks", "embeddings", "vault_index")]
MONTH, WEEK = dt.timedelta(days=30), dt.timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Past:
    """A month ago: a sync of all, then some folders several times. Run ids."""

    room: Path
    first: str
    superseded: list[str]
    newest: list[str]


@pytest.fixture(scope="module")
def past_once(synced_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Past:
    room = tmp_path_factory.mktemp("past")
    shutil.copytree(synced_once, room, dirs_exist_ok=True, symlinks=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPANION_HOME", str(room / "home"))
        patch.setenv("COMPANION_VAULT__PATH", str(room / "vault"))
        with open_instance(data_paths()) as instance:
            (first,) = instance.get_run_ids()
            superseded = [sync_folder(instance, folder) for folder in ("Journal", "People", "Journal")]
            newest = [sync_folder(instance, folder) for folder in ("People", "Journal")]
            make_older(data_paths(), MONTH)
        os.environ.pop("DAGSTER_HOME", None)
    return Past(room, first, superseded, newest)


@pytest.fixture
def past(past_once: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Past:
    """A copy of it, whose data root is in force."""
    shutil.copytree(past_once.room, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(tmp_path / "vault"))
    return past_once


@pytest.fixture
def instance(past: Past) -> Iterator[dg.DagsterInstance]:
    with open_instance(data_paths()) as opened:
        yield opened


def sync_folder(instance: dg.DagsterInstance, folder: str, **tags: str) -> str:
    done = defs.resolve_job_def("sync_job").execute_in_process(instance=instance, partition_key=folder, tags=tags)
    assert done.success
    return done.run_id


def files_of(paths: DataPaths, run_id: str) -> list[Path]:
    return list(paths.dagster_home.rglob(f"*{run_id}*"))


def rows_of(instance: dg.DagsterInstance, run_id: str) -> dict[str, int]:
    """What the index over all runs holds of one."""
    log: Any = instance.event_log_storage
    with log.index_connection() as connection:
        return {
            table: connection.exec_driver_sql(f"SELECT count(*) FROM {table} WHERE run_id = ?", (run_id,)).scalar()
            for table in ("event_logs", "asset_check_executions")
        }


def shown(instance: dg.DagsterInstance) -> dict[str, Any]:
    """What Dagster's page shows of each asset: partitions and their state, and how the last checks went."""
    folders = instance.get_dynamic_partitions(VAULT_FOLDERS)
    latest = [instance.get_latest_asset_check_evaluation_record(dg.AssetCheckKey(KEYS[3], name)) for name, _ in CHECKS]
    return {
        "checks": [(record.run_id, record.status.value) for record in latest if record],
        **{
            key.to_user_string(): (
                dict(instance.get_status_by_partition(key, folders, vault_folders) or {}),
                instance.get_materialized_partitions(key),
                {
                    folder: record.run_id
                    for folder in folders
                    for record in instance.fetch_materializations(
                        dg.AssetRecordsFilter(key, asset_partitions=[folder]), limit=1
                    ).records
                },
            )
            for key in KEYS
        },
    }


def test_what_is_old_and_superseded_goes_and_the_partitions_stay_green(
    past: Past, instance: dg.DagsterInstance
) -> None:
    failed = put_run(instance, {}, dg.DagsterRunStatus.FAILURE)
    make_older(data_paths(), MONTH, failed)
    young = put_run(instance, {})
    before = shown(instance)
    done = prune_history(instance)
    assert (done.deleted, done.kept, done.orphans, done.left) == (4, 4, 0, {})
    assert done.after < done.before - 500_000
    assert set(instance.get_run_ids()) == {past.first, *past.newest, young}
    assert shown(instance) == before
    status, materialized, _ = before["vault_index"]
    assert set(materialized) == {"Journal", "Projects", "People", "_root"}
    assert {str(state) for state in status.values()} == {"AssetPartitionStatus.MATERIALIZED"}
    assert [files_of(data_paths(), run_id) for run_id in past.superseded] == [[], [], []]
    assert files_of(data_paths(), past.first)
    assert rows_of(instance, past.superseded[0]) == {"event_logs": 0, "asset_check_executions": 0}
    assert all(rows_of(instance, past.newest[1]).values())


def test_runs_of_the_resident_worker_go_sooner(past: Past, instance: dg.DagsterInstance) -> None:
    fast, slow = put_run(instance, {LANE_TAG: FAST_LANE}), put_run(instance, {})
    make_older(data_paths(), WEEK)
    instance.add_run_tags(past.newest[0], {LANE_TAG: FAST_LANE})
    today = put_run(instance, {LANE_TAG: FAST_LANE})
    prune_history(instance)
    assert {slow, past.newest[0], today} <= set(instance.get_run_ids())
    assert not instance.has_run(fast)


def test_training_stays_for_ever_and_so_does_what_has_not_ended(instance: dg.DagsterInstance) -> None:
    kept = {
        put_run(instance, {KIND_TAG: TRAINING}),
        put_run(instance, {KIND_TAG: TRAINING}, dg.DagsterRunStatus.FAILURE),
        put_run(instance, {}, dg.DagsterRunStatus.STARTED),
        put_run(instance, {}, dg.DagsterRunStatus.NOT_STARTED),
    }

    @dg.job(name="retrain_job")
    def training() -> None:
        pass

    kept.add(instance.create_run_for_job(training, status=dg.DagsterRunStatus.SUCCESS).run_id)
    make_older(data_paths(), dt.timedelta(days=4000))
    prune_history(instance)
    assert kept <= set(instance.get_run_ids())


def test_the_last_pass_stays_since_the_next_one_counts_from_it(instance: dg.DagsterInstance) -> None:
    passes = [put_run(instance, {SCOPE_TAG: ALL_FOLDERS}) for _ in range(2)]
    make_older(data_paths(), MONTH)
    prune_history(instance)
    assert [instance.has_run(run_id) for run_id in passes] == [False, True]


def test_files_of_runs_that_are_gone_go_too_and_nothing_else(past: Past, instance: dg.DagsterInstance) -> None:
    orphan, kept, shards = str(uuid.uuid4()), past.first, data_paths().dagster_home / "history" / "runs"
    shutil.copy(shards / f"{kept}.db", shards / f"{orphan}.db")
    (shards / f"{uuid.uuid4()}.db-wal").write_bytes(b"x")
    storage = Path(instance.storage_directory())
    for name in (f"{orphan}/compute_logs", f"{kept}/compute_logs", "an asset of somebody"):
        (storage / name).mkdir(parents=True)
        (storage / name / "file").write_text("x")
    assert prune_history(instance).orphans == 2
    assert {path.name for path in storage.iterdir()} == {kept, "an asset of somebody"}
    assert {f"{kept}.db", "index.db"} <= {path.name for path in shards.iterdir()}
    assert not files_of(data_paths(), orphan)


def test_runs_that_begin_meanwhile_are_written_without_a_fault(past: Past, instance: dg.DagsterInstance) -> None:
    begun: list[str] = []
    faults: list[Exception] = []

    def begin() -> None:
        with dg.DagsterInstance.from_config(instance.root_directory) as other:
            while not over.is_set():
                try:
                    begun.append(put_run(other, {}))
                except Exception as fault:  # noqa: BLE001 -- of another thread, and looked at below
                    faults.append(fault)

    over, others = threading.Event(), threading.Thread(target=begin)
    others.start()
    for _ in range(3):
        prune_history(instance)
    over.set()
    others.join()
    assert faults == []
    assert begun
    assert set(instance.get_run_ids()) == {past.first, *past.newest, *begun}


KILLED = """
import os, signal, sys
from pathlib import Path
from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.defs.maintenance import history

owner, name, calls = sys.argv[1], sys.argv[2], iter(range(int(sys.argv[3])))
with open_instance(data_paths()) as instance:
    log = instance.event_log_storage
    target = {"instance": type(instance), "log": type(log), "path": Path, "history": history}[owner]
    whole = getattr(target, name)
    def deadly(*args, **options):
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*args, **options)
    setattr(target, name, deadly)
    history.prune_history(instance)
"""


@pytest.mark.parametrize(
    "point",
    [("instance", "delete_run", "1"), ("log", "delete_events", "0"), ("path", "unlink", "1"), ("path", "unlink", "5"),
     ("history", "compact_database", "1")],
    ids=lambda point: "-".join(point),
)  # fmt: skip
def test_killed_anywhere_the_next_pruning_goes_on(past: Past, point: tuple[str, str, str]) -> None:
    with open_instance(data_paths()) as instance:
        before = shown(instance)
    killed = subprocess.run([sys.executable, "-c", KILLED, *point], env=dict(os.environ), check=False)
    assert killed.returncode == -9
    with open_instance(data_paths()) as instance:
        assert shown(instance) == before
        prune_history(instance)
        assert shown(instance) == before
        assert set(instance.get_run_ids()) == {past.first, *past.newest}
        assert [files_of(data_paths(), run_id) for run_id in past.superseded] == [[], [], []]
        assert [sum(rows_of(instance, run_id).values()) for run_id in past.superseded] == [0, 0, 0]
        assert prune_history(instance).deleted == 0
