"""Checks of places: vault, data root, disk, index, run log."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from companion_app.doctor.file_systems import why_unfit
from companion_app.doctor.report import Check
from companion_assets.backends.factory import names_embedder
from companion_assets.backends.protocols import Embedder
from companion_assets.contracts.errors import BackendUnavailable, IndexMissing
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.settings import Settings, VaultSettings
from companion_assets.stores.data_root import is_inside

if TYPE_CHECKING:
    from companion_assets.stages.drift import Drift

GIGABYTE = 1_000_000_000
ROOM_WANTED = 2 * GIGABYTE  # an index of 10,000 notes with its older versions, and a log
ROOM_NEEDED = GIGABYTE // 5  # below this a sync may stop in the middle


def check_vault(vault: VaultSettings) -> Check:
    """Configured, a folder, readable; and how much of it Companion will read."""
    from companion_assets.stages.vault import scan_vault
    from companion_assets.stages.vault_walk import rules_of

    if vault.path is None:
        return Check("vault", "fail", "no vault is configured", "companion init --vault PATH")
    indexing = vault.indexing
    scan = scan_vault(vault.path, rules_of(indexing))
    folders = {file.folder for file in scan.files}
    detail = f"{vault.path}: {len(scan.files):,} notes in {len(folders):,} top-level folders"
    if not scan.files:
        return Check(
            "vault", "warn", f"{vault.path} holds no note", "check vault.path and vault.indexing.file_patterns"
        )
    if not scan.complete:
        return Check("vault", "warn", f"{detail}; some folders could not be read", "check their permissions")
    return Check("vault", "ok", detail)


def check_data_root(vault: VaultSettings, paths: DataPaths) -> Check:
    """Outside the vault, on a disk of this machine, private, writable."""
    root = paths.root
    if vault.path and is_inside(root, vault.path):
        detail = f"{root} lies inside the vault {vault.path}"
        return Check("data root", "fail", detail, "set COMPANION_HOME to a folder outside the vault")
    if unfit := why_unfit(root):
        fix = "set COMPANION_HOME to a folder on a disk of this machine that no tool syncs"
        return Check("data root", "warn", f"{root} lies {unfit}: databases break there", fix)
    if not root.exists():
        return Check("data root", "ok", f"{root} will be created when it is needed")
    if not root.is_dir():
        return Check("data root", "fail", f"{root} is a file", "set COMPANION_HOME to a folder")
    if not os.access(root, os.W_OK | os.X_OK):
        return Check("data root", "fail", f"{root} cannot be written", f"sudo chown -R $USER {root}")
    mode = root.stat().st_mode & 0o777
    if mode & 0o077:
        return Check("data root", "warn", f"{root} can be read by others (mode {mode:o})", f"chmod 700 {root}")
    return Check("data root", "ok", f"{root}, readable by you only")


def check_disk(paths: DataPaths) -> Check:
    """Room where the data root lies or will lie."""
    place = next(folder for folder in (paths.root, *paths.root.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / GIGABYTE:.1f} GB free at {place}"
    if free < ROOM_NEEDED:
        return Check("disk", "fail", detail, f"free at least {ROOM_NEEDED / GIGABYTE:.1f} GB")
    if free < ROOM_WANTED:
        return Check("disk", "warn", f"{detail}; a large vault may need more", "free some room")
    return Check("disk", "ok", detail)


def check_index(settings: Settings, paths: DataPaths) -> Check:
    """Published, and as far as the vault's listing tells, not behind the vault."""
    from companion_assets.stores.index_table import read_manifest

    try:
        manifest = read_manifest(paths)
    except IndexMissing:
        return Check("index", "warn", "no notes have been indexed yet", "companion index")
    detail = f"{manifest.notes:,} notes in {manifest.chunks:,} chunks, published {manifest.published_at}"
    if not names_embedder(settings.rag.embedding, manifest.embedder):
        other = f"{detail}; made by {manifest.embedder.model}, the settings name {settings.rag.embedding.model}"
        return Check("index", "warn", other, "companion index")
    drift = _drift(settings, paths)
    if drift and drift.held:
        fix = "connect the disk again; or, if they are really gone: companion sync --confirm-removals"
        return Check("index", "warn", f"{detail}; {drift.held.vanished:,} notes vanished at once and are kept", fix)
    if behind := sorted(drift.dirty) if drift else []:
        names = ", ".join(behind[:5]) + (" …" if len(behind) > 5 else "")
        return Check("index", "warn", f"{detail}; behind the vault in: {names}", "companion sync")
    return Check("index", "ok", detail)


def _drift(settings: Settings, paths: DataPaths) -> "Drift | None":
    """How far the catalog is behind the vault; None where one of them is not there yet."""
    from companion_assets.stages.drift import measure_drift
    from companion_assets.stages.workspace import Workspace

    if settings.vault.path is None or not paths.catalog_db.exists():
        return None
    work = Workspace(paths, settings.vault, settings.security, open_embedder=_no_embedder)
    try:
        return measure_drift(work)
    finally:
        work.close()


def _no_embedder() -> Embedder:  # the listing alone is compared
    raise BackendUnavailable("the doctor opens no embedder")


def check_run_log(paths: DataPaths) -> Check:
    """Dagster's instance folder, which keeps the record of every sync."""
    home = paths.dagster_home
    if not home.exists():
        return Check("run log", "ok", f"{home} will be created at the first sync")
    if not os.access(home, os.W_OK | os.X_OK):
        return Check("run log", "fail", f"{home} cannot be written", f"sudo chown -R $USER {home}")
    return Check("run log", "ok", f"{home}, {_size(home) / 1_000_000:.0f} MB")


def _size(folder: Path) -> int:
    files = (Path(where) / name for where, _, names in os.walk(folder) for name in names)
    return sum(file.lstat().st_size for file in files if file.exists())
