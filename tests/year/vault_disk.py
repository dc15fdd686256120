"""A vault on disk with a clock of its own, and what one would expect to be a note of it.

Every writing takes a new time from that clock, a year of it for ten thousand edits: an edit that kept size and time
could not be noticed by anybody. Folders take its time, too: to the product, a folder that changed within the last
second is one in which a note may be in the middle of being saved.
"""

import datetime as dt
import hashlib
import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.year.texts import Marks, marks_in

T = TypeVar("T")

FOLDERS = ("Journal", "Projects/Old/2019", "People/Über uns", "Café", "R&D")
DENIED = (".obsidian", ".trash", "zzz-Archive")
TOP = Path()

_EDIT_NS = 365 * 24 * 3600 * 10**9 // 10_000
_TICK_NS = 10**6
_LATELY = 5


@dataclass(frozen=True, slots=True)
class NoteOnDisk:
    """A file that is a note: the hash of its bytes, and the marks of the paragraphs in it."""

    sha: str
    marks: frozenset[str]


class VaultDisk:
    """The files of a vault. All paths are relative to it.

    Args:
        root: The vault; made, with a few empty folders.
        attic: Where deleted things wait for being restored; outside the vault.
    """

    def __init__(self, root: Path, attic: Path) -> None:
        self.root = root
        self.marks = Marks()
        self._attic = attic
        self._now_ns = int(dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp()) * 10**9
        self._removed: list[tuple[Path, Path]] = []
        self._read: dict[tuple[Path, int, int, int], NoteOnDisk] = {}
        for folder in (*DENIED, *FOLDERS):
            (root / folder).mkdir(parents=True)
        attic.mkdir()
        (root / ".obsidian/app.json").write_text("{}")

    # --- what is there

    def files(self) -> list[Path]:
        """Notes that one sees in Obsidian, sorted, as the file system spells them."""
        found = []
        for folder, names, files in os.walk(self.root):
            names[:] = [name for name in names if name not in DENIED]
            found += [Path(folder, name) for name in files if name.endswith(".md")]
        return sorted(path.relative_to(self.root) for path in found if not path.is_symlink())

    def folders(self) -> list[Path]:
        """Folders that one sees in Obsidian, sorted; the vault itself is not among them."""
        found = []
        for folder, names, _ in os.walk(self.root):
            names[:] = [name for name in names if name not in DENIED and not Path(folder, name).is_symlink()]
            found += [Path(folder, name).relative_to(self.root) for name in names]
        return sorted(found)

    def homes(self) -> list[Path]:
        """Where a note may lie: the vault itself, and its folders."""
        return [TOP, *self.folders()]

    def readable(self) -> dict[str, NoteOnDisk]:
        """What should be indexed: NFC path → note. Of two names that differ in accents' spelling, the first counts."""
        found: dict[str, NoteOnDisk] = {}
        for path in sorted(map(str, self.files())):
            if "conflict" not in path.lower() and "/." not in f"/{path}":
                found.setdefault(nfc(path), self._note(Path(path)))
        return found

    def _note(self, path: Path) -> NoteOnDisk:
        status = (self.root / path).stat()
        key = (path, status.st_mtime_ns, status.st_size, status.st_ino)
        if key not in self._read:
            raw = self.read(path)
            self._read[key] = NoteOnDisk(hashlib.sha256(raw).hexdigest(), marks_in(raw.decode("utf-8", "replace")))
        return self._read[key]

    def free(self, folder: Path, name: str) -> Path:
        """A path in a folder that nothing has, not even in another spelling of its accents."""
        taken = {nfc(entry.name) for entry in (self.root / folder).iterdir()}
        stem, ending = (name.removesuffix(".md"), ".md") if name.endswith(".md") else (name, "")
        number = 1
        while nfc(name) in taken:
            number += 1
            name = f"{stem} {number}{ending}"
        return folder / name

    # --- what can be done

    def read(self, path: Path) -> bytes:
        """The bytes of a note."""
        return (self.root / path).read_bytes()

    def write(self, path: Path, raw: bytes, *, beside: bool = False) -> None:
        """Write as editors do: over the old file, or beside it and then in its place."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if beside:
            new = target.with_name(f".{target.name}.tmp")
            new.write_bytes(raw)
            new.replace(target)
        else:
            target.write_bytes(raw)
        self.touch(path)

    def touch(self, path: Path) -> None:
        """Give a file a new time."""
        self._now_ns += _TICK_NS
        os.utime(self.root / path, ns=(self._now_ns, self._now_ns))

    def move(self, path: Path, target: Path) -> None:
        """Move a note or a folder, over what is there."""
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / target)

    def remove(self, path: Path) -> None:
        """Delete a note or a folder; it can be restored."""
        kept = self._attic / f"{self._now_ns} {len(self._removed)}"
        (self.root / path).rename(kept)
        self._removed.append((kept, path))

    def restore(self, pick: int) -> None:
        """Bring back something lately deleted with its old times; where it was, if the place is free."""
        if self._removed:
            kept, path = self._removed.pop(-1 - pick % min(len(self._removed), _LATELY))
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            kept.rename(self.root / self.free(path.parent, path.name))

    def pass_time(self) -> None:
        """The time between two edits goes by."""
        self._now_ns += _EDIT_NS
        for folder, _, _ in os.walk(self.root):
            os.utime(folder, ns=(self._now_ns, self._now_ns))


def choose(things: Sequence[T], pick: int) -> T | None:
    """One of the things; None if there are none."""
    return things[pick % len(things)] if things else None


def nfc(path: str) -> str:
    """A path with its accents composed."""
    return unicodedata.normalize("NFC", path)


def nfd(path: str) -> str:
    """A path with its accents apart."""
    return unicodedata.normalize("NFD", path)
