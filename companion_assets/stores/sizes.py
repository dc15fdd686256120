"""How much of the disk each thing takes. Looks at the files alone, which may come and go meanwhile."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR

from companion_assets.contracts.paths import DataPaths, model_cache_dir

_SIDE_FILES = ("", "-wal", "-shm")


def measure_sizes(paths: DataPaths) -> dict[str, int]:
    """Bytes by name, for a person: what is not there yet has 0.

    About 1 s for 100,000 files; the data root has some thousand, nearly all of them Dagster's (one a run).
    """
    return {
        "index": size_of(paths.index_dir),
        "vectors": size_of_database(paths.vectors_db),
        "catalog": size_of_database(paths.catalog_db),
        "conversations": size_of_database(paths.companion_db),
        "run log": size_of(paths.dagster_home),
        "logs": size_of(paths.logs_dir),
        "models": size_of(paths.models_dir),
        "shared models": size_of(model_cache_dir()),
    }


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; links in it are not followed, what vanishes meanwhile is 0."""
    try:
        status = path.stat()
    except OSError:
        return 0
    return sum(_sizes_in(str(path))) if S_ISDIR(status.st_mode) else status.st_size


def size_of_database(path: Path) -> int:
    """Bytes of an SQLite file with its write-ahead log."""
    return sum(size_of(path.with_name(path.name + side)) for side in _SIDE_FILES)


def _sizes_in(root: str) -> Iterator[int]:
    folders = [root]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    continue
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_size
