"""`companion status`: what is indexed, how current it is, what was left out and why."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from rich.markup import escape
from rich.table import Table

from companion_app.cli.console import out, print_json
from companion_app.standing import Knowledge, ago, look, progress_words
from companion_assets.contracts.errors import StoreError, VaultError
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.contracts.settings import Settings
from companion_assets.stages.vault import scan_vault
from companion_assets.stages.vault_walk import rules_of
from companion_assets.stages.workspace import PARSER_VERSION
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.catalog_view import CatalogCounts
from companion_assets.stores.settings_file import load_settings
from companion_assets.stores.sizes import measure_sizes

_NOTHING = "Nothing is indexed yet. Run: companion index"
_SHARED = "shared models"  # by all data roots of this account
_SHOWN_PROBLEMS = 10
_UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))


@dataclass(frozen=True, slots=True)
class _Details:
    """What the terminal tells beyond the one look.

    Attributes:
        folders: Figures of each folder.
        partial, skipped: Path and reason.
        left_out: Reason → how many files and folders are left out on purpose.
        changed, gone: Notes that are new or changed on disk, and whose files are gone, since the last sync.
        listed: The vault could be looked at.
    """

    folders: Mapping[str, CatalogCounts] = field(default_factory=dict)
    partial: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    left_out: Mapping[str, int] = field(default_factory=dict)
    changed: int = 0
    gone: int = 0
    listed: bool = False


def show_status(*, as_json: bool) -> None:
    """Print where the vault stands.

    Raises:
        StoreError: The catalog or the index is damaged.
    """
    paths, settings = data_paths(), load_settings().settings
    catalog = Catalog(paths.catalog_db) if paths.catalog_db.exists() else None
    known = look(paths, settings, lambda: catalog or Catalog(paths.catalog_db))
    if known.fault:
        raise StoreError(known.fault)
    details = _details(settings, catalog)
    if details.listed and not details.gone:
        known = replace(known, held=None)  # they are back
    if as_json:
        print_json(_document(known, details, measure_sizes(paths)))
        return
    _print_notices(known)
    if known.index is None:
        out.print(
            _NOTHING if known.progress is None else f"The first sync is running: {progress_words(known.progress)}"
        )
        return
    _print_standing(known, details)
    _print_folders(details.folders)
    _print_left_out(details)
    _print_sizes(paths)


def _details(settings: Settings, catalog: Catalog | None) -> _Details:
    """What the catalog and a fresh listing of the vault tell. A vault that is not there is told of elsewhere."""
    known: dict[str, Any] = {}
    if catalog is not None:
        known = {"folders": catalog.counts_by_folder(), "partial": catalog.partial(), "skipped": catalog.skipped()}
    vault, indexing = settings.vault.path, settings.vault.indexing
    if vault is None:
        return _Details(**known)
    try:
        scan = scan_vault(vault, rules_of(indexing))
    except VaultError:
        return _Details(**known)
    known |= {"listed": True, "left_out": Counter(str(left.reason) for left in scan.left_out)}
    if catalog is not None:
        delta = catalog.diff(scan.files, PARSER_VERSION)
        unreadable = {path for path, _ in known["skipped"]}  # they are tried anew at every sync
        changed = sum(file.path not in unreadable for file in delta.changed)
        known |= {"changed": changed, "gone": len(scan.gone(delta.vanished))}
    return _Details(**known)


def _document(known: Knowledge, details: _Details, sizes: Mapping[str, int]) -> dict[str, Any]:
    return {
        **asdict(known.counts),
        "indexed": known.indexed,
        "folders": {name: asdict(folder) for name, folder in details.folders.items()},
        "skipped_notes": [{"path": path, "reason": reason} for path, reason in details.skipped],
        "partial_notes": [{"path": path, "reason": reason} for path, reason in details.partial],
        "left_out": dict(details.left_out),
        "since_last_sync": {"changed": details.changed, "gone": details.gone},
        "vault": {"path": known.vault, "fault": known.vault_fault},
        "index": json.loads(known.index.to_json()) if known.index else None,
        "last_sync": known.synced_at or None,
        "held_removals": {**asdict(known.held), "reason": known.held.reason} if known.held else None,
        "embedder_change": asdict(known.change) if known.change else None,
        "watching": asdict(known.watching),
        "services": asdict(known.services) if known.services else None,
        "progress": asdict(known.progress) if known.progress else None,
        "sizes": dict(sizes),
    }


def _print_notices(known: Knowledge) -> None:
    for notice in known.notices:
        out.say(notice, style="yellow")
    if known.held:
        out.say(f"{known.held.reason}.", style="yellow")


def _print_standing(known: Knowledge, details: _Details) -> None:
    index = known.index
    assert index is not None
    out.say(known.coverage)
    freshness = f"synced {ago(known.synced_at or index.published_at)} · {known.watching.words}"
    out.say(f"{index.chunks:,} passages · {index.embedder.model} · {freshness}")
    if known.progress:
        out.say(f"sync running: {progress_words(known.progress)}")
    elif behind := _behind(known, details):
        out.say(behind)
    if known.services:
        out.say(f"page {known.services.app_url} · runs {known.services.dagster_url}", style="dim")
    elif known.watching.mode == "off":
        out.say("companion up keeps the index current by itself", style="dim")


def _behind(known: Knowledge, details: _Details) -> str:
    gone = 0 if known.held else details.gone
    parts = [(details.changed, "new or changed on disk"), (gone, "gone from it")]
    told = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{told} since the last sync: companion sync" if told else ""


def _print_folders(folders: Mapping[str, CatalogCounts]) -> None:
    """A row a folder; a column of nothing but zeros is left out."""
    columns = {
        "notes": [folder.notes for folder in folders.values()],
        "passages": [folder.chunks for folder in folders.values()],
        "partial": [folder.partial for folder in folders.values()],
        "skipped": [folder.skipped for folder in folders.values()],
        "waiting": [folder.pending for folder in folders.values()],
    }
    shown = {heading: figures for heading, figures in columns.items() if any(figures)}
    table = Table(box=None, pad_edge=False)
    table.add_column("folder", overflow="ellipsis", no_wrap=True)
    for heading in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    for row, name in enumerate(folders):
        table.add_row(escape(name), *(f"{figures[row]:,}" if figures[row] else "" for figures in shown.values()))
    out.print()
    out.print(table)


def _print_left_out(details: _Details) -> None:
    if details.left_out:
        out.print()
        counts = sorted(details.left_out.items(), key=lambda pair: (-pair[1], pair[0]))
        out.say(f"left out: {', '.join(f'{count:,} × {reason}' for reason, count in counts)}", style="dim")
    problems = [(path, f"skipped, {reason}") for path, reason in details.skipped]
    problems += [(path, f"read in part, {reason}") for path, reason in details.partial]
    for path, reason in problems[:_SHOWN_PROBLEMS]:
        out.say(f"{path}: {reason}", style="dim")
    if len(problems) > _SHOWN_PROBLEMS:
        out.say(f"and {len(problems) - _SHOWN_PROBLEMS:,} more: companion status --json", style="dim")


def _print_sizes(paths: DataPaths) -> None:
    sizes = measure_sizes(paths)
    shared = sizes.pop(_SHARED, 0)
    parts = [f"{name} {_size(size)}" for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]) if size]
    of_all = f"; {_SHARED} {_size(shared)}" if shared else ""
    out.print()
    out.say(f"on disk {_size(sum(sizes.values()))}: {', '.join(parts)}{of_all}", style="dim")


def _size(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.0f} {name}" if size >= 10 * unit else f"{size / unit:.1f} {name}"
    return f"{size} B"
