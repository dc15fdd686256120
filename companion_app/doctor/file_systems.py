"""What kind of place a folder lies in: a disk of this machine, a network share, a folder that a tool syncs.

SQLite and LanceDB trust the locks and the order of writes that only a local disk gives, and a tool that syncs a file
while it is written puts an older copy of it back.
"""

from collections.abc import Iterable
from pathlib import Path

import psutil

# As Linux, macOS and WSL name them; `fuse.…` are file systems that a program provides (sshfs, rclone …).
_SHARES = frozenset({
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "glusterfs", "lustre", "macfuse", "ncpfs", "nfs",
    "nfs3", "nfs4", "osxfuse", "prl_fs", "smb2", "smb3", "smbfs", "vboxsf", "vmhgfs", "webdav",
})  # fmt: skip
_LOCAL_FUSE = frozenset({"fuseblk", "fuse.fuseblk"})  # NTFS and exFAT of this machine
# First words of the names of folders, lower case.
_SYNCED_NAMES = {
    "box sync": "Box",
    "cloudstorage": "a cloud",
    "com~apple~clouddocs": "iCloud",
    "dropbox": "Dropbox",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "icloud drive": "iCloud",
    "iclouddrive": "iCloud",
    "megasync": "MEGA",
    "mobile documents": "iCloud",
    "my drive": "Google Drive",
    "nextcloud": "Nextcloud",
    "onedrive": "OneDrive",
    "owncloud": "ownCloud",
    "pcloud drive": "pCloud",
    "pclouddrive": "pCloud",
    "seafile": "Seafile",
    "syncthing": "Syncthing",
    "yandex.disk": "Yandex Disk",
}
_SYNCED_MARKS = {
    ".dropbox.cache": "Dropbox",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "ownCloud",
    ".stfolder": "Syncthing",
    ".tmp.driveupload": "Google Drive",
}

Mounts = Iterable[tuple[str, str]]
"""Mount points with the type of their file system."""


def why_unfit(folder: Path, mounts: Mounts | None = None) -> str:
    """Why databases should not lie in a folder, which need not exist yet; "" if nothing is known against it.

    Args:
        folder: The folder.
        mounts: What is mounted where; None asks the system.
    """
    place = folder.resolve()
    kind = _file_system(place, _mounted() if mounts is None else mounts)
    if kind in _SHARES:
        return f"on a network share ({kind})"
    if kind.startswith("fuse") and kind not in _LOCAL_FUSE:
        return f"on a file system that a program provides ({kind})"
    for above in (place, *place.parents):
        if tool := _synced_by(above):
            return f"in {above}, which {tool} syncs"
    return ""


def _mounted() -> list[tuple[str, str]]:
    try:
        return [(mount.mountpoint, mount.fstype) for mount in psutil.disk_partitions(all=True)]
    except (OSError, psutil.Error):
        return []


def _file_system(place: Path, mounts: Mounts) -> str:
    """The type of the innermost mount; of several at one point the last one covers the others."""
    found = [(len(Path(point).parts), kind) for point, kind in mounts if place.is_relative_to(point)]
    deepest = max((depth for depth, _ in found), default=0)
    return next((kind.lower() for depth, kind in reversed(found) if depth == deepest), "")


def _synced_by(folder: Path) -> str:
    name = folder.name.lower()
    for first, tool in _SYNCED_NAMES.items():
        if name == first or name.startswith((f"{first} ", f"{first}-")):
            return tool
    return next((tool for mark, tool in _SYNCED_MARKS.items() if (folder / mark).exists()), "")
