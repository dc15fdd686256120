"""`index`, `sync`, `reindex` and `status` in the terminal."""

import datetime as dt
import json
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import asdict
from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from companion_app.cli.console import err, out, print_json
from companion_app.cli.watching import Watched
from companion_assets.contracts.errors import CompanionError, IndexMissing
from companion_assets.contracts.manifests import IndexManifest
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.running import running_services
from companion_assets.stores.catalog_view import CatalogView, NoteState
from companion_assets.stores.database import database_faults
from companion_assets.stores.index_table import read_manifest
from companion_assets.stores.progress import read_progress

if TYPE_CHECKING:
    from companion_assets.daemon.launching import SyncResult

_SHOWN_PROBLEMS = 10
_NOTHING = "Nothing is indexed yet. Run: companion index"


def sync_vault(*, as_json: bool, reason: str, rebuild: bool = False) -> int:
    """Run the sync job, showing progress; returns the exit status."""
    paths = data_paths()
    if rebuild:
        _mend(paths)
    if read_progress(paths.progress_file):
        err.print("Another sync is running; this one begins when it ends.", style="dim")
    with Watched(paths, visible=not as_json):
        # A second of imports: only for commands that sync.
        from companion_assets.daemon.launching import run_sync
        from companion_assets.definitions import defs

        # What Dagster writes to the terminal (a full disk in ten lines of SQL) is in its log, or cannot be.
        with _resumable(paths), database_faults(paths.dagster_home, canonical=False), redirect_stderr(StringIO()):
            result = run_sync(paths, defs, rebuild=rebuild, reason=reason)
    if as_json:
        print_json(asdict(result))
        return 0 if result.success else 1
    if not result.success:
        raise CompanionError(
            f"the sync failed: {result.failure}",
            f"companion doctor tells more, companion reindex mends damaged files; run {result.run_id}",
        )
    _print_result(paths, result)
    return 0


def _mend(paths: DataPaths) -> None:
    """Move away what is damaged, so that it is made anew."""
    from companion_assets.stores.repair import set_damaged_aside

    for place in set_damaged_aside(paths):
        err.say(f"{place} was damaged; it is made anew, the old one is kept as {place.name}.damaged")


@contextmanager
def _resumable(paths: DataPaths) -> Iterator[None]:
    """Ctrl-C, in words: it ends a sync of this process, and only the waiting for one of the services."""
    try:
        yield
    except KeyboardInterrupt:
        if running_services(paths):
            err.print("\nThe sync goes on in the background.")
        else:
            err.print("\nStopped. What was done is kept; companion index goes on from there.")
        raise


def show_status(note: str | None, *, as_json: bool) -> int:
    """Print where the vault, or one note, stands; returns the exit status.

    Raises:
        CompanionError: Nobody has seen the note.
    """
    paths = data_paths()
    if note is None and not as_json and not paths.catalog_db.exists():
        out.print(_NOTHING)  # and nothing is created by looking
        return 0
    catalog = CatalogView(paths.catalog_db)
    if note is not None:
        return _show_note(catalog, note, as_json=as_json)
    try:
        manifest = read_manifest(paths)
    except IndexMissing:
        manifest = None
    if as_json:
        print_json(_document(catalog, manifest))
    elif manifest is None:
        out.print(_NOTHING)
    else:
        _print_status(catalog, manifest)
    return 0


def _document(catalog: CatalogView, manifest: IndexManifest | None) -> dict[str, Any]:
    return {
        **asdict(catalog.counts()),
        "folders": {name: asdict(folder) for name, folder in catalog.counts_by_folder().items()},
        "skipped_notes": [{"path": path, "reason": reason} for path, reason in catalog.skipped()],
        "index": json.loads(manifest.to_json()) if manifest else None,
    }


def _print_status(catalog: CatalogView, manifest: IndexManifest) -> None:
    table = Table("folder", box=None, pad_edge=False)
    for heading in ("notes", "chunks", "partial", "skipped", "pending"):
        table.add_column(heading, justify="right")
    for name, folder in catalog.counts_by_folder().items():
        problems = (folder.partial, folder.skipped, folder.pending)
        figures = (f"{folder.notes:,}", f"{folder.chunks:,}", *(f"{figure:,}" if figure else "" for figure in problems))
        table.add_row(escape(name), *figures)
    out.print(table)
    counts = catalog.counts()
    published = dt.datetime.fromisoformat(manifest.published_at).astimezone()
    out.say(
        f"{counts.notes:,} notes, {counts.chunks:,} chunks · {manifest.embedder.model} · {published:%Y-%m-%d %H:%M}"
    )
    skipped = catalog.skipped()
    for path, reason in skipped[:_SHOWN_PROBLEMS]:
        out.say(f"skipped {path}: {reason}", style="dim")
    if len(skipped) > _SHOWN_PROBLEMS:
        out.say(f"and {len(skipped) - _SHOWN_PROBLEMS:,} more: companion status --json", style="dim")


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
