"""A big file joined once from parts: hashed while it is written, renamed when complete, stamped when verified.

The stamp beside the file holds its sha256, size and mtime, so that later calls need not hash a gigabyte. Two
processes may ask at once: one joins, the other waits for its lock and finds the file.
"""

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock

from companion_assets.backends.wheel_parts import PartFile
from companion_assets.contracts.errors import BackendUnavailable

Progress = Callable[[int, int], None]

BLOCK = 1 << 20
STAMP = ".verified"
MARGIN = 64 << 20  # bytes left free beside the joined file


def is_intact(target: Path, sha256: str, size: int, *, verify: bool = False) -> bool:
    """Whether `target` is the complete file; hashes it only on `verify`, or where the stamp does not fit."""
    if not target.is_file() or target.stat().st_size != size:
        return False
    if not verify and _read_stamp(target) == _stamp_of(target, sha256):
        return True
    with target.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        _beside(target, STAMP).unlink(missing_ok=True)
        return False
    _write_stamp(target, sha256)
    return True


def join_parts(parts: Sequence[PartFile], target: Path, sha256: str, size: int, progress: Progress | None) -> None:
    """Write the parts, one after the other, to `target`, unless another process did meanwhile.

    Raises:
        BackendUnavailable: The disk is too full, a part cannot be read, or the whole is not what `sha256` says.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(_beside(target, ".lock")):
        if is_intact(target, sha256, size):
            return
        _need_space(target.parent, size)
        unfinished = _beside(target, ".unfinished")
        try:
            found = _write(parts, unfinished, size, progress)
            if found != sha256:
                origins = ", ".join(sorted({str(part.path.parent) for part in parts}))
                raise BackendUnavailable(
                    f"{target.name} joined from {origins} is not the pinned file (sha256 {found[:12]}…)",
                    "delete those wheels and download them again",
                )
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        _write_stamp(target, sha256)


def _write(parts: Sequence[PartFile], path: Path, size: int, progress: Progress | None) -> str:
    """Copy, hash and flush to the disk; returns the sha256."""
    digest = hashlib.sha256()
    done = 0
    with path.open("wb") as out:
        for part in parts:
            try:
                with part.open() as source:
                    while block := source.read(BLOCK):
                        out.write(block)
                        digest.update(block)
                        done += len(block)
                        if progress:
                            progress(done, size)
            except zipfile.BadZipFile as fault:
                raise BackendUnavailable(
                    f"{part.path} is damaged: {fault}", "delete it and download it again"
                ) from fault
            except OSError as fault:
                raise BackendUnavailable(f"cannot copy {part.path} to {path.parent}: {fault.strerror}") from fault
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _need_space(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size + MARGIN:
        raise BackendUnavailable(
            f"{folder} has {free / 1e9:.1f} GB free and the weights need {(size + MARGIN) / 1e9:.1f} GB",
            "free some space, or set COMPANION_MODEL_CACHE to a folder on another disk",
        )


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(target.name + suffix)


def _stamp_of(target: Path, sha256: str) -> dict[str, str | int]:
    stat = target.stat()
    return {"sha256": sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _read_stamp(target: Path) -> object:
    try:
        return json.loads(_beside(target, STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write_stamp(target: Path, sha256: str) -> None:
    draft = _beside(target, f"{STAMP}.{os.getpid()}")
    draft.write_text(json.dumps(_stamp_of(target, sha256)), encoding="utf-8")
    draft.replace(_beside(target, STAMP))
