"""What needs limits or mounts of its own: run by `test_the_system_may_refuse` in namespaces where we are root."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from watchdog.events import FileSystemEventHandler
from watchdog.observers import Observer

from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.vault_watch import VaultWatch
from companion_assets.daemon.watcher import watching
from tests.watcher.conftest import NOTHING_MORE, Syncs, Watched, wait_for, watched_vault

VAULT = Path(os.environ.get("COMPANION_VAULT__PATH", "/nowhere"))


def limit(name: str, value: int) -> None:
    Path("/proc/sys/user", name).write_text(str(value), encoding="ascii")


def descriptors() -> list[str]:
    """What this process has open of the kinds that a watch needs."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the listing's own
            links.append(str(entry.readlink()))
    return sorted(link for link in links if "inotify" in link or link.startswith("pipe:"))


def is_polling(here: Watched) -> bool:
    return here.state is not None and here.state.mode == "polling"


def too_few_watches() -> None:
    limit("max_inotify_watches", 2)
    syncs = Syncs()
    here = Watched(VAULT, data_paths(), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over):
        wait_for(lambda: is_polling(here))
        assert here.state
        reason = here.state.reason
        assert "the system watches at most" in reason, reason
        assert "the vault is looked at every 5 s instead" in reason, reason
        assert "to raise it: sudo sysctl fs.inotify.max_user_watches=" in reason, reason
        wait_for(lambda: syncs.launched and here.is_in_step())
        runs = len(syncs.launched)
        here.write("Inbox.md", "Found by looking.\n")
        wait_for(lambda: len(syncs.launched) > runs and here.is_in_step())
        assert len(syncs.launched) == runs + 1


def refused_again_and_again_then_not() -> None:
    limit("max_inotify_watches", 2)
    before = descriptors()
    watch, now = VaultWatch(data_paths(), lambda folder, path, deleted: None), time.monotonic()
    for minute in range(5):
        assert watch.check(now + 61 * minute)
        assert not watch.check(now + 61 * minute + 30)
        assert watch.mode == "polling"
        assert descriptors() == before
    limit("max_inotify_watches", 100)
    assert watch.check(now + 61 * 5)
    assert watch.mode == "events"
    watch.stop()
    assert descriptors() == before


def too_few_later() -> None:
    syncs = Syncs()
    with watched_vault(VAULT, syncs) as here:
        wait_for(lambda: syncs.launched and here.is_in_step())
        limit("max_inotify_watches", 5)
        here.write("Travel/2026/Azores/Furnas/Stew.md", "At noon.\n")
        wait_for(lambda: is_polling(here))
        wait_for(lambda: here.is_in_step())
        here.write("Travel/2026/Azores/Furnas/Stew.md", "At one.\n")
        wait_for(lambda: here.indexed()["Travel/2026/Azores/Furnas/Stew.md"] == "At one.\n")


def too_few_instances() -> None:
    limit("max_inotify_instances", 1)
    other = Observer()
    other.schedule(FileSystemEventHandler(), str(VAULT))
    other.start()
    syncs = Syncs()
    here = Watched(VAULT, data_paths(), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over):
        wait_for(lambda: is_polling(here))
        assert here.state
        assert "sysctl fs.inotify.max_user_instances=" in here.state.reason, here.state.reason
    other.stop()


def unmounted_and_mounted_again() -> None:
    disk, other = VAULT.with_name("disk"), VAULT.with_name("other")
    VAULT.rename(disk)
    VAULT.mkdir()
    other.mkdir()
    subprocess.run(["mount", "--bind", disk, VAULT], check=True)
    syncs = Syncs()
    with watched_vault(VAULT, syncs) as here:
        wait_for(lambda: syncs.launched and here.is_in_step())
        runs = len(syncs.launched)
        subprocess.run(["umount", VAULT], check=True)
        wait_for(lambda: here.state and here.state.mode == "off" and "is empty" in here.state.reason)
        (disk / "Inbox.md").write_text("Written elsewhere.\n", encoding="utf-8")
        time.sleep(NOTHING_MORE)
        assert len(syncs.launched) == runs
        subprocess.run(["mount", "--bind", disk, VAULT], check=True)
        wait_for(lambda: len(syncs.launched) > runs and here.is_in_step())
        (VAULT / "Inbox.md").write_text("Watched again.\n", encoding="utf-8")
        wait_for(lambda: here.indexed()["Inbox.md"] == "Watched again.\n")
    subprocess.run(["umount", VAULT], check=True)


SCENARIOS: dict[str, Callable[[], None]] = {
    scenario.__name__: scenario
    for scenario in (
        too_few_watches,
        refused_again_and_again_then_not,
        too_few_later,
        too_few_instances,
        unmounted_and_mounted_again,
    )
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
