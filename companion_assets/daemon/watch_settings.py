"""What the settings want watched; an edit of their file acts without a restart."""

import os
from dataclasses import dataclass
from pathlib import Path

from companion_assets.contracts.paths import CONFIG_VARIABLE, DataPaths
from companion_assets.contracts.settings_knowledge import VaultSettings
from companion_assets.stages.vault_walk import VaultRules, rules_of
from companion_assets.stores.settings_file import load_settings
from companion_assets.stores.settings_followed import FollowedSettings


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """What to watch.

    Attributes:
        root: The vault; None if nothing is to be watched.
        rules: Which names in it count.
        reason: Why nothing is to be watched.
    """

    root: Path | None
    rules: VaultRules
    reason: str = ""


class WatchSettings:
    """The plan of the settings in force.

    Args:
        paths: The data root.
    """

    def __init__(self, paths: DataPaths) -> None:
        file = Path(os.environ.get(CONFIG_VARIABLE) or paths.settings_file).expanduser()
        self._followed = FollowedSettings(file, lambda: load_settings().settings)
        self._vault: VaultSettings | None = None
        self._plan = _plan(VaultSettings())

    @property
    def fault(self) -> str:
        """Why the file as it is now cannot be used; the last good settings stay in force."""
        return self._followed.fault

    def plan(self) -> WatchPlan:
        """What is in force now. Costs one look at the file's time."""
        vault = self._followed().vault
        if vault is not self._vault:
            self._vault, self._plan = vault, _plan(vault)
        return self._plan


def _plan(vault: VaultSettings) -> WatchPlan:
    indexing = vault.indexing
    rules = rules_of(indexing)
    if not indexing.auto_sync:
        return WatchPlan(None, rules, "vault.indexing.auto_sync is off")
    if not indexing.watch_fs_events:
        return WatchPlan(None, rules, "vault.indexing.watch_fs_events is off")
    if vault.path is None:
        return WatchPlan(None, rules, "no vault is configured (companion init --vault PATH)")
    return WatchPlan(vault.path, rules)
