"""Notices what changes in the vault and starts a sync of those folders within a second or two.

Events are hints, the comparison of disk and catalog is the truth: a folder is synced only if it really differs, so
late, repeated and meaningless events start nothing, and what no event told of is repaired on the way. Runs in threads
of the resident worker. It makes the sync fast; the reconciling sensor makes it sure.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.debounce import WHOLE, Debounce
from companion_assets.daemon.folder_runs import FolderRuns, Launch
from companion_assets.daemon.vault_watch import VaultWatch
from companion_assets.daemon.watch_state import WatchStateFile
from companion_assets.defs.resources import open_workspace
from companion_assets.stages.drift import Drift, measure_drift

_CHECK_SECONDS = 1.0  # between looks at settings file, vault root and threads
_RUN_SECONDS = 0.25  # between looks at the run in flight
_REST = 9.0  # times the work of a look until the next: a tenth of a core at most
_POLL_SECONDS, _POLL_REST = 5.0, 50.0
_PATIENCE = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)  # after a failure, and after another one …
_CLOSE_SECONDS = 1.0

log = logging.getLogger(__name__)


@contextmanager
def watching(
    paths: DataPaths,
    launch: Launch,
    is_over: Callable[[str], bool],
    *,
    observer: Callable[[], BaseObserver] = Observer,
) -> Iterator[None]:
    """Watch the vault of the settings in force for as long as the block lasts.

    Args:
        paths: The data root.
        launch: Starts one run for these top-level folders and returns its id; None if it could not.
        is_over: Whether a run has ended, however.
        observer: Makes the watchdog observer.
    """
    watcher = _Watcher(paths, FolderRuns(launch, is_over), observer)
    watcher.start()
    try:
        yield
    finally:
        watcher.close()


class _Watcher:
    """One thread that waits for folders to become quiet, looks at the vault and starts runs."""

    def __init__(self, paths: DataPaths, runs: FolderRuns, observer: Callable[[], BaseObserver]) -> None:
        self._runs = runs
        self._watch = VaultWatch(paths, self._notice, observer)
        self._state = WatchStateFile(paths)
        self._debounce = Debounce()
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="vault-watcher", daemon=True)
        self._check_at = self._poll_at = self._look_after = 0.0
        self._look_seconds = 0.0
        self._failures = 0
        self._fault = ""

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End the threads; one that is in the middle of a look is not waited for."""
        self._closing = True
        self._wake.set()
        self._thread.join(_CLOSE_SECONDS)
        self._state.withdraw()

    @property
    def _poll_every(self) -> float:
        return max(_POLL_SECONDS, _POLL_REST * self._look_seconds)

    def _notice(self, folder: str, path: str = "", deleted: bool = False) -> None:
        if self._debounce.notice(folder, path, deleted=deleted, now=time.monotonic()):
            self._wake.set()

    def _run(self) -> None:
        try:
            while not self._closing:
                try:
                    pause = self._step(time.monotonic())
                except Exception:  # a fault of ours must not end the watch
                    log.exception("the watcher stumbled")
                    self._notice(WHOLE)
                    pause = _POLL_SECONDS
                self._wake.wait(pause)
                self._wake.clear()
        finally:
            self._watch.stop()
            self._state.withdraw()

    def _step(self, now: float) -> float:
        """Do what is to be done now; returns the seconds until there may be more."""
        if now >= self._check_at:
            self._check_at = now + _CHECK_SECONDS
            self._check(now)
        until_check = self._check_at - now
        if self._watch.mode == "off":
            return until_check
        if self._runs.is_busy():
            return min(_RUN_SECONDS, until_check)
        if self._watch.mode == "polling" and now >= self._poll_at:
            self._poll_at = now + self._poll_every
            self._notice(WHOLE)
        pause = max(self._debounce.next_at(), self._look_after) - now
        if pause > 0:
            return min(pause, until_check)
        self._look()
        return 0.0

    def _check(self, now: float) -> None:
        """Follow the settings and the vault."""
        news = self._watch.check(now)
        if self._watch.mode == "off":
            self._debounce.clear()
        if self._failures and (news or self._watch.mode == "off"):  # what was in the way may be gone
            self._failures, self._fault, self._look_after = 0, "", 0.0
        if news:
            self._notice(WHOLE)
        self._say()

    def _look(self) -> None:
        """Compare disk and catalog, and start a run for what differs and has become quiet."""
        began = time.thread_time()
        due = self._debounce.take(time.monotonic())
        try:
            self._watch.renew()
            with open_workspace() as work:
                drift = measure_drift(work, settle_seconds=0)
        except (CompanionError, OSError) as fault:
            self._wait_longer(due, f"the notes cannot be compared with the index: {fault}")
            return
        self._look_seconds = time.thread_time() - began
        self._look_after = time.monotonic() + _REST * self._look_seconds
        ready = self._sort_out(drift, due)
        if self._closing:
            return
        if ready and (refusal := self._runs.start(ready)):
            self._wait_longer(ready, f"notes changed, but no sync could be started: {refusal}")
            return
        self._failures, self._fault = 0, ""
        self._say()

    def _sort_out(self, drift: Drift, due: frozenset[str]) -> dict[str, str]:
        """The differences to start a run for now; the others are looked at again."""
        busy = (self._debounce.waiting() - due) | drift.unsettled  # who is due has waited long enough
        ready = {folder: mark for folder, mark in self._runs.news(drift.dirty).items() if folder not in busy}
        for folder in drift.unsettled:
            self._notice(folder)
        for folder in ready.keys() - due:  # nobody told of it: perhaps a save is half done, and its event on the way
            self._notice(folder, deleted=True)
        return {folder: mark for folder, mark in ready.items() if folder in due}

    def _wait_longer(self, folders: Iterable[str], fault: str) -> None:
        self._look_after = time.monotonic() + _PATIENCE[min(self._failures, len(_PATIENCE) - 1)]
        self._failures += 1
        for folder in folders:
            self._notice(folder)
        self._fault = fault
        self._say()

    def _say(self) -> None:
        """State how things are, where it can be read and in the log."""
        reason = self._watch.reason
        if refused := self._watch.refused:
            seconds = 5 * math.ceil(self._poll_every / 5)
            reason = f"{refused.message}; the vault is looked at every {seconds} s instead"
            reason += f"; {refused.hint}" if refused.hint else ""
        reason = "; ".join(part for part in (reason, self._watch.fault, self._fault) if part)
        if self._closing or not self._state.say(self._watch.mode, reason):
            return
        log.log(logging.WARNING if reason else logging.INFO, "watching the vault: %s", reason or self._watch.mode)
