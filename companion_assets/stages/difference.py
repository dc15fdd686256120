"""What has changed in the vault as a whole since it was last read, and the guard against mass loss.

The whole vault, whichever folders a run is for: a note that vanished from one folder may lie in another, and only
from all of them can be seen that too much is gone at once. Costs one listing and one query; nothing is read, but
files in which the text of a vanished note may lie.
"""

import datetime as dt
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from companion_assets.contracts.records import HeldRemovals, NoteFile
from companion_assets.stages.vault import hash_note
from companion_assets.stages.vault_walk import VaultScan
from companion_assets.stores.catalog import FileDelta, KnownNote

# More than fifty notes, and more than a tenth: a disk that is half there, not a person tidying up.
MOST_REMOVALS = 50
MOST_REMOVALS_SHARE = 0.1
_EXAMPLES = 5


@dataclass(slots=True)
class Difference:
    """The vault against the catalog.

    Attributes:
        changed: Folder → files to read.
        emptied: Paths among them whose file was emptied, or is just being written.
        vanished: Notes that are surely not where they were, and are not marked as gone yet.
        moving: Those of them whose text lies in a changed file: they go when that file is read.
        lost: Those whose text is nowhere else in the vault.
        held: Why the lost ones stay, if they are too many; None if they may go.
        as_told: Not many more are lost than when this was last written down.
    """

    changed: Mapping[str, list[NoteFile]]
    emptied: frozenset[str]
    vanished: dict[str, KnownNote]
    moving: frozenset[str]
    lost: frozenset[str]
    held: HeldRemovals | None
    as_told: bool
    _taken: set[str] = field(default_factory=set)

    def arrived(self, shas: Iterable[str]) -> list[str]:
        """Vanished notes whose text was found under another path."""
        found = set(shas)
        return self._take(path for path, known in self.vanished.items() if known.sha and known.sha in found)

    def removable(self, folder: str, *, confirmed: bool = False) -> list[str]:
        """Notes of a folder that may be marked as gone; of any folder, if their text is in the vault elsewhere.

        Args:
            folder: Their folder.
            confirmed: The person has said that so many notes are really gone. It does not count if many more have
                vanished since they were told.
        """
        staying = self.moving | self.lost if self.held and not (confirmed and self.as_told) else self.moving
        mine = (path for path, known in self.vanished.items() if known.folder == folder or path not in self.lost)
        return self._take(path for path in mine if path not in staying)

    def _take(self, paths: Iterable[str]) -> list[str]:
        """Each note once in a run."""
        taken = [path for path in paths if path not in self._taken]
        self._taken.update(taken)
        return sorted(taken)


def compare(root: Path, scan: VaultScan, delta: FileDelta, before: HeldRemovals | None = None) -> Difference:
    """Compare a listing with the catalog.

    Args:
        root: The vault.
        scan: Its listing.
        delta: What the catalog says of it.
        before: What the guard held when it last looked.
    """
    changed: defaultdict[str, list[NoteFile]] = defaultdict(list)
    for file in delta.changed:
        changed[file.folder].append(file)
    gone = scan.gone(delta.vanished)
    vanished = {path: known for path, known in delta.vanished.items() if path in gone}
    # A text that is still there was a copy, or has moved and been read at its new place by a run that was broken off.
    # Of a note that could not be read (it has no hash) nothing is known that could be lost.
    missed = {path: known for path, known in vanished.items() if known.sha and known.sha not in delta.present}
    moving = _moving(root, missed, delta.changed) if missed else frozenset()
    lost = sorted(missed.keys() - moving)
    limit = max(MOST_REMOVALS, MOST_REMOVALS_SHARE * delta.known)
    as_told = before is None or len(lost) <= before.vanished + limit
    held = None
    if len(lost) > limit or (lost and not scan.files):
        since = before.since if before else dt.datetime.now(dt.UTC).replace(microsecond=0)
        held = HeldRemovals(len(lost), delta.known, tuple(lost[:_EXAMPLES]), since)
    return Difference(changed, delta.emptied, vanished, moving, frozenset(lost), held, as_told)


def _moving(root: Path, vanished: Mapping[str, KnownNote], changed: Iterable[NoteFile]) -> frozenset[str]:
    """Vanished notes whose text lies in a changed file. Only files of the same size are read for it.

    A file that went on since it was listed may hold the text too: the next look will tell.
    """
    sizes = {known.size for known in vanished.values()}
    alike = [file for file in changed if file.size in sizes]
    found = {file: hash_note(root, file) for file in alike}
    went_on = {file.size for file, sha in found.items() if not sha and not os.path.lexists(root / file.raw_path)}
    texts = frozenset(found.values()) - {""}
    return frozenset(path for path, known in vanished.items() if known.sha in texts or known.size in went_on)
