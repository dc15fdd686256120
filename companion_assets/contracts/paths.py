"""Where each artifact lives under the data root. Computes paths, never creates anything."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

HOME_VARIABLE = "COMPANION_HOME"
CONFIG_VARIABLE = "COMPANION_CONFIG"
MODEL_CACHE_VARIABLE = "COMPANION_MODEL_CACHE"
DEFAULT_HOME = "~/.companion"
WINDOWS_HINT = "This is a Windows path. From Linux (WSL), drive C: is the folder /mnt/c."
_WINDOWS = re.compile(r"[A-Za-z]:(\\|$)|\\\\\w")


@dataclass(frozen=True, slots=True)
class DataPaths:
    """The data root and the files in it.

    Canonical (losing them loses data): `settings_file` and `companion_db`. Everything else can be rebuilt from the
    vault, but for the record of runs in `dagster_home`.
    """

    root: Path

    @property
    def settings_file(self) -> Path:
        """The person's own settings (`companion init` writes it)."""
        return self.root / "companion.yaml"

    @property
    def catalog_db(self) -> Path:
        """What was read of each note, and its chunks."""
        return self.root / "catalog.db"

    @property
    def vectors_db(self) -> Path:
        """Vectors by (embedder, text); survives every rebuild of the index."""
        return self.root / "vectors.db"

    @property
    def index_dir(self) -> Path:
        """The LanceDB database: one table per embedder identity."""
        return self.root / "index.lance"

    @property
    def companion_db(self) -> Path:
        """Conversations and facts."""
        return self.root / "companion.db"

    @property
    def models_dir(self) -> Path:
        """Weights: joined GGUF files and converted embedders."""
        return self.root / "models"

    @property
    def logs_dir(self) -> Path:
        """Rotated log files."""
        return self.root / "logs"

    @property
    def dagster_home(self) -> Path:
        """Dagster's instance folder: run log, event log, schedules."""
        return self.root / "dagster"

    @property
    def locks_dir(self) -> Path:
        """Lock files and pid files of running processes."""
        return self.root / "locks"

    @property
    def progress_file(self) -> Path:
        """What the running sync is doing; read by the terminal and the page."""
        return self.root / "progress.json"


def data_paths(home: str | Path | None = None) -> DataPaths:
    """The data root: `home`, else the variable COMPANION_HOME, else `~/.companion`."""
    chosen = home or os.environ.get(HOME_VARIABLE) or DEFAULT_HOME
    return DataPaths(Path(chosen).expanduser().absolute())


def cache_dir() -> Path:
    """What can be made again and belongs to no data root: `companion` under XDG_CACHE_HOME, else under `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "companion"


def model_cache_dir() -> Path:
    """Joined weights, shared by every data root of this account (a gigabyte is joined once, not once per vault).

    COMPANION_MODEL_CACHE, else `models` in the cache.
    """
    if chosen := os.environ.get(MODEL_CACHE_VARIABLE):
        return Path(chosen).expanduser().absolute()
    return cache_dir() / "models"


def is_windows_path(path: Path) -> bool:
    r"""True for `C:\Users\me` or `\\server\share` where such a path means nothing: on another system, such as WSL."""
    return os.name == "posix" and any(_WINDOWS.match(part) for part in path.parts)
