"""What the running sync is doing, for terminal and page: one small JSON file, replaced as a whole.

A file, because the sync runs in a process of Dagster's and is shown in others. It is a sign, not a record: losing it
loses nothing, and one whose process has ended is stale.
"""

import datetime as dt
import json
import os
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")

_SECONDS_BETWEEN_WRITES = 0.2


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at a running sync.

    Attributes:
        phase: What is being done: `reading`, `chunking`, `embedding`, `publishing` …
        done, total: Items of this phase and folder; `total` is 0 when nobody knows.
        overall: Items of this phase done so far, over all folders.
        started_at: When this phase of this folder began, UTC.
        pid: The process that does it.
    """

    phase: str
    done: int
    total: int
    folder: str
    started_at: dt.datetime
    pid: int
    run_id: str
    overall: int = 0


class ProgressFile:
    """Writes progress, at most five times a second. A disk that refuses is no reason to stop a sync.

    Args:
        path: The file.
        run_id: The run whose progress it is.
    """

    def __init__(self, path: Path, run_id: str = "") -> None:
        self._path = path
        self._run_id = run_id
        self._written = 0.0
        self._before = 0  # done in earlier folders of this phase
        self._now = Progress("", 0, 0, "", dt.datetime.now(dt.UTC), os.getpid(), run_id)

    def report(self, phase: str, done: int, total: int, folder: str = "") -> None:
        """Say how far a phase is. The first and last word of a phase are always written."""
        began = (phase, folder) != (self._now.phase, self._now.folder)
        started_at = dt.datetime.now(dt.UTC) if began else self._now.started_at
        if began:
            self._before = self._now.overall if phase == self._now.phase else 0
        self._now = replace(
            self._now,
            phase=phase,
            done=done,
            total=total,
            folder=folder,
            started_at=started_at,
            overall=self._before + done,
        )
        if began or done == total or time.monotonic() - self._written >= _SECONDS_BETWEEN_WRITES:
            self._write()

    def over(self, items: Collection[T], phase: str, folder: str = "") -> Iterator[T]:
        """The items, counted as they are taken."""
        for done, item in enumerate(items):
            self.report(phase, done, len(items), folder)
            yield item
        if items:
            self.report(phase, len(items), len(items), folder)

    def clear(self) -> None:
        """The run has ended."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        self._written = time.monotonic()
        text = json.dumps({**asdict(self._now), "started_at": self._now.started_at.isoformat()})
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside.write_text(text, encoding="utf-8")
            beside.replace(self._path)
        except OSError:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def read_progress(path: Path) -> Progress | None:
    """What the running sync last said; None if none runs (no file, an unreadable one, or its process has ended)."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        progress = Progress(**{**raw, "started_at": dt.datetime.fromisoformat(raw["started_at"])})
        return progress if _runs(progress) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _runs(progress: Progress) -> bool:
    """The process lives, and it is not a later one that was given the same number."""
    try:
        process = psutil.Process(progress.pid)
        born: float = process.create_time()
        return bool(process.status() != psutil.STATUS_ZOMBIE and born <= progress.started_at.timestamp() + 1.0)
    except psutil.Error:
        return False
