"""The vault as a folder of notes: listing them and reading one. The vault is only read, never written.

Listing and reading are apart, so that an unchanged note costs one look at its time and size, and a note that
changes or vanishes in between is one note's status and not the end of a run.
"""

import dataclasses
import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.paths import WINDOWS_HINT, is_windows_path
from companion_assets.contracts.records import Note, NoteFile, NoteStatus
from companion_assets.stages.decoding import decode_note
from companion_assets.stages.markdown import note_title, parse_note
from companion_assets.stages.vault_walk import LeftOut, LeftOutReason, VaultRules, VaultScan, VaultWalk

__all__ = ["MAX_NOTE_BYTES", "LeftOut", "LeftOutReason", "VaultScan", "check_vault", "read_note", "scan_vault"]

MAX_NOTE_BYTES = 32 * 1024 * 1024
SETTLE_SECONDS = 2.0  # younger files may still be being written
REPLACE_SECONDS = 1.0  # a file that was deleted so recently may be made anew


def scan_vault(root: Path, rules: VaultRules) -> VaultScan:
    """List the notes of a vault without reading them.

    Args:
        root: The vault.
        rules: Which names in it count.

    Raises:
        VaultError: The folder is missing, no folder, unreadable or wholly empty.
    """
    check_vault(root)
    return VaultWalk(root.resolve(), rules).walk()


def check_vault(root: Path) -> None:
    """See that the vault is there and holds something.

    Raises:
        VaultError: The folder is missing, no folder, unreadable or wholly empty, or names in it cannot be read.
    """
    if (encoding := sys.getfilesystemencoding()) != "utf-8":  # notes of other names would seem to be gone
        raise VaultError(
            f"The file names of the vault {root} are UTF-8, and this process reads them as {encoding}.",
            "Set PYTHONUTF8=1, or a locale such as C.UTF-8.",
        )
    try:
        if is_folder := root.is_dir():
            with os.scandir(root) as entries:
                empty = next(entries, None) is None
        else:
            exists = root.exists()
    except OSError as fault:  # no permission on the way, a connection that broke
        raise VaultError(f"The vault {root} cannot be read: {fault.strerror}.", "Check its permissions.") from fault
    if not is_folder:
        what = "is not a folder" if exists else "does not exist"
        hint = "Set vault.path to the folder of your Obsidian vault."
        if is_windows_path(root):
            hint = WINDOWS_HINT
        raise VaultError(f"The vault {root} {what}.", hint)
    if empty:
        raise VaultError(f"The vault {root} is empty.", "If it lives on a disk or share, check that it is connected.")


def read_note(root: Path, file: NoteFile, *, max_bytes: int = MAX_NOTE_BYTES) -> Note:
    """Read and parse one note. Never raises for what is in the file or has become of it.

    Args:
        root: The vault.
        file: As listed by `scan_vault`.
        max_bytes: What lies beyond is left out, and the note says so.

    Returns:
        The note; `sha` is the hash of the bytes read, "" when none could be.
    """
    try:
        raw, cut = _content(root, file, max_bytes)
    except OSError as fault:
        return _skipped(file, f"cannot be read: {fault.strerror or fault}")
    faults = [f"longer than {max_bytes:,} bytes; the rest was left out"] if cut else []
    decoded = decode_note(raw)
    note = parse_note(decoded.text, file, sha=hashlib.sha256(raw).hexdigest())
    faults += [fault for fault in (decoded.fault, note.reason) if fault]
    return dataclasses.replace(note, status=NoteStatus.PARTIAL, reason="; ".join(faults)) if faults else note


def hash_note(root: Path, file: NoteFile, *, max_bytes: int = MAX_NOTE_BYTES) -> str:
    """The content hash that `read_note` would give; "" when the file cannot be read."""
    try:
        raw, _ = _content(root, file, max_bytes)
    except OSError:
        return ""
    return hashlib.sha256(raw).hexdigest()


def wait_until_written(root: Path, file: NoteFile) -> NoteFile | None:
    """An emptied file once it has text again, or has been empty for two seconds.

    Many editors save by emptying the file and then writing it.

    Returns:
        The file as it is then; None if it is gone.
    """
    while True:
        try:
            status = (root / file.raw_path).stat()
        except OSError:
            return None
        if status.st_size or not 0 <= time.time() - status.st_mtime < SETTLE_SECONDS:
            return dataclasses.replace(file, mtime_ns=status.st_mtime_ns, size=status.st_size)
        time.sleep(0.05)


def vanished_just_now(root: Path, paths: Iterable[str]) -> bool:
    """Whether the folder of one of these missing notes changed within the last second.

    Some editors and sync tools save by deleting the file and making it anew: then it will be back in a moment.
    """
    return any(_changed_just_now((root / path).parent, root) for path in paths)


def _changed_just_now(folder: Path, root: Path) -> bool:
    """Of a folder that is gone too, what it lay in has changed."""
    while folder != root and not folder.is_dir():
        folder = folder.parent
    try:
        return 0 <= time.time() - folder.stat().st_mtime < REPLACE_SECONDS
    except OSError:
        return False


def _content(root: Path, file: NoteFile, max_bytes: int) -> tuple[bytes, bool]:
    """The bytes of a note, and whether there were more of them."""
    raw = _read_bytes(root / file.raw_path, max_bytes + 1)
    if len(raw) <= max_bytes:
        return raw, False
    return raw[: raw.rfind(b"\n", 0, max_bytes) + 1 or max_bytes], True


def _read_bytes(path: Path, limit: int) -> bytes:
    # Without O_NONBLOCK, opening a pipe that took the note's place would wait for ever.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        with open(handle, "rb", closefd=False) as stream:
            return stream.read(limit)
    finally:
        os.close(handle)


def _skipped(file: NoteFile, reason: str) -> Note:
    return Note(
        path=file.path,
        title=note_title(file.path),
        folder=file.folder,
        sha="",
        body="",
        body_line=1,
        index_lines=("",),
        status=NoteStatus.SKIPPED,
        reason=reason,
    )
