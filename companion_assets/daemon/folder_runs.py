"""Runs for the folders that changed: one at a time, and one for each difference."""

import logging
from collections.abc import Callable, Mapping

from companion_assets.contracts.errors import CompanionError

log = logging.getLogger(__name__)

Launch = Callable[[frozenset[str]], str | None]
"""Starts one run for these top-level folders; returns its id, or None if it could not."""


class FolderRuns:
    """Starts runs and waits for them.

    Args:
        launch: Starts a run.
        is_over: Whether the run of this id has ended.
    """

    def __init__(self, launch: Launch, is_over: Callable[[str], bool]) -> None:
        self._launch = launch
        self._is_over = is_over
        self._running: str | None = None
        self._tried: dict[str, str] = {}

    def is_busy(self) -> bool:
        """The run that was started last has not ended."""
        if self._running is None:
            return False
        try:
            over = self._is_over(self._running)
        except Exception:
            log.warning("run %s cannot be found; taking it for ended", self._running, exc_info=True)
            over = True
        if over:
            self._running = None
        return not over

    def news(self, dirty: Mapping[str, str]) -> dict[str, str]:
        """Those differences (folder → fingerprint) that no run was started for yet.

        A difference that outlives its run, because it failed or a note cannot be read, is left to the reconciling
        sensor, which tries again in its own time.
        """
        self._tried = {folder: mark for folder, mark in self._tried.items() if dirty.get(folder) == mark}
        return {folder: mark for folder, mark in dirty.items() if folder not in self._tried}

    def start(self, dirty: Mapping[str, str]) -> str:
        """Start a run for these differences; returns why it could not be started, or nothing."""
        try:
            run = self._launch(frozenset(dirty))
        except CompanionError as fault:
            return str(fault)
        except Exception as fault:
            log.exception("no sync could be started")
            return str(fault)
        if not run:
            return "the background services do not answer"
        self._running = run
        self._tried |= dirty
        return ""
