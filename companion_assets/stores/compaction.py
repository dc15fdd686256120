"""Gives back the disk space that SQLite files no longer need: ours, and those in which Dagster keeps its run log."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from companion_assets.stores.sizes import size_of_database

_FREE_SHARE = 0.25  # a file is rewritten when more of it than this is free
_WAIT_SECONDS = 2.0  # for others who use the file


@dataclass(frozen=True, slots=True)
class Compaction:
    """What became of a file and its log.

    Attributes:
        before, after: Bytes on disk.
        left: Why it was not made smaller although it could be; empty if it was, or need not be.
    """

    before: int
    after: int
    left: str = ""


def compact_database(path: Path, *, seconds: float = 10.0) -> Compaction:
    """Fold the write-ahead log into the file, and rewrite the file if more than a quarter of it is free.

    Others may use the file meanwhile: readers go on, a writer waits as long as the rewriting lasts (60 MB/s were
    measured on a busy disk). What cannot be done now is left for another time; this never raises.

    Args:
        path: The file; nothing happens if it is missing.
        seconds: The rewriting is given up after so long. A writer waits at most about twice that, since the last
            step, copying back, cannot be broken off.
    """
    before, left = size_of_database(path), ""
    if path.exists():
        try:
            # By URI, so that it is not made anew should it vanish now.
            where = f"{path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(where, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
                _compact(connection, time.monotonic() + seconds)
        except sqlite3.Error as fault:
            left = f"rewriting it takes longer than {seconds:g} s" if "interrupted" in str(fault) else str(fault)
    return Compaction(before, size_of_database(path), left)


def _compact(connection: sqlite3.Connection, deadline: float) -> None:
    _checkpoint(connection)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free > _FREE_SHARE * pages:
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 1_000)
        connection.execute("VACUUM")
        connection.set_progress_handler(None, 0)
        _checkpoint(connection)


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Fold the log into the file, as far as nobody reads it."""
    patience = time.monotonic() + _WAIT_SECONDS
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] and time.monotonic() < patience:
        time.sleep(0.1)  # SQLite itself waits for readers and writers, but not for another who does the same
