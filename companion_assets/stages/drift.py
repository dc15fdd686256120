"""How far the catalog is behind the vault, from a listing alone: what the reconciling sensor asks every 30 seconds."""

import hashlib
import time
from collections import defaultdict
from dataclasses import dataclass

from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.records import HeldRemovals
from companion_assets.stages.vault import SETTLE_SECONDS
from companion_assets.stages.workspace import ENGINE, Workspace
from companion_assets.stores.index_table import building_table, read_manifest


@dataclass(frozen=True, slots=True)
class Drift:
    """Folders of the vault, and those that need a run.

    Attributes:
        folders: Every top-level folder that has notes, on disk or (kept by the guard against mass loss) in the
            catalog.
        dirty: Folder → fingerprint of its difference; the same difference always has the same fingerprint.
        held: The guard keeps notes that vanished; they make no folder dirty.
        unsettled: Folders with a file that may still be being written; look again soon.
    """

    folders: tuple[str, ...]
    dirty: dict[str, str]
    held: HeldRemovals | None = None
    unsettled: frozenset[str] = frozenset()


def measure_drift(work: Workspace, *, settle_seconds: float = SETTLE_SECONDS) -> Drift:
    """Compare the vault's listing with the catalog. Reads no note, but where one seems to have moved.

    Args:
        work: A workspace of its own: it looks at the vault once.
        settle_seconds: Files younger than this are left for the next look: their editor may still be writing.

    Raises:
        VaultError: The vault cannot be read.
    """
    difference, catalog = work.difference(), work.catalog
    now = time.time()
    marks: defaultdict[str, list[str]] = defaultdict(list)
    unsettled: set[str] = set()
    for folder, files in difference.changed.items():
        for file in files:
            age = now - file.mtime_ns / 1e9
            if 0 <= age < (SETTLE_SECONDS if file.path in difference.emptied else settle_seconds):
                unsettled.add(folder)
            else:
                marks[folder].append(f"{file.path}:{file.mtime_ns}:{file.size}")
    staying = difference.lost if difference.held else frozenset[str]()
    for path, known in difference.vanished.items():
        if path not in staying:
            marks[known.folder].append(f"{path}:gone")
    for path, folder in [*catalog.tombstones().items(), *_behind(work).items()]:
        marks[folder].append(f"{path}:pending")
    kept = {difference.vanished[path].folder for path in staying}
    dirty = {folder: _fingerprint(lines) for folder, lines in sorted(marks.items())}
    folders = tuple(sorted({*work.folders(), *kept}))
    return Drift(folders, dirty, difference.held, frozenset(unsettled))


def _behind(work: Workspace) -> dict[str, str]:
    """Path → folder of notes that the index lacks.

    While another embedder than that of the served index is in force, it is the index of that one that lacks them.
    """
    catalog = work.catalog
    if building := building_table(work.paths):
        return catalog.behind(building)
    try:
        served = read_manifest(work.paths)
    except StoreError:  # nothing published, or its pointer is damaged: the next run makes it anew
        return catalog.behind("")
    other_engine = work.engine is not None and catalog.fact(ENGINE) not in (None, list(work.engine))
    # A run was killed before it could publish, or a power loss has left files of different age.
    parted = catalog.committed(served.table) not in (None, served.version)
    return catalog.behind("" if other_engine or parted else served.table)


def _fingerprint(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
