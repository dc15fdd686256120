"""The disk gets full in the middle of a sync: one clear message, nothing lost, and the next sync makes it right."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.faulty import ROOT

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


@pytest.fixture
def namespace() -> list[str]:
    """The command that gives a process mounts of its own."""
    try:
        subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", "/tmp"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine lets nobody mount a small disk")
    return UNSHARE


def test_every_step_can_run_out_of_space(namespace: list[str], tmp_path: Path) -> None:
    command = [*namespace, sys.executable, "-m", "tests.crash.full_disk", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
