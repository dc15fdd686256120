"""`index`, `sync` and `reindex` in the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import asdict
from io import StringIO
from typing import TYPE_CHECKING

from companion_app.cli.console import err, out, print_json
from companion_app.cli.watching import Watched
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.running import running_services
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.database import database_faults
from companion_assets.stores.progress import read_progress

if TYPE_CHECKING:
    from companion_assets.daemon.launching import SyncResult


def sync_vault(*, as_json: bool, reason: str, rebuild: bool = False, confirm_removals: bool = False) -> int:
    """Run the sync job, showing progress; returns the exit status.

    Args:
        as_json: Print the result for another program.
        reason: For the run log: who asked.
        rebuild: Read and cut every note again.
        confirm_removals: Notes that the guard against mass loss keeps are really gone.
    """
    paths = data_paths()
    if rebuild:
        _mend(paths)
    result = run_watched(paths, visible=not as_json, reason=reason, rebuild=rebuild, confirm_removals=confirm_removals)
    if as_json:
        print_json(asdict(result))
        return 0 if result.success else 1
    if not result.success:
        raise CompanionError(
            f"the sync failed: {result.failure}",
            f"companion doctor tells more, companion reindex mends damaged files; run {result.run_id}",
        )
    _print_result(paths, result)
    if not confirm_removals and (held := CatalogView(paths.catalog_db).held_removals()):
        out.say(f"{held.reason}.", style="yellow")
    return 0


def run_watched(
    paths: DataPaths, *, visible: bool, reason: str, rebuild: bool = False, confirm_removals: bool = False
) -> "SyncResult":
    """Run the sync job of a data root to its end, with its progress on standard error if `visible`."""
    if read_progress(paths.progress_file):
        err.print("Another sync is running; this one begins when it ends.", style="dim")
    with Watched(paths, visible=visible):
        # A second of imports: only for commands that sync.
        from companion_assets.daemon.launching import run_sync
        from companion_assets.definitions import defs

        # What Dagster writes to the terminal (a full disk in ten lines of SQL) is in its log, or cannot be.
        with _resumable(paths), database_faults(paths.dagster_home, canonical=False), redirect_stderr(StringIO()):
            return run_sync(paths, defs, rebuild=rebuild, confirm_removals=confirm_removals, reason=reason)


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
