"""Keeps the watch that the settings ask for on the vault that is there, whatever becomes of either."""

from collections.abc import Callable
from pathlib import Path

from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.vault_events import Notice, VaultEvents, WatchRefused
from companion_assets.daemon.watch_settings import WatchPlan, WatchSettings
from companion_assets.daemon.watch_state import WatchMode
from companion_assets.stages.vault import check_vault

_SECONDS_BEFORE_ANOTHER_TRY = 60.0  # limits are raised, and other programs give their watches back


class VaultWatch:
    """The watch in force.

    Args:
        paths: The data root.
        notice: Receives what happens in the vault.
        observer: Makes the watchdog observer.

    Attributes:
        mode: Whether the system reports changes, or the vault must be looked at, or neither.
        reason: Why nothing is watched.
        refused: Why the system does not report changes.
    """

    def __init__(self, paths: DataPaths, notice: Notice, observer: Callable[[], BaseObserver] = Observer) -> None:
        self._settings = WatchSettings(paths)
        self._notice = notice
        self._observer = observer
        self._watched: tuple[WatchPlan, Path, tuple[int, int]] | None = None
        self._events: VaultEvents | None = None
        self._try_at = 0.0
        self.mode: WatchMode = "off"
        self.reason = ""
        self.refused: WatchRefused | None = None

    @property
    def fault(self) -> str:
        """Why the settings file is not in force as it is now."""
        return self._settings.fault

    def check(self, now: float) -> bool:
        """See that settings, vault and threads are as they were; where not, end the watch or begin it anew.

        Args:
            now: Monotonic seconds.

        Returns:
            Whether it was begun, so that anything may have changed unseen, or the settings can (or cannot) be read
            now.
        """
        fault, plan = self.fault, self._settings.plan()
        reason, wanted = plan.reason, None
        if plan.root is not None:
            try:
                wanted = (plan, *_place(plan.root))
            except VaultError as missing:
                reason = str(missing)
        if wanted is None:
            self.stop()
            self.reason = reason
            return False
        if wanted == self._watched and (self._events.is_alive if self._events else now < self._try_at):
            return fault != self.fault
        self.stop()
        self._watched, self._try_at = wanted, now + _SECONDS_BEFORE_ANOTHER_TRY
        self._start(VaultEvents(wanted[1], plan.rules, self._notice, self._observer))
        return True

    def renew(self) -> None:
        """Watch the folders that have come, too."""
        if self._events is not None and self._events.is_stale:
            self._start(self._events)

    def stop(self) -> None:
        """Watch nothing."""
        if self._events is not None:
            self._events.stop()
        self._events = self._watched = self.refused = None
        self.mode = "off"

    def _start(self, events: VaultEvents) -> None:
        self.reason = ""
        try:
            events.start()
        except WatchRefused as fault:
            self._events, self.refused, self.mode = None, fault, "polling"
        else:
            self._events, self.refused, self.mode = events, None, "events"


def _place(root: Path) -> tuple[Path, tuple[int, int]]:
    """The vault's real path, and which folder of which file system that is: another one after a remount.

    Raises:
        VaultError: There is no vault now.
    """
    check_vault(root)
    try:
        status = root.stat()
        return root.resolve(), (status.st_dev, status.st_ino)
    except OSError as fault:
        raise VaultError(f"The vault {root} cannot be read: {fault.strerror}.") from fault
