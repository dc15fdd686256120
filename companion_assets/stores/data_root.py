"""The folder everything of ours lies in: private, and never inside the vault."""

from pathlib import Path

from companion_assets.contracts.errors import StoreError, VaultError
from companion_assets.contracts.paths import DataPaths


def prepare_data_root(paths: DataPaths, vault: Path | None) -> None:
    """Create the data root with mode 0700. One that exists keeps its mode; `companion doctor` tells if it is open.

    Called by composition roots before any store: a store creates its own folder only, and the parents that are
    created on the way would get the mode of the umask.

    Raises:
        VaultError: The root lies inside the vault, where a sync tool or Obsidian would pick it up.
        StoreError: It cannot be created.
    """
    root = paths.root.resolve()
    if vault is not None and is_inside(root, vault):
        raise VaultError(
            f"the data root {paths.root} lies inside the vault {vault}",
            "set COMPANION_HOME to a folder outside the vault",
        )
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        root.mkdir(mode=0o700, exist_ok=True)
    except OSError as fault:
        hint = "set COMPANION_HOME to a folder that can be written"
        raise StoreError(f"the data root {paths.root} cannot be created: {fault.strerror}", hint) from fault


def is_inside(root: Path, vault: Path) -> bool:
    """Whether `root` is the vault or lies in it, links followed."""
    return vault.resolve() in (root.resolve(), *root.resolve().parents)
