"""`index`, `sync`, `reindex` and `status` in the terminal."""

import datetime as dt
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from companion_app.cli.console import err, out, print_json
from companion_app.cli.watching import Watched
from companion_assets.contracts.errors import CompanionError, IndexMissing
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.stores.catalog_view import CatalogView, NoteState
from companion_assets.stores.index_table import read_manifest
from companion_assets.stores.progress import read_progress

if TYPE_CHECKING:
    from companion_assets.daemon.launching import SyncResult

_SHOWN_PROBLEMS = 10


def sync_vault(*, as_json: bool, reason: str, rebuild: bool = False) -> int:
    """Run the sync job, showing progress; returns the exit status."""
    paths = data_paths()
    if read_progress(paths.progress_file):
        err.print("Another sync is running; this one begins when it ends.", style="dim")
    with Watched(paths, visible=not as_json):
        # A second of imports: only for commands that sync.
        from companion_assets.daemon.launching import run_sync
        from companion_assets.definitions import defs

        result = run_sync(paths, defs, rebuild=rebuild, reason=reason)
    if as_json:
        print_json(asdict(result))
        return 0 if result.success else 1
    if not result.success:
        raise CompanionError(f"the sync failed: {result.failure}", f"its log: run {result.run_id}; companion doctor")
    _print_result(paths, result)
    return 0


def show_status(note: str | None, *, as_json: bool) -> int:
    """Print where the vault, or one note, stands; returns 1 for a note nobody has seen."""
    paths = data_paths()
    catalog = CatalogView(paths.catalog_db)
    if note is not None:
        return _show_note(catalog, note, as_json=as_json)
    counts, folders = catalog.counts(), catalog.counts_by_folder()
    problems = {"skipped": catalog.skipped(), "partial": catalog.partial()}
    try:
        manifest = read_manifest(paths)
    except IndexMissing:
        manifest = None
    if as_json:
        document = {
            **asdict(counts),
            "folders": {name: asdict(folder) for name, folder in folders.items()},
            **{
                f"{kind}_notes": [{"path": path, "reason": reason} for path, reason in notes]
                for kind, notes in problems.items()
            },
            "index": json.loads(manifest.to_json()) if manifest else None,
        }
        print_json(document)
        return 0
    if manifest is None:
        out.print("Nothing is indexed yet. Run: companion index")
        return 0
    table = Table("folder", box=None, pad_edge=False)
    for heading in ("notes", "chunks", "partial", "skipped", "pending"):
        table.add_column(heading, justify="right")
    for name, folder in folders.items():
        unusual = (folder.partial, folder.skipped, folder.pending)
        figures = (f"{folder.notes:,}", f"{folder.chunks:,}", *(f"{figure:,}" if figure else "" for figure in unusual))
        table.add_row(escape(name), *figures)
    out.print(table)
    published = dt.datetime.fromisoformat(manifest.published_at).astimezone()
    out.say(
        f"{counts.notes:,} notes, {counts.chunks:,} chunks · {manifest.embedder.model} · {published:%Y-%m-%d %H:%M}"
    )
    for kind, notes in problems.items():
        for path, reason in notes[:_SHOWN_PROBLEMS]:
            out.print(f"{kind} {path}: {reason}", markup=False, style="dim")
        if (rest := len(notes) - _SHOWN_PROBLEMS) > 0:
            out.print(f"{kind}: {rest:,} more; companion status --json lists all", style="dim")
    return 0


def _show_note(catalog: CatalogView, note: str, *, as_json: bool) -> int:
    state = catalog.note_status(note)
    if state is None:
        raise CompanionError(f"no note {note} has been seen", "give its path from the vault's root, with .md")
    if as_json:
        print_json(asdict(state))
        return 0
    out.print(f"{state.path}: {_standing(state)}", markup=False)
    if state.reason:
        out.print(f"  why: {state.reason}", markup=False)
    out.print(
        f"  {state.chunks} chunks · read {state.updated_at:%Y-%m-%d %H:%M} UTC · run {state.run_id}", markup=False
    )
    return 0


def _standing(state: NoteState) -> str:
    if state.gone:
        return "its file is gone"
    if not state.indexed:
        return "skipped" if state.status == "skipped" else "read, not in the index yet"
    return "indexed" if state.status == "ok" else "indexed in part"


def _print_result(paths: DataPaths, result: "SyncResult") -> None:
    read = result.counts.get("notes", {})
    embedded = result.counts.get("embeddings", {})
    counts = CatalogView(paths.catalog_db).counts()
    out.say(
        f"{read.get('read', 0):,} notes read, {read.get('removed', 0):,} removed, "
        f"{embedded.get('embedded', 0):,} passages embedded in {result.seconds:.1f} s. "
        f"The index holds {counts.chunks:,} passages of {counts.notes - counts.skipped:,} notes."
    )
    if counts.skipped or counts.partial:
        out.print(f"{counts.skipped} skipped, {counts.partial} read in part: companion status", style="dim")
