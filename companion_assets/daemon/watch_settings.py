"""What the settings want watched; an edit of their file acts without a restart."""

import os
from dataclasses import dataclass
from pathlib import Path

from companion_assets.contracts.errors import SettingsError
from companion_assets.contracts.paths import CONFIG_VARIABLE, DataPaths
from companion_assets.contracts.settings_knowledge import VaultSettings
from companion_assets.stages.vault_walk import VaultRules, vault_rules
from companion_assets.stores.settings_file import load_settings


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
    """Reads the settings again whenever their file has changed.

    Args:
        paths: The data root.

    Attributes:
        fault: Why the file as it is now cannot be used, in one line; the last good settings stay in force.
    """

    def __init__(self, paths: DataPaths) -> None:
        self._file = Path(os.environ.get(CONFIG_VARIABLE) or paths.settings_file).expanduser()
        self._seen: object = ()
        self._plan = _plan(VaultSettings())
        self.fault = ""

    def plan(self) -> WatchPlan:
        """What is in force now. Costs one look at the file's time."""
        mark = self._mark()
        if mark != self._seen:
            self._seen = mark
            try:
                self._plan, self.fault = _plan(load_settings().settings.vault), ""
            except SettingsError as fault:
                self.fault = f"the settings cannot be used: {'; '.join(fault.faults) or fault}"
        return self._plan

    def _mark(self) -> object:
        try:
            status = self._file.stat()
        except OSError as fault:
            return fault.errno
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _plan(vault: VaultSettings) -> WatchPlan:
    indexing = vault.indexing
    rules = vault_rules(
        file_patterns=indexing.file_patterns, deny_dirs=indexing.deny_dirs, deny_patterns=indexing.deny_patterns
    )
    if not indexing.auto_sync:
        return WatchPlan(None, rules, "vault.indexing.auto_sync is off")
    if not indexing.watch_fs_events:
        return WatchPlan(None, rules, "vault.indexing.watch_fs_events is off")
    if vault.path is None:
        return WatchPlan(None, rules, "no vault is configured (companion init --vault PATH)")
    return WatchPlan(vault.path, rules)
