"""Which process did it, and whether that very process still lives: for locks, logs and runs left behind by a crash."""

import os
from dataclasses import dataclass

import psutil

_CLOCK_SLACK = 1.0  # seconds; the start of a process is computed from the machine's boot time


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """A process, told apart from a later one that was given the same number.

    Attributes:
        started: When it began, seconds since the epoch.
    """

    pid: int
    started: float

    @staticmethod
    def own() -> "ProcessMark":
        """This process."""
        return ProcessMark(os.getpid(), psutil.Process().create_time())

    @property
    def is_alive(self) -> bool:
        """The process has not ended."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) <= _CLOCK_SLACK
            return bool(same and process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False
        except psutil.Error:  # it is there, but we may not look at it
            return True
