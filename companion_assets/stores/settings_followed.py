"""The settings as their file has them by now: an edit acts without a restart."""

from collections.abc import Callable
from pathlib import Path

from companion_assets.contracts.errors import SettingsError
from companion_assets.contracts.settings import Settings


class FollowedSettings:
    """Reads the settings again whenever their file has changed; while it cannot be used, the last good ones stay.

    Args:
        file: Whose changes count; it may appear later.
        load: Reads the settings.
        start: Those that are in force already; without them the first call reads.

    Attributes:
        fault: Why the file as it is now cannot be used, in one line; "" if it can.
    """

    def __init__(self, file: Path, load: Callable[[], Settings], start: Settings | None = None) -> None:
        self._file = file
        self._load = load
        self._settings = start or Settings()
        self._seen = self._mark() if start else None
        self.fault = ""

    def __call__(self) -> Settings:
        """The settings now. Costs one look at the file's time."""
        mark = self._mark()
        if mark != self._seen:
            self._seen = mark
            try:
                self._settings, self.fault = self._load(), ""
            except SettingsError as fault:
                self.fault = f"the settings cannot be used: {'; '.join(fault.faults) or fault}"
        return self._settings

    def _mark(self) -> tuple[int | None, ...]:
        try:
            status = self._file.stat()
        except OSError as fault:
            return (fault.errno,)
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
