"""`companion status --note`: where one note stands, and why."""

import datetime as dt
from dataclasses import asdict

from companion_app.cli.console import out, print_json
from companion_app.standing import ago
from companion_app.whereabouts import NoteFinder, NoteStanding, Whereabouts
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.running import running_services
from companion_assets.stores.catalog_view import CatalogView, NoteState
from companion_assets.stores.settings_file import load_settings

_WORDS = {
    NoteStanding.INDEXED: "indexed",
    NoteStanding.PARTIAL: "indexed in part",
    NoteStanding.SKIPPED: "skipped",
    NoteStanding.WAITING: "read, not in the index yet",
    NoteStanding.CHANGED: "changed on disk since it was read",
    NoteStanding.NEW: "not read yet",
    NoteStanding.LEFT_OUT: "left out",
    NoteStanding.GONE: "its file is gone",
}


def show_note(note: str, *, as_json: bool) -> None:
    """Print where a note stands.

    Args:
        note: Its path or name, as a person gives it.
        as_json: Print a document instead.

    Raises:
        CompanionError: There is no such note, or there are several.
    """
    paths = data_paths()
    catalog = CatalogView(paths.catalog_db) if paths.catalog_db.exists() else None
    found = NoteFinder(load_settings().settings.vault, catalog).find(note)
    url = _run_url(paths, found.state)
    if as_json:
        known = asdict(found.state) if found.state else {}
        print_json({**known, "path": found.path, "standing": found.standing, "reason": found.reason, "run_url": url})
        return
    out.say(f"{found.path}: {_WORDS[found.standing]}")
    for line in _details(found, url):
        out.say(f"  {line}", style="dim")


def _details(found: Whereabouts, url: str) -> list[str]:
    lines = [f"why: {found.reason}"] if found.reason else []
    state = found.state
    if state is None:
        return lines
    older = found.standing is NoteStanding.CHANGED and state.indexed
    if state.indexed:
        lines.append(
            f"{state.chunks:,} {'passage' if state.chunks == 1 else 'passages'} in the index"
            + " (of the older text)" * older
        )
    lines.append(f"read {_moment(state.updated_at)}")
    if state.published_at:
        lines.append(f"in the index since {_moment(state.published_at)}")
    if state.checked_at > state.updated_at:
        lines.append(f"found unchanged {_moment(state.checked_at)}")
    lines.append(f"run {url or state.run_id}")
    return lines


def _moment(moment: dt.datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}, {ago(moment.isoformat())}"


def _run_url(paths: DataPaths, state: NoteState | None) -> str:
    services = running_services(paths)
    return f"{services.dagster_url}/runs/{state.run_id}" if services and state and state.run_id else ""
