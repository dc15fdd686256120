"""`companion up` when something is in the way."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "companion_app", "up", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_no_vault_names_the_command_that_sets_one() -> None:
    done = start()
    assert done.returncode == 1
    assert "companion init --vault" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_named_with_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = start("--port", str(port))
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "api.port" in done.stderr
    assert "Traceback" not in done.stderr
