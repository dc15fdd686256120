"""A saved note goes through the resident worker, and through an ordinary process when there is none.

This holds Dagster's private surface against its real daemon. One `companion up` for all tests, in this order.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.launching import launch_folders, run_sync
from companion_assets.daemon.worker_link import running_worker
from companion_assets.definitions import defs
from companion_assets.defs.maintenance.dead_runs import process_of
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.progress import read_progress
from tests.daemon.running import Up, wait_for

REPOSITORY = {"repositoryLocationName": "companion", "repositoryName": "__repository__"}
MATERIALIZE = """mutation ($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
TERMINATE = """mutation ($id: String!) { terminateRun(runId: $id) {
  __typename ... on TerminateRunFailure { message } ... on PythonError { message } } }"""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """The services, with nobody but the tests to start a run."""
    with pytest.MonkeyPatch.context() as patch:
        root = tmp_path_factory.mktemp("lane")
        (root / "vault/Journal").mkdir(parents=True)
        (root / "vault/Journal/First.md").write_text("Furnas stew at noon.\n", encoding="utf-8")
        patch.setenv("COMPANION_HOME", str(root / "home"))
        patch.setenv("COMPANION_VAULT__PATH", str(root / "vault"))
        patch.setenv("COMPANION_VAULT__INDEXING__AUTO_SYNC", "false")
        patch.setenv("COMPANION_MODEL__INFERENCE__BACKEND", "none")
        running = Up(data_paths())
        yield running
        running.process.terminate()
        assert running.process.wait(30) == 0


@pytest.fixture
def paths(up: Up, monkeypatch: pytest.MonkeyPatch) -> DataPaths:
    for name in ("COMPANION_HOME", "COMPANION_VAULT__PATH"):
        monkeypatch.setenv(name, psutil.Process(up.process.pid).environ()[name])
    return data_paths()


@pytest.fixture
def worker(paths: DataPaths) -> int:
    """The pid of the worker, once it is there."""
    wait_for(lambda: running_worker(paths) is not None, 60)
    pid = running_worker(paths)
    assert pid is not None
    return pid


def write(folder: str, name: str, text: str) -> None:
    path = Path(os.environ["COMPANION_VAULT__PATH"]) / folder / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def is_indexed(paths: DataPaths, note: str) -> bool:
    state = CatalogView(paths.catalog_db).note_status(note)
    return state is not None and state.indexed


def ended(paths: DataPaths, run_id: str) -> dg.DagsterRun:
    def run() -> Any:
        with open_instance(paths) as instance:
            return instance.get_run_by_id(run_id)

    wait_for(lambda: run().is_finished, 60)
    found: dg.DagsterRun = run()
    return found


def executed_by(run: dg.DagsterRun) -> int:
    process = process_of(run)
    assert process is not None
    return process.pid


def long_run(paths: DataPaths, folder: str) -> str:
    """A run in the middle of embedding many notes."""
    for number in range(80):
        words = random.Random(f"{folder} {number}").choices(["harbour", "cello", "fog", "letter", "ladder"], k=120)
        write(folder, f"Note {number}", f"# {number}\n{' '.join(words)}.\n")
    run_id = launch_folders(paths, {folder}, reason="test")
    wait_for(lambda: (now := read_progress(paths.progress_file)) and now.phase == "embedding", 60)
    return run_id


def test_a_saved_note_is_indexed_by_the_worker(paths: DataPaths, worker: int) -> None:
    write("Journal", "Saved", "The varnish is dry.\n")
    run = ended(paths, launch_folders(paths, {"Journal"}, reason="test"))
    assert run.status is dg.DagsterRunStatus.SUCCESS
    assert executed_by(run) == worker
    assert run.tags["companion/reason"] == "test"
    assert run.tags["companion/scope"] == "all", "the only folder is every folder"
    assert is_indexed(paths, "Journal/Saved.md")


def test_a_new_folder_is_a_run_of_its_own(paths: DataPaths, worker: int) -> None:
    write("People", "Mei Lin", "She plays the cello.\n")
    run = ended(paths, launch_folders(paths, {"People"}, reason="test"))
    assert executed_by(run) == worker
    assert "companion/scope" not in run.tags
    assert is_indexed(paths, "People/Mei Lin.md")


def test_a_sync_of_the_terminal_is_executed_by_the_worker(paths: DataPaths, worker: int) -> None:
    result = run_sync(paths, defs, reason="terminal")
    assert result.success, result.failure
    assert executed_by(ended(paths, result.run_id)) == worker


def test_some_assets_of_a_folder_as_the_page_asks_for_them(up: Up, paths: DataPaths, worker: int) -> None:
    params = {
        "selector": {
            **REPOSITORY,
            "pipelineName": "__ASSET_JOB",
            "assetSelection": [{"path": ["notes"]}, {"path": ["chunks"]}],
        },
        "executionMetadata": {
            "tags": [
                {"key": "dagster/partition", "value": "Journal"},
                {"key": "companion/lane", "value": "fast"},
            ]
        },
    }
    launched = up.ask_dagster(MATERIALIZE, params=params)["launchPipelineExecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run = ended(paths, launched["run"]["runId"])
    assert run.status is dg.DagsterRunStatus.SUCCESS
    assert executed_by(run) == worker
    with open_instance(paths) as instance:
        events = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
    assert {event.step_key for event in events} == {"notes", "chunks"}


def test_a_run_that_fails_leaves_the_worker_standing(paths: DataPaths, worker: int) -> None:
    kept = paths.vectors_db.read_bytes()
    paths.vectors_db.write_bytes(b"no database" * 1000)
    write("Journal", "Failing", "Not today.\n")
    failed = ended(paths, launch_folders(paths, {"Journal"}, reason="test"))
    paths.vectors_db.write_bytes(kept)
    assert failed.status is dg.DagsterRunStatus.FAILURE
    assert executed_by(failed) == worker
    healed = ended(paths, launch_folders(paths, {"Journal"}, reason="test"))
    assert healed.status is dg.DagsterRunStatus.SUCCESS
    assert executed_by(healed) == worker


def test_a_run_is_ended_from_the_page_and_the_worker_goes_on(up: Up, paths: DataPaths, worker: int) -> None:
    run_id = long_run(paths, "Ended")
    write("Journal", "Meanwhile", "Somebody else's note.\n")
    other = launch_folders(paths, {"Journal"}, reason="test")
    told = up.ask_dagster(TERMINATE, id=run_id)["terminateRun"]
    assert told["__typename"] == "TerminateRunSuccess", told
    assert ended(paths, run_id).status is dg.DagsterRunStatus.CANCELED
    assert ended(paths, other).status is dg.DagsterRunStatus.SUCCESS, "it was waiting for its turn"
    again = ended(paths, launch_folders(paths, {"Ended"}, reason="test"))
    assert again.status is dg.DagsterRunStatus.SUCCESS
    assert executed_by(again) == worker
    assert is_indexed(paths, "Ended/Note 79.md")


def test_killed_in_the_middle_of_a_run_it_is_started_again(paths: DataPaths, worker: int) -> None:
    run_id = long_run(paths, "Killed")
    psutil.Process(worker).kill()
    assert ended(paths, run_id).status is dg.DagsterRunStatus.FAILURE
    write("Journal", "Without", "No worker now.\n")
    other = ended(paths, launch_folders(paths, {"Journal"}, reason="test"))
    assert other.status is dg.DagsterRunStatus.SUCCESS
    wait_for(lambda: running_worker(paths) not in (None, worker), 60)
    with open_instance(paths) as instance:
        assert [
            slot.run_id for slot in instance.event_log_storage.get_concurrency_info("lance_writer").claimed_slots
        ] == []
    healed = ended(paths, launch_folders(paths, {"Killed"}, reason="test"))
    assert healed.status is dg.DagsterRunStatus.SUCCESS
    assert is_indexed(paths, "Killed/Note 79.md")


def test_without_a_worker_a_run_has_a_process_of_its_own(paths: DataPaths, worker: int) -> None:
    write("Journal", "Alone", "Still no worker.\n")
    psutil.Process(worker).kill()
    run = ended(paths, launch_folders(paths, {"Journal"}, reason="test"))
    assert run.status is dg.DagsterRunStatus.SUCCESS
    assert executed_by(run) != worker
    assert is_indexed(paths, "Journal/Alone.md")
