"""The vault as a folder: which files are notes, which are left out and why, and the reading of one.

The vault is only read. Links are never followed into folders: a link inside the vault leads to what is walked anyway
(or around in a loop), a link out of it leaves what the person pointed us at. What is left out is listed, never
dropped silently, and a scan that could not see everything says so: absence in it is not deletion.
"""

import dataclasses
import errno
import fnmatch
import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PureWindowsPath

from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.records import Note, NoteFile, NoteStatus
from companion_assets.stages.decoding import decode_note
from companion_assets.stages.markdown import note_title, parse_note

ROOT_FOLDER = "_root"
MAX_NOTE_BYTES = 32 * 1024 * 1024

# Names that sync tools give to the losing side: Syncthing, Dropbox, Nextcloud and Obsidian Sync, Seafile, ownCloud.
_CONFLICT_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\([^()]*\bconflicted copy\b[^()]*\)|\(SFConflict [^()]*\)|_conflict-\d{8}", re.IGNORECASE
)
_CLOUD_STUB = re.compile(r"\.(?P<name>.+)\.icloud")


class LeftOutReason(StrEnum):
    """Why something in the vault is not among the notes."""

    DENIED_FOLDER = "folder on the deny list"
    HIDDEN_FOLDER = "folder whose name starts with a dot"
    DENIED_NAME = "name matches a deny pattern"
    CONFLICT_COPY = "conflict copy of a sync tool"
    CLOUD_STUB = "not downloaded from the cloud"
    LINK_OUTSIDE = "link out of the vault"
    LINK_DANGLING = "link that leads nowhere"
    LINK_REPEATED = "link to what is in the vault already"
    NOT_A_FILE = "not a regular file"
    SAME_NAME = "same name as another file once accents are composed"
    BAD_NAME = "name is not valid Unicode"
    UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One thing that is not among the notes; `path` is relative to the vault (a cloud stub has its note's path)."""

    path: str
    reason: LeftOutReason


@dataclass(frozen=True, slots=True)
class VaultScan:
    """What is in the vault.

    Attributes:
        files: The notes, sorted by path.
        attachments: Paths of the other visible files, for the resolution of links.
        complete: Whether everything could be seen. If not, a missing note may still exist.
    """

    files: tuple[NoteFile, ...]
    left_out: tuple[LeftOut, ...]
    attachments: tuple[str, ...]
    complete: bool


def scan_vault(
    root: Path, *, file_patterns: Sequence[str], deny_dirs: Iterable[str], deny_patterns: Sequence[str]
) -> VaultScan:
    """List the notes of a vault without reading them.

    Args:
        root: The vault.
        file_patterns: Globs on file names that make a file a note, in any case (`*.md`).
        deny_dirs: Names of folders to stay out of, at any depth, case-sensitive. Folders that start with a dot
            are always left out.
        deny_patterns: Globs on names of notes to leave out, case-sensitive.

    Raises:
        VaultError: The folder is missing, no folder, unreadable or wholly empty.
    """
    walk = _Walk(
        root=_real_root(root),
        is_note=_any_of([pattern.lower() for pattern in file_patterns]),
        is_denied=_any_of(deny_patterns),
        deny_dirs=frozenset(deny_dirs),
    )
    walk.run()
    return walk.result()


def read_note(root: Path, file: NoteFile, *, max_bytes: int = MAX_NOTE_BYTES) -> Note:
    """Read and parse one note. Never raises for what is in or with the file.

    Args:
        root: The vault.
        file: As listed by `scan_vault`.
        max_bytes: What lies beyond is cut off, and the note says so.
    """
    try:
        raw = _read_bytes(root / file.raw_path, max_bytes + 1)
    except OSError as fault:
        return _skipped(file, f"cannot be read: {fault.strerror or fault}")
    faults = []
    if len(raw) > max_bytes:
        raw = raw[: raw.rfind(b"\n", 0, max_bytes) + 1 or max_bytes]
        faults.append(f"longer than {max_bytes:,} bytes; the rest was left out")
    decoded = decode_note(raw)
    note = parse_note(decoded.text, file, sha=hashlib.sha256(raw).hexdigest())
    faults += [fault for fault in (decoded.fault, note.reason) if fault]
    return dataclasses.replace(note, status=NoteStatus.PARTIAL, reason="; ".join(faults)) if faults else note


def _read_bytes(path: Path, limit: int) -> bytes:
    # Without O_NONBLOCK, opening a pipe that took the note's place would wait for ever.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return stream.read(limit)


def _skipped(file: NoteFile, reason: str) -> Note:
    return Note(
        file.path, note_title(file.path), file.folder, "", "", 1, ("",), status=NoteStatus.SKIPPED, reason=reason
    )


def _real_root(root: Path) -> Path:
    hint = "Set vault.path in the settings to your Obsidian vault, or pass its folder to the command."
    if not root.is_dir():
        if os.name == "posix" and PureWindowsPath(root).drive:
            hint = "This is a Windows path. From Linux (WSL) drive C: is the folder /mnt/c."
        what = "is not a folder" if root.exists() else "does not exist"
        raise VaultError(f"The vault {root} {what}.", hint)
    try:
        empty = next(os.scandir(root), None) is None
    except OSError as fault:
        raise VaultError(f"The vault {root} cannot be read: {fault.strerror}.", "Check its permissions.") from fault
    if empty:
        raise VaultError(f"The vault {root} is empty.", "If it lives on a disk or share, check that it is connected.")
    return Path(os.path.realpath(root))


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns) or r"(?!)")


def _composed(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFC", path)


@dataclass(slots=True)
class _Walk:
    """One walk through the folders; afterwards the links, which need to know what the walk found."""

    root: Path
    is_note: re.Pattern[str]
    is_denied: re.Pattern[str]
    deny_dirs: frozenset[str]
    files: list[NoteFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    complete: bool = True

    def run(self) -> None:
        folders = [""]
        while folders:
            prefix = folders.pop()
            try:
                with os.scandir(self.root / prefix) as entries:
                    folders += [path for entry in entries if (path := self._visit(entry, prefix))]
            except OSError:
                self._leave_out(prefix.rstrip("/"), LeftOutReason.UNREADABLE)
                self.complete = False
        for link in sorted(self.links):
            self._visit_link(link)

    def result(self) -> VaultScan:
        files: dict[str, NoteFile] = {}
        for file in sorted(self.files, key=lambda file: (file.path, file.raw_path)):
            if files.setdefault(file.path, file) is not file:
                self._leave_out(file.raw_path, LeftOutReason.SAME_NAME)
        left_out = tuple(sorted(self.left_out, key=lambda left: left.path))
        return VaultScan(tuple(files.values()), left_out, tuple(sorted(self.attachments)), self.complete)
