"""The watch follows the settings and the vault without a restart; without a vault nothing is started."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.watcher import watching
from tests.watcher.conftest import NOTHING_MORE, Syncs, Watched, wait_for, watched_vault

Configure = Callable[..., None]


@pytest.fixture
def configure(vault: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Writes the settings file."""
    monkeypatch.delenv("COMPANION_VAULT__PATH")
    file = data_paths().settings_file

    def write(path: Path = vault, **indexing: bool) -> None:
        file.parent.mkdir(exist_ok=True)
        lines = [f"    {key}: {str(value).lower()}" for key, value in indexing.items()]
        file.write_text("\n".join([f"vault:\n  path: {path}", "  indexing:", *lines, ""]), encoding="utf-8")

    write()
    return write


def _says(here: Watched, mode: str, words: str) -> Callable[[], bool]:
    return lambda: here.state is not None and here.state.mode == mode and words in here.state.reason


def _in_step(vault: Path) -> Syncs:
    syncs = Syncs()
    syncs.launch(frozenset({"Journal", "Projects", "_root"}))
    syncs.launched.clear()
    return syncs


def test_switched_off_and_on_again(vault: Path, configure: Configure) -> None:
    with watched_vault(vault, _in_step(vault)) as here:
        configure(watch_fs_events=False)
        wait_for(_says(here, "off", "vault.indexing.watch_fs_events is off"))
        here.write("Inbox.md", "Written while it was off.\n")
        configure(auto_sync=False)
        wait_for(_says(here, "off", "vault.indexing.auto_sync is off"))
        assert here.launched == []
        configure(auto_sync=True, watch_fs_events=True)
        wait_for(_says(here, "events", ""))
        here.settles(1)


def test_a_broken_settings_file_keeps_the_last_good_ones(vault: Path, configure: Configure) -> None:
    with watched_vault(vault, _in_step(vault)) as here:
        here.paths.settings_file.write_text("vault:\n  path: [\n", encoding="utf-8")
        wait_for(_says(here, "events", "the settings cannot be used"))
        here.write("Inbox.md", "Written meanwhile.\n")
        time.sleep(NOTHING_MORE)
        configure()
        wait_for(lambda: here.state and not here.state.reason)
        here.settles(1)


def test_settings_that_never_could_be_read(vault: Path, configure: Configure) -> None:
    data_paths().settings_file.write_text("vault: 7\n", encoding="utf-8")
    syncs = Syncs()
    here = Watched(vault, data_paths(), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over):
        wait_for(_says(here, "off", "the settings cannot be used"))
        configure()
        wait_for(_says(here, "events", ""))
        wait_for(lambda: len(syncs.launched) == 1)


def test_another_vault_is_watched_instead(vault: Path, configure: Configure, tmp_path: Path) -> None:
    other = tmp_path / "other vault"
    (other / "Letters").mkdir(parents=True)
    (other / "Letters/one.md").write_text("Dear Mei.\n", encoding="utf-8")
    with watched_vault(vault, _in_step(vault)) as here:
        configure(other)
        wait_for(lambda: {"Letters"} <= set().union(*here.launched))
        time.sleep(NOTHING_MORE)
        runs = len(here.launched)
        here.write("Inbox.md", "Nobody watches this any more.\n")
        time.sleep(NOTHING_MORE)
        assert len(here.launched) == runs
        (other / "Letters/one.md").write_text("Dear Mei, again.\n", encoding="utf-8")
        wait_for(lambda: here.indexed().get("Letters/one.md") == "Dear Mei, again.\n")


def test_the_rules_of_the_settings_count(vault: Path, configure: Configure) -> None:
    with watched_vault(vault, _in_step(vault)) as here:
        text = here.paths.settings_file.read_text(encoding="utf-8")
        here.paths.settings_file.write_text(text + '    file_patterns: ["*.md", "*.txt"]\n', encoding="utf-8")
        time.sleep(NOTHING_MORE)
        here.write("Inbox.txt", "A note now.\n")
        here.settles(1)
        assert here.indexed()["Inbox.txt"] == "A note now.\n"


def test_the_vault_goes_and_comes_back(vault: Path, watched: Watched) -> None:
    away = vault.rename(vault.with_name("away"))
    wait_for(_says(watched, "off", "does not exist"))
    vault.mkdir()
    wait_for(_says(watched, "off", "is empty"))
    time.sleep(NOTHING_MORE)
    assert watched.launched == []
    vault.rmdir()
    away.rename(vault)
    wait_for(_says(watched, "events", ""))
    time.sleep(NOTHING_MORE)
    assert watched.launched == []
    watched.write("Inbox.md", "It is watched again.\n")
    watched.settles(1)


def test_another_folder_in_its_place_is_noticed(vault: Path, watched: Watched) -> None:
    vault.rename(vault.with_name("away"))
    for number in range(3):
        watched.write(f"Other/{number}.md", "Of another disk.\n")
    wait_for(lambda: {"Other"} <= set().union(*watched.launched))
    time.sleep(NOTHING_MORE)
    watched.write("Other/1.md", "And watched.\n")
    wait_for(lambda: watched.indexed()["Other/1.md"] == "And watched.\n")


def test_a_vault_that_is_missing_at_the_start(vault: Path) -> None:
    away = vault.rename(vault.with_name("away"))
    syncs = Syncs()
    here = Watched(vault, data_paths(), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over):
        wait_for(_says(here, "off", "does not exist"))
        away.rename(vault)
        wait_for(lambda: syncs.launched and here.is_in_step())
        assert _says(here, "events", "")()


def test_no_vault_is_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    syncs = Syncs()
    here = Watched(tmp_path, data_paths(), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over):
        wait_for(_says(here, "off", "no vault is configured"))


def test_what_was_changed_before_the_start_is_found(vault: Path) -> None:
    syncs = Syncs()
    with watched_vault(vault, syncs) as here:
        here.settles(1)
    assert syncs.launched == [{"Journal", "Projects", "_root"}]


def test_it_ends_at_once_and_leaves_nothing_behind(vault: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    before = set(threading.enumerate())
    with watched_vault(vault, _in_step(vault)) as here:
        here.write("Inbox.md", "Just before the end.\n")
        assert all(thread.daemon for thread in set(threading.enumerate()) - before)
    wait_for(lambda: set(threading.enumerate()) <= before)
    runs = len(here.launched)
    here.write("Inbox.md", "After the end.\n")
    time.sleep(1.0)
    assert len(here.launched) == runs
    assert not (here.paths.locks_dir / "watch.json").exists()
    assert [record.getMessage() for record in caplog.records] == []


def test_faults_of_the_worker_end_nothing(vault: Path) -> None:
    class Stumbling(Syncs):
        def launch(self, folders: frozenset[str]) -> str | None:
            if not self.attempts:
                self.attempts += 1
                raise RuntimeError("the webserver is gone")
            return super().launch(folders)

        def is_over(self, run_id: str) -> bool:
            raise KeyError(run_id)

    syncs = Stumbling()
    with watched_vault(vault, syncs) as here:
        here.catches_up(1)
        here.write("Inbox.md", "Once more.\n")
        here.settles(2)


def test_a_data_root_in_the_vault_is_said_and_nothing_started(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug B39."""
    monkeypatch.setenv("COMPANION_HOME", str(vault / "home"))
    syncs = Syncs()
    here = Watched(vault, DataPaths(vault / "home"), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over):
        wait_for(_says(here, "events", "lies inside the vault"))
        here.write("Inbox.md", "New.\n")
        time.sleep(NOTHING_MORE)
        assert syncs.attempts == 0
