"""A real vault under a real watch; a run is the real steps, with an embedder that needs no model."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.watch_state import WatchState, read_watch_state
from companion_assets.daemon.watcher import watching
from companion_assets.defs.resources import open_workspace
from companion_assets.stages.drift import measure_drift
from companion_assets.stages.publishing import open_publisher
from companion_assets.stages.sync import chunk_folder, embed_folder, read_folder

PATIENCE = 30.0  # seconds; the machine may be busy
NOTHING_MORE = 2.0  # seconds; longer than any quiet that the watcher waits for


class Syncs:
    """What the resident worker does for the watcher: runs, executed at once, and written down.

    Attributes:
        launched: The folders of each run.
        half_saved: Notes that were missing or empty on disk when a run for their folder was started.
        refuse: Runs cannot be started now.
        fail: Runs are started and do nothing.
        hold: While set, runs are started but do not end.
    """

    def __init__(self) -> None:
        self.launched: list[frozenset[str]] = []
        self.half_saved: list[str] = []
        self.refuse = False
        self.fail = False
        self.hold = threading.Event()
        self.attempts = 0

    def launch(self, folders: frozenset[str]) -> str | None:
        self.attempts += 1
        if self.refuse:
            return None
        if not self.fail:
            self._run(sorted(folders))
        self.launched.append(folders)
        return f"run-{len(self.launched)}"

    def _run(self, folders: list[str]) -> None:
        with open_workspace("run") as work:
            work.open_embedder, work.engine = HashEmbedder, None
            for folder in folders:
                known = [note.path for note in work.catalog.notes(folder)]
                self.half_saved += [path for path in known if not _size(work.root / path)]
                read_folder(work, folder)
                chunk_folder(work, folder)
                embed_folder(work, folder)
            with open_publisher(work) as publisher:
                for folder in folders:
                    publisher.publish_folder(work, folder)
                publisher.finish()

    def is_over(self, run_id: str) -> bool:
        assert run_id == f"run-{len(self.launched)}"
        return not self.hold.is_set()


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


class Watched:
    """A vault under watch.

    Args:
        root: The vault.
        paths: Its data root.
        syncs: What was launched.
    """

    def __init__(self, root: Path, paths: DataPaths, syncs: Syncs) -> None:
        self.root = root
        self.paths = paths
        self.syncs = syncs

    @property
    def launched(self) -> list[frozenset[str]]:
        return self.syncs.launched

    @property
    def state(self) -> WatchState | None:
        return read_watch_state(self.paths)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def indexed(self) -> dict[str, str]:
        """Path → text of the notes in the catalog, and nothing is left to do."""
        with open_workspace() as work:
            return {note.path: note.body for note in work.catalog.notes()}

    def is_in_step(self) -> bool:
        """Disk and catalog are the same."""
        with open_workspace() as work:
            drift = measure_drift(work, settle_seconds=0)
        return not drift.dirty and not drift.unsettled

    def catches_up(self, runs: int) -> None:
        """So many runs are started, and they bring everything in step."""
        wait_for(lambda: len(self.launched) >= runs and self.is_in_step())

    def settles(self, runs: int) -> None:
        """So many runs are started, they bring everything in step, and no more are started."""
        self.catches_up(runs)
        time.sleep(NOTHING_MORE)
        assert len(self.launched) == runs, self.launched


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def small_vault(root: Path) -> None:
    for path in ("Journal/2026-05-14.md", "Journal/2026-05-15.md", "Projects/Cello.md", "Inbox.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"About {path}\n", encoding="utf-8")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of a few notes, not indexed."""
    root = tmp_path / "vault"
    small_vault(root)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    return root


@pytest.fixture
def watched(vault: Path) -> Iterator[Watched]:
    """A vault in step with its index, under watch; what was launched until then is forgotten."""
    syncs = Syncs()
    syncs.launch(frozenset({"Journal", "Projects", "_root"}))
    syncs.launched.clear()
    with watched_vault(vault, syncs) as here:
        yield here


@contextmanager
def watched_vault(root: Path, syncs: Syncs) -> Iterator[Watched]:
    """The vault, once its watch has begun and looked around."""
    here = Watched(root, data_paths(), syncs)
    with watching(here.paths, syncs.launch, syncs.is_over):
        wait_for(lambda: here.state and here.state.mode == "events")
        time.sleep(0.7)
        yield here
    assert here.state is None
