"""The vault as a folder of notes: listing them and reading one. The vault is only read, never written.

Listing and reading are apart, so that an unchanged note costs one look at its time and size, and a note that
changes or vanishes in between is one note's status and not the end of a run.
"""

import dataclasses
import errno
import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path, PureWindowsPath

from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.records import Note, NoteFile, NoteStatus
from companion_assets.stages.decoding import decode_note
from companion_assets.stages.markdown import note_title, parse_note
from companion_assets.stages.vault_walk import LeftOut, LeftOutReason, VaultScan, VaultWalk, name_filter

__all__ = ["MAX_NOTE_BYTES", "LeftOut", "LeftOutReason", "VaultScan", "read_note", "scan_vault"]

MAX_NOTE_BYTES = 32 * 1024 * 1024


def scan_vault(
    root: Path, *, file_patterns: Iterable[str], deny_dirs: Iterable[str], deny_patterns: Iterable[str]
) -> VaultScan:
    """List the notes of a vault without reading them.

    Args:
        root: The vault.
        file_patterns: Globs on file names that make a file a note, in any case (`*.md`).
        deny_dirs: Names of folders to stay out of, at any depth, case-sensitive.
        deny_patterns: Globs on names of notes to leave out, case-sensitive. Names that start with a dot and conflict
            copies of sync tools are always left out.

    Raises:
        VaultError: The folder is missing, no folder, unreadable or wholly empty.
    """
    _check_root(root)
    return VaultWalk(
        root=root.resolve(),
        is_note=name_filter(pattern.lower() for pattern in file_patterns),
        is_denied=name_filter(deny_patterns),
        deny_dirs=frozenset(deny_dirs),
    ).walk()


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


def _check_root(root: Path) -> None:
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        hint = "Set vault.path to the folder of your Obsidian vault."
        if os.name == "posix" and PureWindowsPath(root).drive:
            hint = "This is a Windows path. From Linux (WSL), drive C: is the folder /mnt/c."
        raise VaultError(f"The vault {root} {what}.", hint)
    try:
        with os.scandir(root) as entries:
            empty = next(entries, None) is None
    except OSError as fault:
        raise VaultError(f"The vault {root} cannot be read: {fault.strerror}.", "Check its permissions.") from fault
    if empty:
        raise VaultError(f"The vault {root} is empty.", "If it lives on a disk or share, check that it is connected.")
