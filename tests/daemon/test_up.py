"""`companion up`: page, API, Dagster's page, sensor and queue, all on one index. Tests run in this order."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import httpx
import psutil
import pytest

from companion_app.syncs import Syncs
from companion_assets.contracts.errors import IndexMissing
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.launching import launch_sync, run_sync
from companion_assets.daemon.running import running_services
from companion_assets.definitions import defs
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.progress import read_progress
from tests.daemon.running import UP, Up, processes_of, wait_for

ASSETS = ["notes", "chunks", "embeddings", "vault_index"]
BLOCKING_CHECKS = {"row_counts", "no_orphans", "no_null_vectors", "full_text_covers_all"}
REPOSITORY = {"repositoryLocationName": "companion", "repositoryName": "__repository__"}
BACKFILL = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
BACKFILL_STATUS = """query ($id: String!) { partitionBackfillOrError(backfillId: $id) {
  ... on PartitionBackfill { status } } }"""
MATERIALIZE = """mutation ($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
EXECUTE_AGAIN = """mutation ($params: ReexecutionParams!) { launchRunReexecution(reexecutionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One start for all tests of the file: it takes some seconds."""
    with pytest.MonkeyPatch.context() as patch:
        root = tmp_path_factory.mktemp("up")
        for folder, text in (("Journal", "Furnas stew at noon."), ("People", "Mei Lin plays the cello.")):
            (root / "vault" / folder).mkdir(parents=True)
            (root / "vault" / folder / "First.md").write_text(f"{text}\n", encoding="utf-8")
        patch.setenv("COMPANION_HOME", str(root / "home"))
        patch.setenv("COMPANION_VAULT__PATH", str(root / "vault"))
        patch.setenv("COMPANION_MODEL__INFERENCE__BACKEND", "none")
        running = Up(data_paths())
        yield running
        running.process.terminate()
        running.process.wait(30)


@pytest.fixture
def paths(up: Up, monkeypatch: pytest.MonkeyPatch) -> DataPaths:
    """The data root of the running services, for this process too."""
    for name in ("COMPANION_HOME", "COMPANION_VAULT__PATH"):
        monkeypatch.setenv(name, psutil.Process(up.process.pid).environ()[name])
    return data_paths()


@pytest.fixture
def vault(paths: DataPaths) -> Path:
    return Path(os.environ["COMPANION_VAULT__PATH"])


def count(paths: DataPaths) -> int:
    try:
        return ChunkIndex.open(paths).count()
    except IndexMissing:
        return 0


def ended(paths: DataPaths, run_id: str) -> dg.DagsterRun:
    """The run, once it has ended well."""

    def run() -> Any:
        with open_instance(paths) as instance:
            return instance.get_run_by_id(run_id)

    wait_for(lambda: run().is_finished, 60)
    found: dg.DagsterRun = run()
    assert found.status is dg.DagsterRunStatus.SUCCESS
    return found


def test_page_api_and_dagster_answer(up: Up) -> None:
    assert httpx.get(f"{up.services.app_url}/api/health", timeout=10).status_code == 200
    assert "gradio" in httpx.get(up.services.app_url, timeout=10).text
    assert httpx.get(f"{up.services.dagster_url}/server_info", timeout=10).status_code == 200


def test_the_sensor_indexes_the_vault_by_itself(up: Up, paths: DataPaths) -> None:
    wait_for(lambda: count(paths) == 2, 90)


@pytest.fixture(scope="module")
def backfill(up: Up) -> str:
    """A backfill of all assets and folders, as the page starts one. Dagster looks for new ones every 30 s."""
    params = {
        "assetSelection": [{"path": [name]} for name in ASSETS],
        "partitionNames": ["Journal", "People"],
        "title": "rebuild everything",
    }
    launched = up.ask_dagster(BACKFILL, params=params)["launchPartitionBackfill"]
    return str(launched["backfillId"])


def test_a_sync_from_the_terminal_runs_in_the_services(up: Up, paths: DataPaths, vault: Path, backfill: str) -> None:
    (vault / "Journal/2026-05-15.md").write_text("Whales cancelled by fog.\n", encoding="utf-8")
    result = run_sync(paths, defs, reason="test")
    assert result.success, result.failure
    assert count(paths) == 3
    run = ended(paths, result.run_id)
    assert run.tags["companion/reason"] == "test"
    assert run.tags["companion/process"].split()[1] != str(os.getpid()), "in a process of the services"


def test_the_sync_button_starts_a_run_and_follows_it(up: Up, paths: DataPaths, vault: Path) -> None:
    (vault / "Journal/2026-05-16.md").write_text("Sardines again.\n", encoding="utf-8")
    syncs = Syncs(paths, None)
    started = syncs.start("page")
    assert started.run_id
    assert syncs.state().running
    ended(paths, started.run_id)
    wait_for(lambda: not syncs.state().running, 30)
    assert count(paths) == 4


def test_a_single_folder_is_materialised_as_the_page_does_it(up: Up, paths: DataPaths) -> None:
    params = {
        "selector": {
            **REPOSITORY,
            "pipelineName": "__ASSET_JOB",
            "assetSelection": [{"path": [name]} for name in ASSETS],
        },
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": "Journal"}]},
    }
    launched = up.ask_dagster(MATERIALIZE, params=params)["launchPipelineExecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]
    ended(paths, run_id)
    with open_instance(paths) as instance:
        events = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
        checks = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    assert len(events) == len(ASSETS)
    names = {event.dagster_event.asset_check_evaluation_data.check_name for event in checks if event.dagster_event}
    assert names == {*BLOCKING_CHECKS, "retrieval_golden"}, "Dagster's page runs what is on demand as well"


def test_a_run_of_the_terminal_is_executed_again_from_the_page(
    up: Up, paths: DataPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run as `companion index` leaves it while no services run."""
    monkeypatch.setattr("companion_assets.daemon.launching.running_services", lambda _: None)
    result = run_sync(paths, defs, reason="alone")
    assert result.success, result.failure
    params = {"parentRunId": result.run_id, "strategy": "ALL_STEPS"}
    launched = up.ask_dagster(EXECUTE_AGAIN, params=params)["launchRunReexecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    assert ended(paths, launched["run"]["runId"]).parent_run_id == result.run_id


def test_a_second_start_is_refused_politely(up: Up, paths: DataPaths) -> None:
    done = subprocess.run(UP, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "already running" in done.stderr
    assert up.services.app_url in done.stderr
    assert "Traceback" not in done.stderr


def test_a_backfill_of_everything_ends_well(up: Up, paths: DataPaths, backfill: str) -> None:
    def status() -> str:
        query = (
            "query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
        )
        return str(up.ask_dagster(query, id=backfill)["partitionBackfillOrError"]["status"])

    wait_for(lambda: status() not in ("REQUESTED", "IN_PROGRESS"), 120)
    assert status() == "COMPLETED_SUCCESS"
    assert count(paths) == 4


def test_a_run_that_fails_is_told_with_the_page_that_tells_why(up: Up, paths: DataPaths, vault: Path) -> None:
    (vault / "Journal/2026-05-16.md").write_text("Sardines once more.\n", encoding="utf-8")
    kept = paths.vectors_db.read_bytes()
    paths.vectors_db.write_bytes(b"no database" * 1000)
    syncs = Syncs(paths, None)
    started = syncs.start("page")
    wait_for(lambda: not syncs.state().running, 60)
    paths.vectors_db.write_bytes(kept)
    assert f"{up.services.dagster_url}/runs/{started.run_id}" in syncs.state().failure


def test_everything_it_writes_is_private(up: Up, paths: DataPaths) -> None:
    folders = (paths.root, paths.locks_dir, paths.logs_dir, paths.dagster_home, paths.index_dir)
    assert {
        folder.name: oct(folder.stat().st_mode & 0o777) for folder in folders if folder.stat().st_mode & 0o077
    } == {}


def test_killed_outright_it_leaves_nothing_and_the_next_start_goes_on(up: Up, paths: DataPaths, vault: Path) -> None:
    for number in range(200):
        words = random.Random(number).choices(["harbour", "cello", "fog", "letter", "winter", "ladder"], k=100)
        (vault / f"Note {number}.md").write_text(f"# {number}\n{' '.join(words)}.\n", encoding="utf-8")
    launch_sync(paths, reason="to be killed")
    # In the middle of a run: that one, or one of the watcher.
    wait_for(lambda: (now := read_progress(paths.progress_file)) and now.phase == "embedding", 60)
    worker = read_progress(paths.progress_file)
    assert worker is not None
    assert worker.pid in [process.pid for process in up.family]
    up.process.kill()
    wait_for(lambda: processes_of(paths.root) == [], 15)
    assert running_services(paths) is None

    again = Up(paths)
    with open_instance(paths) as instance:
        run = instance.get_run_by_id(worker.run_id)
        assert run is not None
        assert run.status is dg.DagsterRunStatus.FAILURE
    wait_for(lambda: count(paths) == 204, 90)

    # One service breaks: the others are ended too, and the message says which and where to look.
    app = next(process for process in again.family if "companion_app.serve" in process.cmdline())
    app.kill()
    said = again.said()
    assert again.process.returncode == 1
    assert "app ended unexpectedly" in said
    assert str(paths.logs_dir / "app.log") in said
    assert processes_of(paths.root) == []
