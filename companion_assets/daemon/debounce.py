"""When the folders of the vault that something happened in have become quiet enough to be looked at.

One save may be three events, or a deletion and a creation half a second apart. So a folder waits until nothing has
happened in it for a moment, and longer while a file of it is missing. What is kept is bounded by the number of
top-level folders, whatever the number of events.
"""

import math
import threading
from dataclasses import dataclass, field

WHOLE = ""
"""Stands for no folder in particular: something may have changed anywhere."""

_QUIET_SECONDS = 0.4
_QUIET_AFTER_DELETE_SECONDS = 1.5  # cloud clients and some editors put the new file in place of the old one after it
_LONGEST_SECONDS = 3.0
_LONGEST_AFTER_DELETE_SECONDS = 10.0
_TOGETHER_SECONDS = 0.1  # a note that moves from one folder to another stirs both, and is one run
_PATHS_REMEMBERED = 64


@dataclass(slots=True)
class _Stir:
    """What happened in one folder. Times are of the monotonic clock."""

    first: float
    latest: float
    deleted_at: float = -math.inf
    missing: set[str] = field(default_factory=set)
    more_missing: bool = False

    @property
    def due_at(self) -> float:
        due = min(self.first + _LONGEST_SECONDS, self.latest + _QUIET_SECONDS)
        if self.missing or self.more_missing:
            longest = self.first + _LONGEST_AFTER_DELETE_SECONDS
            due = max(due, min(longest, self.deleted_at + _QUIET_AFTER_DELETE_SECONDS))
        return due


class Debounce:
    """Folders on their way from the event threads to the watcher's."""

    def __init__(self) -> None:
        self._stirs: dict[str, _Stir] = {}
        self._lock = threading.Lock()

    def notice(self, folder: str, path: str = "", *, deleted: bool = False, now: float) -> bool:
        """Something happened in a folder.

        Args:
            folder: Top-level folder, or `WHOLE`.
            path: What it happened to; a path that was deleted and is there again no longer delays its folder.
            deleted: The path vanished.
            now: Monotonic seconds.

        Returns:
            Whether the folder was not waiting before, or is due sooner than it was.
        """
        with self._lock:
            known = self._stirs.get(folder)
            before = known.due_at if known else math.inf
            stir = self._stirs.setdefault(folder, _Stir(now, now))
            stir.latest = now
            if not deleted:
                stir.missing.discard(path)
            else:
                stir.deleted_at = now
                if len(stir.missing) < _PATHS_REMEMBERED:
                    stir.missing.add(path)
                else:
                    stir.more_missing = True
            return stir.due_at < before

    def take(self, now: float) -> frozenset[str]:
        """The folders that are due, and those that almost are; they no longer wait."""
        if self.next_at() > now:
            return frozenset()
        with self._lock:
            due = frozenset(name for name, stir in self._stirs.items() if stir.due_at <= now + _TOGETHER_SECONDS)
            for folder in due:
                del self._stirs[folder]
            return due

    def waiting(self) -> frozenset[str]:
        """Folders that are not quiet yet."""
        with self._lock:
            return frozenset(self._stirs)

    def next_at(self) -> float:
        """When the next folder is due, monotonic seconds; infinite if none waits."""
        with self._lock:
            return min((stir.due_at for stir in self._stirs.values()), default=math.inf)

    def clear(self) -> None:
        """Forget what happened."""
        with self._lock:
            self._stirs.clear()
