"""Ends the services when their supervisor was killed and could not do it itself.

The supervisor starts this as a process of its own and tells it every process group it makes, one a line, and with a
minus sign every one that is no more: its number may be another's by then. When that pipe closes, whatever is left of
the groups is ended: grandchildren too (runs, the model's process), which a parent-death signal would miss, and on every
Unix. After a proper end there is nothing left to do.
"""

import os
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM

from filelock import FileLock

READY = "ready\n"
_GRACE_SECONDS = 5.0


def main(lock_file: str) -> None:
    """Wait for the supervisor's end.

    Args:
        lock_file: Held meanwhile, so that a new supervisor starts only when nothing of the old one is left.
    """
    with FileLock(Path(lock_file), mode=0o600):
        sys.stdout.write(READY)
        sys.stdout.flush()
        groups: set[int] = set()
        for line in sys.stdin:
            number = int(line)
            (groups.add if number > 0 else groups.discard)(abs(number))
        end_groups(groups)


def end_groups(groups: Collection[int]) -> None:
    """SIGTERM to every group, SIGKILL to what is left of them after five seconds."""
    left = [group for group in groups if signal_group(group, SIGTERM)]
    deadline = time.monotonic() + _GRACE_SECONDS
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left = [group for group in left if signal_group(group, 0)]
    for group in left:
        signal_group(group, SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Send a signal (0: only ask); returns whether anything of the group is there."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


if __name__ == "__main__":
    main(sys.argv[1])
