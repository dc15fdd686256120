"""Sets aside what is damaged and can be made again; `companion reindex` begins with it.

Nothing canonical is touched. The damaged file stays beside the new one, named `….damaged`, until the next repair.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from companion_assets.contracts.errors import IndexMissing, StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.index import ChunkIndex

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def set_damaged_aside(paths: DataPaths) -> list[Path]:
    """Look at catalog, vectors, index and run log, and move away those that are damaged.

    Returns:
        What was moved, under its usual name.

    Raises:
        StoreError: Something damaged cannot be moved.
    """
    damaged = [file for file in _databases(paths) if _is_damaged(file)]
    damaged += [paths.index_dir] if _index_is_damaged(paths) else []
    for place in damaged:
        try:
            _move(place)
        except OSError as fault:
            raise StoreError(
                f"{place} is damaged and cannot be moved: {fault.strerror}", "check that it is yours and writable"
            ) from fault
    return damaged


def _databases(paths: DataPaths) -> Iterator[Path]:
    for file in (paths.catalog_db, paths.vectors_db, *sorted(paths.dagster_home.rglob("*.db"))):
        if file.is_file():
            yield file


def _is_damaged(file: Path) -> bool:
    """SQLite says so; a file that is only locked or out of reach is not."""
    try:
        with closing(sqlite3.connect(file)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError as fault:
        return getattr(fault, "sqlite_errorcode", None) in _DAMAGED


def _index_is_damaged(paths: DataPaths) -> bool:
    """Whether a reader of the published index would fail, in its rows or in its words."""
    if not paths.index_dir.is_dir():
        return paths.index_dir.exists()
    try:
        index = ChunkIndex.open(paths)
        index.health()
        index.text_leg("a", 1)
        index.note_leg("a", 1)
    except IndexMissing:
        return False
    except StoreError:
        return True
    return False


def _move(place: Path) -> None:
    target = place.with_name(f"{place.name}.damaged")
    if target.is_dir():
        shutil.rmtree(target)
    place.replace(target)
    for suffix in ("-wal", "-shm"):  # they belong to the file that is gone
        place.with_name(place.name + suffix).unlink(missing_ok=True)
