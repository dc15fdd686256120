"""`companion up` when something is in the way, breaks, or is killed."""

import os
import random
import signal
import socket
import subprocess
from pathlib import Path

import dagster as dg
import psutil
import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.ports import free_port
from companion_assets.daemon.running import running_services
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.progress import read_progress
from tests.daemon.running import UP, Up, processes_of, start_up, wait_for


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/Inbox.md").write_text("Buy strings.\n", encoding="utf-8")
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(tmp_path / "vault"))
    monkeypatch.setenv("COMPANION_MODEL__INFERENCE__BACKEND", "none")
    return tmp_path / "vault"


@pytest.fixture
def paths(vault: Path) -> DataPaths:
    return data_paths()


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*UP, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_no_vault_names_the_command_that_sets_one() -> None:
    done = start()
    assert done.returncode == 1
    assert "companion init --vault" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_named_with_the_setting(vault: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = start("--port", str(port))
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "api.port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["told to end", "terminal closed"])
def test_it_can_be_ended_while_it_starts(paths: DataPaths, number: signal.Signals) -> None:
    process = start_up(free_port())
    wait_for(lambda: len(psutil.Process(process.pid).children()) >= 3, 60)
    process.send_signal(number)
    assert process.wait(40) == 0
    assert processes_of(paths.root) == []


def test_killed_outright_it_leaves_nothing_and_the_next_start_goes_on(vault: Path, paths: DataPaths) -> None:
    source = random.Random(1)
    for number in range(200):
        words = source.choices(["harbour", "cello", "fog", "letter", "winter", "ladder"], k=120)
        (vault / f"Note {number}.md").write_text(f"# {number}\n{' '.join(words)}.\n", encoding="utf-8")
    first = Up(paths)
    # In the middle of a run, which is a grandchild.
    wait_for(lambda: (now := read_progress(paths.progress_file)) and now.phase == "embedding", 90)
    worker = read_progress(paths.progress_file)
    assert worker is not None
    assert worker.pid in [process.pid for process in first.family]
    os.kill(first.process.pid, signal.SIGKILL)
    wait_for(lambda: processes_of(paths.root) == [], 15)
    assert running_services(paths) is None

    second = Up(paths)
    with open_instance(paths) as instance:
        run = instance.get_run_by_id(worker.run_id)
        assert run is not None
        assert run.status is dg.DagsterRunStatus.FAILURE
    wait_for(lambda: running(paths) == 201, 120)

    # One service breaks: the others are ended too, and the message says which and where to look.
    app = next(process for process in second.family if "companion_app.serve" in process.cmdline())
    app.kill()
    said = second.said()
    assert second.process.returncode == 1
    assert "app ended unexpectedly" in said
    assert str(paths.logs_dir / "app.log") in said
    assert processes_of(paths.root) == []


def running(paths: DataPaths) -> int:
    try:
        return ChunkIndex.open(paths).count()
    except Exception:  # noqa: BLE001 - not yet
        return 0
