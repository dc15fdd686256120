"""How far the catalog is behind the vault, from a listing alone: what the reconciling sensor asks every 30 seconds."""

import hashlib
import time
from dataclasses import dataclass

from companion_assets.contracts.records import HeldRemovals
from companion_assets.stages.workspace import PARSER_VERSION, Workspace

_SETTLE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Drift:
    """Folders of the vault, and those that need a run.

    Attributes:
        folders: Every top-level folder that has notes, on disk or (kept by the guard against mass loss) in the
            catalog.
        dirty: Folder → fingerprint of its difference; the same difference always has the same fingerprint.
        held: The guard keeps notes that vanished; they make no folder dirty.
    """

    folders: tuple[str, ...]
    dirty: dict[str, str]
    held: HeldRemovals | None = None


def measure_drift(work: Workspace) -> Drift:
    """Compare the vault's listing with the catalog. Reads no note.

    A file younger than two seconds is left for the next look: its editor may still be writing.

    Raises:
        VaultError: The vault cannot be read.
    """
    scan, by_folder = work.scan(), work.folders()
    pending = {folder: counts.pending for folder, counts in work.catalog.counts_by_folder().items()}
    fresh = (time.time() - _SETTLE_SECONDS) * 1e9
    dirty: dict[str, str] = {}
    for folder in sorted({*by_folder, *work.catalog.folders()}):
        delta = work.catalog.diff_files(folder, by_folder.get(folder, []), PARSER_VERSION)
        marks = [f"{file.path}:{file.mtime_ns}:{file.size}" for file in delta.changed if file.mtime_ns < fresh]
        marks += [f"{path}:gone" for path in [*scan.gone(delta.vanished), *work.catalog.tombstones(folder)]]
        if pending.get(folder):
            marks.append(f"pending:{pending[folder]}")
        if marks:
            dirty[folder] = hashlib.sha256("\n".join(sorted(marks)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Drift(tuple(sorted(by_folder)), dirty)
