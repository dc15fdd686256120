"""Keeps log files small while their writers keep them open."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LogLimits:
    """How much is kept of each log.

    Attributes:
        bytes: A longer file is rotated.
        kept: Earlier files beside it: `app.log.1` is the newest of them.
    """

    bytes: int
    kept: int


def rotate(log: Path, limits: LogLimits) -> bool:
    """Make a long log the newest of the earlier ones, and empty it.

    Copied and emptied, not renamed: its writer keeps it open, and appends. A line that is written between the two is
    lost. On a disk that refuses or is nearly full, the log stays as it is.

    Returns:
        Whether it was.
    """
    earlier = [log.with_name(f"{log.name}.{number}") for number in range(1, limits.kept + 1)]
    partial = log.with_name(f".{log.name}.rotating")
    try:
        size = log.stat().st_size
        if size <= limits.bytes or shutil.disk_usage(log.parent).free < 2 * size:
            return False
        if earlier:
            shutil.copyfile(log, partial)
            partial.chmod(0o600)
        for older, newer in reversed(list(zip(earlier[1:], earlier, strict=False))):
            with suppress(FileNotFoundError):
                newer.replace(older)
        if earlier:
            partial.replace(earlier[0])
        with log.open("r+b") as file:
            file.truncate()
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        return False
    return True
