"""The folder everything of ours lies in: private, and apart from the vault."""

import os
from pathlib import Path

from companion_assets.contracts.errors import StoreError, VaultError
from companion_assets.contracts.paths import WINDOWS_HINT, DataPaths, is_windows_path


def prepare_data_root(paths: DataPaths, vault: Path | None) -> None:
    """Create the data root with mode 0700. One that exists keeps its mode; `companion doctor` tells if it is open.

    Called by composition roots before any store: a store creates its own folder only, and the parents that are
    created on the way would get the mode of the umask.

    Raises:
        VaultError: The root lies inside the vault, where a sync tool or Obsidian would pick it up, or the vault
            inside the root, where it would be taken for something that can be made again.
        StoreError: It cannot be created or written, or is a path of Windows on another system.
    """
    root = paths.root.resolve()
    if vault is not None:
        keep_apart(root, vault)
    hint = "set COMPANION_HOME to a folder that can be written"
    if is_windows_path(paths.root) and not root.exists():  # it would be made below the current folder, wherever that is
        raise StoreError(f"the data root {paths.root} does not exist", WINDOWS_HINT)
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        root.mkdir(mode=0o700, exist_ok=True)
    except OSError as fault:
        reason = "a file is in its place" if root.is_file() else fault.strerror
        raise StoreError(f"the data root {paths.root} cannot be created: {reason}", hint) from fault
    if not os.access(root, os.W_OK | os.X_OK):
        raise StoreError(f"the data root {paths.root} cannot be written", f"chmod u+rwx {paths.root}, or {hint}")


def keep_apart(root: Path, vault: Path) -> None:
    """Data root and vault must not lie in each other.

    Raises:
        VaultError: They do.
    """
    if is_inside(root, vault):
        raise VaultError(
            f"the data root {root} lies inside the vault {vault}", "set COMPANION_HOME to a folder outside the vault"
        )
    if is_inside(vault, root):
        raise VaultError(f"the vault {vault} lies inside the data root {root}", "move the vault out of it")


def is_inside(root: Path, vault: Path) -> bool:
    """Whether `root` is the vault or lies in it, links followed."""
    return vault.resolve() in (root.resolve(), *root.resolve().parents)
