"""What the system reports of one vault, through watchdog; each report is only a hint that a folder be looked at.

Read in watchdog 6.0.0, and held by `tests/watcher`:

- `Observer.start` raises what the system refuses (ENOSPC: no watch left, EMFILE: no instance or file left), and so
  it does when a folder vanishes while it walks the vault. The descriptors it had opened, and with them every watch it
  had got, are then leaked; they are closed here.
- Later it says nothing. A new folder that cannot be watched is skipped, a folder moved in from outside the vault is
  never watched, an overflow of the system's queue is dropped, and a folder that vanishes at the wrong moment ends
  its reading thread. So the watch is renewed after new folders and after a great many events (`is_stale`), and its
  threads are asked whether they live.
"""

import errno
import logging
import os
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from watchdog.events import (
    EVENT_TYPE_DELETED,
    EVENT_TYPE_MOVED,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.utils import BaseThread

from companion_assets.contracts.errors import CompanionError
from companion_assets.daemon.debounce import WHOLE
from companion_assets.stages.vault_walk import VaultRules

Notice = Callable[[str, str, bool], None]
"""Receives a top-level folder, the path in it that something happened to, and whether that path vanished."""

# Opening and reading are not among them: the notes are read by ourselves, and by everybody's search tools.
_KINDS: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
_MANY_EVENTS = 4000  # Linux queues 16,384 and then drops them
_DESCRIPTORS = ("_inotify_fd", "_kill_r", "_kill_w")
_WATCHES, _INSTANCES = "fs.inotify.max_user_watches", "fs.inotify.max_user_instances"
_TRIES = 3

log = logging.getLogger(__name__)


class WatchRefused(CompanionError):
    """The system does not watch the vault for us."""


class VaultEvents(FileSystemEventHandler):
    """A vault under watch.

    Args:
        root: The vault's real path.
        rules: Which names count.
        notice: Called on watchdog's thread for whatever counts.
        observer: Makes the watchdog observer.

    Attributes:
        is_stale: Folders may have come that are not watched; `start` anew.
    """

    def __init__(
        self, root: Path, rules: VaultRules, notice: Notice, observer: Callable[[], BaseObserver] = Observer
    ) -> None:
        self._root = str(root)
        self._prefix = self._root.rstrip(os.sep) + os.sep
        self._rules = rules
        self._notice = notice
        self._make = observer
        self._observer: BaseObserver | None = None
        self._threads: set[threading.Thread] = set()
        self._seen = 0
        self.is_stale = False

    @property
    def is_alive(self) -> bool:
        """Every thread of the watch runs."""
        return self._observer is not None and all(thread.is_alive() for thread in self._threads)

    def start(self) -> None:
        """Watch every folder of the vault; an earlier watch of this object ends first.

        Raises:
            WatchRefused: The system refuses.
        """
        for attempt in range(1, _TRIES + 1):
            self.stop()
            observer = self._make()
            before = _watchdog_threads()
            try:
                observer.schedule(self, self._root, recursive=True, event_filter=_KINDS)
                observer.start()
            except OSError as fault:
                _close_leaked(fault)
                if fault.errno not in (errno.ENOENT, errno.ENOTDIR) or attempt == _TRIES:
                    raise explain(fault) from fault
            else:
                self._observer, self._threads = observer, _watchdog_threads() - before
                return

    def stop(self) -> None:
        """Watch no longer; safe to call twice."""
        observer, self._observer = self._observer, None
        self._threads, self._seen, self.is_stale = set(), 0, False
        if observer is not None:
            observer.stop()
            observer.join()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Map an event to its folder. Must not fail: the thread would end."""
        self._seen += 1
        if self._seen == _MANY_EVENTS:
            self.is_stale = True
            self._notice(WHOLE, "", False)
        if event.event_type == EVENT_TYPE_MOVED:
            there = self._tell(event.dest_path, event.is_directory, deleted=False)
            self._tell(event.src_path, event.is_directory, deleted=not there)
        else:
            deleted = event.event_type == EVENT_TYPE_DELETED
            there = self._tell(event.src_path, event.is_directory, deleted=deleted) and not deleted
        if event.is_directory and there:
            self.is_stale = True

    def _tell(self, path: str | bytes, is_folder: bool, *, deleted: bool) -> bool:
        """Pass on what happened to a path; returns whether it counts."""
        text = os.fsdecode(path)
        if not text.startswith(self._prefix):
            return False
        inside = text.removeprefix(self._prefix).replace(os.sep, "/")
        folder = self._rules.folder_of(inside, is_folder=is_folder)
        if folder is None:
            return False
        self._notice(folder, inside, deleted)
        return True


def explain(fault: OSError) -> WatchRefused:
    """The system's refusal in plain words, with the way to lift it."""
    if fault.errno == errno.ENOSPC:
        limit = _kernel_limit(_WATCHES)
        return WatchRefused(
            f"the system watches at most {limit or 'so many'} folders for one user, too few for this vault",
            f"to raise it: sudo sysctl {_WATCHES}={max(524_288, 2 * (limit or 0))}",
        )
    if fault.errno in (errno.EMFILE, errno.ENFILE):
        if not _can_open_more():
            return WatchRefused(
                "this process has as many files open as it may", "to raise it: ulimit -n 4096, before companion up"
            )
        limit = _kernel_limit(_INSTANCES)
        return WatchRefused(
            f"the system lets one user watch {limit or 'so many'} things at once, and other programs use them all",
            f"to raise it: sudo sysctl {_INSTANCES}={max(1024, 2 * (limit or 0))}",
        )
    return WatchRefused(f"the vault cannot be watched: {fault.strerror or fault}", "")


def _kernel_limit(name: str) -> int | None:
    try:
        return int(Path("/proc/sys", *name.split(".")).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _can_open_more() -> bool:
    """Whether the three descriptors of a watch can be had."""
    with ExitStack() as opened:
        try:
            for _ in range(3):
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return False
    return True


def _watchdog_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if isinstance(thread, BaseThread)}


def _close_leaked(fault: OSError) -> None:
    """Close what a watch had opened when it failed; watchdog keeps no reference to it, only the traceback does."""
    for frame, _ in traceback.walk_tb(fault.__traceback__):
        half_made = frame.f_locals.get("self")
        for name in _DESCRIPTORS:
            descriptor = getattr(half_made, name, None)
            if isinstance(descriptor, int):
                with suppress(OSError):
                    os.close(descriptor)
                setattr(half_made, name, None)
