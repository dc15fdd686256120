"""`companion up` when something is in the way, or when it is told to end before it is up."""

import signal
import socket
import subprocess
from pathlib import Path

import httpx
import psutil
import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.ports import free_port
from companion_assets.daemon.running import running_services
from tests.daemon.running import UP, processes_of, start_up, wait_for


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


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["Ctrl-C", "told to end", "terminal closed"]
)
def test_it_can_be_ended_while_it_starts(paths: DataPaths, number: signal.Signals) -> None:
    process = start_up(free_port())
    wait_for(lambda: len(psutil.Process(process.pid).children()) >= 3, 60)
    process.send_signal(number)
    assert process.wait(40) == 0
    assert processes_of(paths.root) == []


def test_a_free_port_of_another_name_of_this_machine_will_do(paths: DataPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_API__HOST", "localhost")
    process = start_up(0)
    wait_for(lambda: running_services(paths) is not None or process.poll() is not None, 120)
    services = running_services(paths)
    assert services is not None
    assert services.app_url.startswith("http://localhost:")
    assert httpx.get(f"{services.app_url}/api/health", timeout=30).status_code == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(40) == 0


def test_a_port_that_cannot_be_is_refused(vault: Path) -> None:
    done = start("--port", "70000")
    assert done.returncode == 2
    assert "65535" in done.stderr
