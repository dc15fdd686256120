"""Limits of the system (bug B35), a disk that is unmounted (B27), and what watchdog does not tell of.

The limits are real: Linux lets everybody lower them in a user namespace of one's own.
"""

import os
import resource
import shutil
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.vault_events import VaultEvents, WatchRefused
from companion_assets.daemon.watcher import watching
from companion_assets.stages.vault_walk import vault_rules
from tests.watcher import limited
from tests.watcher.conftest import Syncs, Watched, small_vault, wait_for

RULES = vault_rules(file_patterns=("*.md",), deny_dirs=(), deny_patterns=())


def _namespaces_are_ours() -> bool:
    if shutil.which("unshare") is None:
        return False
    test = ["unshare", "-rm", "sh", "-c", "echo 9 > /proc/sys/user/max_inotify_watches"]
    return subprocess.run(test, check=False, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, "subprocess.CompletedProcess[str]"]:
    """All scenarios, run at the same time: they mostly wait."""
    if not _namespaces_are_ours():
        pytest.skip("needs a Linux that allows user namespaces")
    running = {}
    for scenario in limited.SCENARIOS:
        room = tmp_path_factory.mktemp(scenario)
        small_vault(room / "vault")
        running[scenario] = subprocess.Popen(
            ["unshare", "-rm", sys.executable, "-m", "tests.watcher.limited", scenario],
            env={**os.environ, "COMPANION_HOME": str(room / "home"), "COMPANION_VAULT__PATH": str(room / "vault")},
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    said = {name: child.communicate()[0] for name, child in running.items()}
    return {name: subprocess.CompletedProcess(name, running[name].returncode, said[name]) for name in running}


@pytest.mark.parametrize("scenario", limited.SCENARIOS)
def test_limits_and_mounts(ended: dict[str, "subprocess.CompletedProcess[str]"], scenario: str) -> None:
    assert ended[scenario].returncode == 0, ended[scenario].stdout
    assert "watcher stumbled" not in ended[scenario].stdout


def test_no_file_left_to_open(vault: Path) -> None:
    events = VaultEvents(vault, RULES, lambda folder, path, deleted: None)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as all_that_fit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard))
        all_that_fit.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with suppress(OSError):
            while True:
                all_that_fit.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        with pytest.raises(WatchRefused, match="as many files open as it may") as refused:
            events.start()
        assert "ulimit -n" in refused.value.hint
    events.start()
    assert events.is_alive
    events.stop()
    assert not events.is_alive


def test_a_watch_whose_threads_have_died_is_begun_anew(vault: Path) -> None:
    made: list[BaseObserver] = []

    def observer() -> BaseObserver:
        made.append(Observer())
        return made[-1]

    syncs = Syncs()
    here = Watched(vault, data_paths(), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over, observer=observer):
        wait_for(lambda: syncs.launched and here.is_in_step())
        # A folder that vanishes at the wrong moment ends the thread that reads, and nothing says so.
        for emitter in made[-1].emitters:
            emitter.stop()
        here.write("Inbox.md", "Nobody is there to see it.\n")
        wait_for(lambda: len(syncs.launched) == 2 and here.is_in_step())
        assert len(made) == 2
        here.write("Inbox.md", "Somebody is there.\n")
        wait_for(lambda: here.indexed()["Inbox.md"] == "Somebody is there.\n")
