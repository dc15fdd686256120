"""The supervisor's processes: each leads a process group of its own, has a log, and never outlives the supervisor."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from signal import SIGKILL, SIGTERM
from types import TracebackType
from typing import IO

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.log_rotation import LogLimits, rotate
from companion_assets.daemon.reaper import READY, signal_group

_STOP_SECONDS = 10.0
_TAIL_BYTES = 4000


class Children:
    """Starts processes and, when left, ends them all, newest first.

    Groups of their own keep Ctrl-C in the terminal to the supervisor, which then ends them in order. Should it be
    killed outright, `reaper` does.

    Args:
        paths: The data root, for logs and locks; its folders exist.
    """

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Children":
        self._reaper = subprocess.Popen(
            [sys.executable, "-m", "companion_assets.daemon.reaper", str(self._paths.locks_dir / "reaper.lock")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        # It waits for the one before it, so nothing of a supervisor that was killed is left now.
        if _stream(self._reaper.stdout).readline() != READY:
            raise CompanionError("the process that watches over the services cannot be started", "companion doctor")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._reaper.kill()
        self._reaper.communicate()

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start a process that logs to `logs/<name>.log`; one of that name must have ended."""
        self.bury(name)
        with self.log_of(name).open("ab") as sink:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, "DAGSTER_HOME": str(self._paths.dagster_home)},
                process_group=0,
            )
        self._running[name] = process
        self._tell_reaper(process.pid)

    def ended(self) -> dict[str, int]:
        """Processes that ended by themselves, with their exit statuses."""
        return {name: status for name, process in self._running.items() if (status := process.poll()) is not None}

    def rotate_logs(self, limits: LogLimits) -> None:
        """Keep the logs of all processes within limits."""
        for name in self._running:
            rotate(self.log_of(name), limits)

    def log_of(self, name: str) -> Path:
        """Where a process writes what it says."""
        return self._paths.logs_dir / f"{name}.log"

    def last_words(self, name: str) -> str:
        """The last line of a log that says something."""
        with contextlib.suppress(OSError), self.log_of(name).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
            # A hint follows its error, and the error says more.
            return next((line for line in reversed(lines) if not line.startswith("hint:")), "")
        return ""

    def bury(self, name: str) -> None:
        """End what an ended process has left behind, at once: its number may soon be another's. And forget it."""
        process = self._running.pop(name, None)
        if process is not None:
            signal_group(process.pid, SIGKILL)
            self._tell_reaper(-process.pid)

    def _tell_reaper(self, group: int) -> None:
        watched = _stream(self._reaper.stdin)
        watched.write(f"{group}\n")
        watched.flush()

    def _stop(self) -> None:
        running = list(self._running.values())
        for process in reversed(running):
            signal_group(process.pid, SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
            # Also when it has ended: what it started may live on.
            signal_group(process.pid, SIGKILL)
            process.wait()


def _stream(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None, "both ends were asked for"
    return pipe
