"""Checks of what keeps the index current: the services, the watcher, and how many folders may be watched."""

import os
from pathlib import Path

from companion_app.doctor.report import Check
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.settings import IndexingSettings, VaultSettings
from companion_assets.daemon.running import running_services
from companion_assets.daemon.watch_state import read_watch_state
from companion_assets.daemon.worker_link import running_worker

_INOTIFY = Path("/proc/sys/fs/inotify")
_WATCHES = "max_user_watches"
_PLENTY = 524_288
_SHARE = 2  # of the limit, other programs of the same person want as much again
_AGAIN = "end companion up and start it again"


def check_services(indexing: IndexingSettings, paths: DataPaths) -> Check:
    """Whether `companion up` runs, with its worker and its watcher."""
    services = running_services(paths)
    if services is None:
        return Check("services", "ok", "not running; companion up serves the page and keeps the index current")
    where = f"page {services.app_url}, runs {services.dagster_url}"
    if running_worker(paths) is None:
        return Check("services", "warn", f"{where}; the worker does not run, so syncs take seconds longer", _AGAIN)
    if not (indexing.auto_sync and indexing.watch_fs_events):
        return Check("services", "ok", f"{where}; the vault is not watched, as set")
    state = read_watch_state(paths)
    if state is None:
        return Check(
            "services", "warn", f"{where}; the watcher does not run, the vault is looked at now and then", _AGAIN
        )
    if state.mode != "events" or state.reason:
        return Check("services", "warn", f"{where}; {state.reason}")
    return Check("services", "ok", f"{where}; the vault is watched")


def check_watches(vault: VaultSettings, limits: Path = _INOTIFY) -> Check:
    """Whether the system lets one user watch as many folders as the vault has.

    Args:
        vault: Where it is, and whether it is to be watched.
        limits: Where Linux tells its limits; other systems have none.
    """
    if vault.path is None or not (vault.indexing.auto_sync and vault.indexing.watch_fs_events):
        return Check("watched folders", "ok", "none is to be watched")
    try:
        limit = int((limits / _WATCHES).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return Check("watched folders", "ok", "this system has no limit that is known")
    folders = sum(1 for _ in os.walk(vault.path))
    detail = f"{folders:,} in the vault, {limit:,} allowed for all programs of one user"
    if _SHARE * folders <= limit:
        return Check("watched folders", "ok", detail)
    wanted = _PLENTY
    while wanted < 2 * _SHARE * folders:
        wanted *= 2
    fix = f"sudo sysctl fs.inotify.{_WATCHES}={wanted} (to keep it: that line in a file of /etc/sysctl.d)"
    return Check("watched folders", "warn", detail, fix)
