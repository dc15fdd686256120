"""A vault that nobody may write into, and a look at every trace that writing would leave."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

Traces = dict[str, tuple[int, int, int, bytes]]


def traces(root: Path) -> Traces:
    """Path → inode, time of writing, time of any change, and content, of everything below and of the root itself.

    A folder's time of writing also tells of files that were made in it and removed again.
    """
    found = {}
    for path in (root, *root.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[path.relative_to(root).as_posix()] = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, content)
    return found


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Nobody but root may write into it meanwhile."""
    everything = [root, *root.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path in everything:
            path.chmod(0o755 if path.is_dir() else 0o644)


def without_privileges() -> list[str]:
    """Words before a command by which file modes count for it even if we are root; none if they count anyway."""
    if os.geteuid() != 0:
        return []
    assert shutil.which("setpriv"), "root needs setpriv (util-linux) for this test"
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
