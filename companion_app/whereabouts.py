"""Which note a person means, and where it stands: on disk, in the catalog, in the index.

A note may be named by its path from the vault's root, from the current folder or from the disk's root, in the
spelling of any system, or by its mere name while no other has the same. What lies outside the vault is never looked at.
"""

import datetime as dt
import os
import posixpath
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path, PureWindowsPath

from companion_assets.contracts.errors import CompanionError, VaultError
from companion_assets.contracts.records import HeldRemovals, NoteStatus
from companion_assets.contracts.settings import VaultSettings
from companion_assets.stages.vault import scan_vault
from companion_assets.stages.vault_walk import VaultScan, rules_of
from companion_assets.stores.catalog_view import CatalogView, NoteState

_SHOWN = 10
_CLOSE = 0.7  # difflib's ratio of names that may be meant


class NoteStanding(StrEnum):
    """Where a note stands."""

    INDEXED = "indexed"
    PARTIAL = "partial"  # searched as far as it could be read
    SKIPPED = "skipped"  # it could not be read
    WAITING = "waiting"  # read, and not in the index yet
    CHANGED = "changed"  # on disk, since it was read
    NEW = "new"  # not read yet
    LEFT_OUT = "left out"  # on purpose
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where one note stands, and why.

    Attributes:
        reason: In words; "" where there is nothing to explain.
        state: What the catalog knows; None of a note that was never read.
    """

    path: str
    standing: NoteStanding
    reason: str
    state: NoteState | None


class NoteFinder:
    """Finds notes of one vault; lists it once.

    Args:
        vault: Where it is, and what of it is read.
        catalog: What was read; None before the first sync.
    """

    def __init__(self, vault: VaultSettings, catalog: CatalogView | None) -> None:
        if vault.path is None:
            raise VaultError("no vault is configured", "set vault.path, or run: companion init --vault PATH")
        self._root = vault.path
        self._catalog = catalog
        self._held: HeldRemovals | None = catalog.held_removals() if catalog else None
        self._fault, scan = "", VaultScan((), (), (), complete=False)
        try:
            indexing = vault.indexing
            scan = scan_vault(vault.path, rules_of(indexing))
        except VaultError as fault:
            self._fault = fault.message
        self._files = {file.path: file for file in scan.files}
        self._left_out = {left.path: left.reason for left in scan.left_out}
        known = {*catalog.paths(), *(path for path, _ in catalog.skipped())} if catalog else set()
        self._names = {*self._files, *self._left_out, *known}

    def find(self, text: str) -> Whereabouts:
        """The note that `text` means.

        Raises:
            CompanionError: There is none, there are several, or the path leads out of the vault.
        """
        path = self._path_of(text.strip())
        state = self._catalog.note_status(path) if self._catalog else None
        standing, reason = self._standing(path, state)
        return Whereabouts(path, standing, "; ".join(part for part in (self._fault, reason) if part), state)

    # --- which note

    def _path_of(self, text: str) -> str:
        keys = list(dict.fromkeys(self._inside(text)))
        for key in keys:
            for path in (key, f"{key}.md"):
                if self._is_known(path):
                    return path
        found = self._named(keys[0])
        if len(found) == 1:
            return found[0]
        if not found:
            raise CompanionError(f"there is no note {text} in the vault {self._root}", self._hint(keys[0]))
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        raise CompanionError(
            f"{len(found):,} notes may be meant by {text}", f"give the path of one: {', '.join(found[:_SHOWN])}{more}"
        )

    def _inside(self, text: str) -> Iterator[str]:
        """The paths in the vault that the text may be, at least one."""
        spellings = dict.fromkeys((text, text.replace("\\", "/")))
        inside = [key for spelled in spellings for key in self._relative(spelled) if _is_inside(key)]
        if not text or not inside:
            raise CompanionError(f"{text or 'an empty name'} is no note of the vault {self._root}", "give a path in it")
        yield from (unicodedata.normalize("NFC", key) for key in inside)

    def _relative(self, spelled: str) -> Iterator[str]:
        """The text as a path from the vault's root: as it is, from the current folder, from the disk's root."""
        place = Path(spelled)
        if not place.is_absolute():
            yield posixpath.normpath(spelled)
        windows = PureWindowsPath(spelled)
        if os.name == "posix" and windows.drive.endswith(":"):
            place = Path("/mnt", windows.drive[0].lower(), *windows.parts[1:])  # where WSL has such a drive
        for root in dict.fromkeys((self._root, Path(os.path.realpath(self._root)))):
            with suppress(OSError, ValueError, RuntimeError):  # no current folder, another drive, an unknown person's ~
                yield Path(os.path.relpath(place.expanduser(), root)).as_posix()

    def _is_known(self, path: str) -> bool:
        known = path in self._names or self._left_out_at(path) is not None
        return known or (self._catalog is not None and self._catalog.note_status(path) is not None)

    def _named(self, key: str) -> list[str]:
        """Notes of this path or name, whatever the case of its letters."""
        wanted = _bare(key)
        same = sorted(name for name in self._names if _bare(name) == wanted)
        return same or sorted(name for name in self._names if _bare(name).endswith(f"/{wanted}"))

    def _hint(self, key: str) -> str:
        names = {_bare(posixpath.basename(name)): name for name in sorted(self._names)}
        near = get_close_matches(_bare(posixpath.basename(key)), names, 3, _CLOSE)
        close = f"did you mean {' or '.join(names[name] for name in near)}?" if near else ""
        return close or self._fault or "give its path from the vault's root, or its name"

    # --- where it stands

    def _standing(self, path: str, state: NoteState | None) -> tuple[NoteStanding, str]:
        file = self._files.get(path)
        if file is None and state is not None and state.gone:
            return NoteStanding.GONE, "the next sync drops it from the index"
        if file is None and not self._fault:
            if left := self._left_out_at(path):
                return NoteStanding.LEFT_OUT, left
            return NoteStanding.GONE, self._held.reason if self._held else "companion sync removes it from the index"
        if state is None or state.gone:
            return NoteStanding.NEW, "companion sync reads it"
        if file is not None and dt.datetime.fromtimestamp(file.mtime_ns / 1e9, dt.UTC) != state.modified_at:
            return NoteStanding.CHANGED, "companion sync reads it again"
        if state.status is NoteStatus.SKIPPED:
            return NoteStanding.SKIPPED, state.reason
        if not state.indexed:
            return NoteStanding.WAITING, state.reason or "the next sync brings it into the index"
        return (NoteStanding.PARTIAL if state.status is NoteStatus.PARTIAL else NoteStanding.INDEXED), state.reason

    def _left_out_at(self, path: str) -> str | None:
        """Why the walk left this path out, or a folder above it."""
        if reason := self._left_out.get(path):
            return str(reason)
        above = path
        while above := posixpath.dirname(above):
            if reason := self._left_out.get(above):
                return f"{above} is left out: {reason}"
        return None


def _bare(path: str) -> str:
    return path.casefold().removesuffix(".md")


def _is_inside(key: str) -> bool:
    return key != "." and key.split("/", 1)[0] != ".."
