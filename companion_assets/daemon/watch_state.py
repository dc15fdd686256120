"""What the watcher says of itself, for `companion status` and the page: one small file in the locks folder."""

import datetime as dt
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.process_mark import ProcessMark
from companion_assets.stores.process_sign import put_sign, read_sign

WatchMode = Literal["events", "polling", "off"]


@dataclass(frozen=True, slots=True)
class WatchState:
    """How the vault is watched.

    Attributes:
        mode: `events`: the system reports every change; `polling`: the vault is looked at from time to time; `off`.
        reason: Why it is not `events`, or what is in the way. Plain words; empty when all is well.
        pid: The process that watches.
        since: Since when it is in this mode, UTC.
    """

    mode: WatchMode
    reason: str
    pid: int
    since: dt.datetime


def read_watch_state(paths: DataPaths) -> WatchState | None:
    """What the running watcher last said; None if none runs."""
    try:
        if (raw := read_sign(_file(paths))) is None:
            return None
        del raw["started"]
        return WatchState(**{**raw, "since": dt.datetime.fromisoformat(raw["since"])})
    except (ValueError, TypeError, KeyError):  # another version's
        return None


class WatchStateFile:
    """Writes the state of this process's watcher, when it changed. A disk that refuses is no reason to stop watching.

    Args:
        paths: The data root.
    """

    def __init__(self, paths: DataPaths) -> None:
        self._path = _file(paths)
        self._mark = ProcessMark.own()
        self._state: WatchState | None = None

    def say(self, mode: WatchMode, reason: str = "") -> bool:
        """State mode and reason; returns whether that is news."""
        known = self._state
        if known is not None and (known.mode, known.reason) == (mode, reason):
            return False
        since = known.since if known is not None and known.mode == mode else dt.datetime.now(dt.UTC)
        self._state = WatchState(mode, reason, self._mark.pid, since)
        raw = {**asdict(self._state), "since": since.isoformat(), "started": self._mark.started}
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            put_sign(self._path, raw)
        return True

    def withdraw(self) -> None:
        """The watcher ends."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _file(paths: DataPaths) -> Path:
    return paths.locks_dir / "watch.json"
