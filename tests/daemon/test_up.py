"""`companion up`: one supervisor, all services, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import httpx
import psutil
import pytest
from dagster_graphql import DagsterGraphQLClient

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.launching import run_sync
from companion_assets.daemon.ports import free_port
from companion_assets.daemon.running import Services, running_services
from companion_assets.definitions import defs
from companion_assets.stores.index import ChunkIndex

SERVICES = {"app", "code-server", "webserver", "daemon"}


class Up:
    """A running `companion up` and its address."""

    def __init__(self, paths: DataPaths) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "companion_app", "up", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        deadline = time.monotonic() + 120
        while (services := running_services(paths)) is None:
            assert self.process.poll() is None, self.process.stdout and self.process.stdout.read()
            assert time.monotonic() < deadline, "not up after two minutes"
            time.sleep(0.2)
        self.services: Services = services
        self.children = psutil.Process(self.process.pid).children(recursive=True)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One start for all tests of the file: it takes some seconds."""
    with pytest.MonkeyPatch.context() as patch:
        root = tmp_path_factory.mktemp("up")
        (root / "vault/Journal").mkdir(parents=True)
        (root / "vault/Journal/2026-05-14.md").write_text("Furnas stew at noon.\n", encoding="utf-8")
        patch.setenv("COMPANION_HOME", str(root / "home"))
        patch.setenv("COMPANION_VAULT__PATH", str(root / "vault"))
        patch.setenv("COMPANION_MODEL__INFERENCE__BACKEND", "none")
        running = Up(data_paths())
        yield running
        running.process.send_signal(signal.SIGINT)
        running.process.wait(30)


@pytest.fixture
def paths(up: Up, monkeypatch: pytest.MonkeyPatch) -> DataPaths:
    """The data root of the running services, for this process too."""
    for name in ("COMPANION_HOME", "COMPANION_VAULT__PATH"):
        monkeypatch.setenv(name, psutil.Process(up.process.pid).environ()[name])
    return data_paths()


def wait_for(condition: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.3)


def test_page_api_and_dagster_answer(up: Up) -> None:
    assert httpx.get(f"{up.services.app_url}/api/health", timeout=10).status_code == 200
    assert "gradio" in httpx.get(up.services.app_url, timeout=10).text
    assert httpx.get(f"{up.services.dagster_url}/server_info", timeout=10).status_code == 200


def test_the_sensor_indexes_the_vault_by_itself(up: Up, paths: DataPaths) -> None:
    def is_indexed() -> bool:
        try:
            return ChunkIndex.open(paths).count() == 1
        except Exception:  # noqa: BLE001 - nothing there yet
            return False

    wait_for(is_indexed, 120)


def test_a_sync_from_the_terminal_runs_in_the_services(up: Up, paths: DataPaths) -> None:
    vault = Path(os.environ["COMPANION_VAULT__PATH"])
    (vault / "Journal/2026-05-15.md").write_text("Whales cancelled by fog.\n", encoding="utf-8")
    result = run_sync(paths, defs, reason="test")
    assert result.success, result.failure
    assert ChunkIndex.open(paths).count() == 2
    with open_instance(paths) as instance:
        run = instance.get_run_by_id(result.run_id)
    assert run is not None
    assert run.tags["companion/reason"] == "test"
    assert "dagster/code_location" in json.dumps(dict(run.tags)) or run.remote_job_origin is not None


def test_a_single_folder_can_be_materialised_as_the_ui_does_it(up: Up, paths: DataPaths) -> None:
    client = DagsterGraphQLClient("127.0.0.1", port_number=up.services.dagster_port)
    run_id = client.submit_job_execution(
        "sync_job",
        repository_location_name="companion",
        repository_name="__repository__",
        tags={"dagster/partition": "Journal"},
    )
    with open_instance(paths) as instance:
        wait_for(lambda: instance.get_run_by_id(run_id).is_finished, 90)  # type: ignore[union-attr]
        run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status is dg.DagsterRunStatus.SUCCESS


def test_a_second_start_is_refused_politely(up: Up, paths: DataPaths) -> None:
    command = [sys.executable, "-m", "companion_app", "up"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "already running" in done.stderr
    assert up.services.app_url in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_every_child(up: Up, paths: DataPaths) -> None:
    assert len(up.children) >= len(SERVICES)
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(40) == 0
    _, alive = psutil.wait_procs(up.children, timeout=10)
    assert alive == []
    assert running_services(paths) is None
