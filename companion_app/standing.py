"""How the knowledge of the vault stands: what is indexed, how current that is, and what is in the way.

One look at files and counters. Nothing is loaded, opened or changed by it, so that the page may look every two
seconds. Terminal, page and API say it in the same words.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from companion_assets.backends.factory import names_embedder
from companion_assets.contracts.errors import IndexMissing, StoreError, VaultError
from companion_assets.contracts.manifests import IndexManifest
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.records import HeldRemovals
from companion_assets.contracts.settings import IndexingSettings, Settings
from companion_assets.daemon.running import Services, running_services
from companion_assets.daemon.watch_state import read_watch_state
from companion_assets.stages.vault import check_vault
from companion_assets.stores.catalog_view import CatalogCounts, CatalogView
from companion_assets.stores.index_table import read_manifest
from companion_assets.stores.migration import Migrated, measure_migration
from companion_assets.stores.progress import Progress, read_progress

_SENSOR_SECONDS = 30
_HOUR = 60
_DAY = 24 * _HOUR


@dataclass(frozen=True, slots=True)
class EmbedderChange:
    """The settings name another embedder than the one that made the index.

    Attributes:
        wanted, served: Names of the models.
        texts: How far the new index is.
    """

    wanted: str
    served: str
    texts: Migrated

    @property
    def words(self) -> str:
        """The same as a sentence."""
        done, total = self.texts.done, self.texts.total
        answers = f"search still answers from {self.served}"
        if not done:
            return f"The settings name {self.wanted}: the next sync makes its index, {answers}."
        how_far = f"{share_words(done, total)} done" if done < total else "being published"
        return f"Changing to {self.wanted}: its index is {how_far}, {answers}."


@dataclass(frozen=True, slots=True)
class Watching:
    """How a change in the vault is noticed.

    Attributes:
        mode: `events`: within a second or two; `looks`: by looking from time to time; `off`: when somebody asks.
        words: The same for a person.
        trouble: What is in the way, if it is not as it should be.
    """

    mode: str
    words: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of the vault.

    Attributes:
        vault: Its folder; "" while none is configured.
        vault_fault: Why it cannot be read at this moment, and that nothing is lost by that.
        counts: What was read of it.
        index: What is searched; None before the first sync.
        synced_at: When a sync last ended well, whether or not it changed anything, ISO; "" before the first.
        fault: Why index or catalog cannot be read, where one is damaged.
        held: Notes that are kept although their files are gone.
        progress: What the running sync does.
    """

    vault: str
    vault_fault: str
    counts: CatalogCounts
    index: IndexManifest | None
    synced_at: str
    fault: str
    held: HeldRemovals | None
    change: EmbedderChange | None
    watching: Watching
    services: Services | None
    progress: Progress | None

    @property
    def indexed(self) -> int:
        """Notes that are searched whole, as they were last read."""
        counts = self.counts
        if self.change and self.index:  # the catalog is being cut for the new index; the old one is whole
            return min(self.index.notes, counts.notes)
        return max(0, counts.notes - counts.partial - counts.skipped - counts.pending)

    @property
    def coverage(self) -> str:
        """`6,551 of 6,571 notes indexed, 99.7 %; 15 read in part, 5 skipped`."""
        counts = self.counts
        rest = [(counts.partial, "read in part"), (counts.skipped, "skipped")]
        if not self.change:
            rest.append((counts.pending, "waiting"))
        told = ", ".join(f"{count:,} {what}" for count, what in rest if count)
        share = f"{self.indexed:,} of {counts.notes:,} notes indexed, {share_words(self.indexed, counts.notes)}"
        return f"{share}; {told}" if told else share

    @property
    def notices(self) -> list[str]:
        """What a person should know, each a sentence, the gravest first."""
        change = self.change.words if self.change else ""
        told = [self.fault, self.vault_fault or self.watching.trouble, change]
        return [sentence for sentence in told if sentence]


def look(paths: DataPaths, settings: Settings, open_catalog: Callable[[], CatalogView]) -> Knowledge:
    """One look.

    Args:
        paths: The data root.
        settings: As they are now.
        open_catalog: Gives the catalog; not asked before there is one, since looking creates nothing.
    """
    counts, held, manifest, change, fault, synced = CatalogCounts(), None, None, None, "", None
    try:
        catalog = open_catalog() if paths.catalog_db.exists() else None
        if catalog is not None:
            counts, held, synced = catalog.counts(), _held(catalog), catalog.synced_at()
        manifest = read_manifest(paths)
        if catalog is not None:
            change = _change(paths, settings, manifest, catalog)
    except IndexMissing:
        pass
    except StoreError as damage:
        fault = str(damage)
    services = running_services(paths)
    return Knowledge(
        vault=str(settings.vault.path or ""),
        vault_fault=_vault_fault(settings),
        counts=counts,
        index=manifest,
        synced_at=synced.isoformat() if synced else "",
        fault=fault,
        held=held,
        change=change,
        watching=_watching(paths, settings.vault.indexing, services),
        services=services,
        progress=read_progress(paths.progress_file),
    )


def share_words(part: int, whole: int) -> str:
    """`99.7 %`, and `100 %` only of all."""
    if part >= whole:
        return "100 %"
    return f"{min(99.9, 100 * part / whole):.1f} %"


def progress_words(progress: Progress) -> str:
    """What the running sync does: `embedding Journal 120 of 400`."""
    count = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
    return f"{progress.phase} {progress.folder}{count}"


def ago(moment: str) -> str:
    """How long ago an ISO time was: `12 s ago`, `5 minutes ago`."""
    try:
        then = dt.datetime.fromisoformat(moment)
    except ValueError:
        return moment
    then = then if then.tzinfo else then.replace(tzinfo=dt.UTC)
    seconds = (dt.datetime.now(dt.UTC) - then).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size:
            return f"{round(seconds / size)} {unit}s ago"
        if seconds >= size:
            return f"1 {unit} ago"
    return f"{max(0, seconds):.0f} s ago"


def _held(catalog: CatalogView) -> HeldRemovals | None:
    """What the guard holds. It was written down at the last look: a sync may have let the notes go since."""
    held = catalog.held_removals()
    states = [catalog.note_status(path) for path in held.examples] if held else []
    return held if any(state is not None and not state.gone for state in states) else None


def _vault_fault(settings: Settings) -> str:
    if settings.vault.path is None:
        return ""
    try:
        check_vault(settings.vault.path)
    except VaultError as fault:
        return f"{fault.message} Nothing was removed from the index. {fault.hint}".strip()
    return ""


def _change(
    paths: DataPaths, settings: Settings, manifest: IndexManifest, catalog: CatalogView
) -> EmbedderChange | None:
    embedding, served = settings.rag.embedding, manifest.embedder
    if names_embedder(embedding, served):
        return None
    return EmbedderChange(embedding.model, served.model, measure_migration(paths, catalog, served.embedder_id))


def _watching(paths: DataPaths, indexing: IndexingSettings, services: Services | None) -> Watching:
    state = read_watch_state(paths)
    if state is not None and state.mode == "events":
        return Watching("events", "watching", state.reason)
    if state is not None and state.mode == "polling":
        return Watching("looks", "looks every few seconds", state.reason)
    if not indexing.auto_sync:
        return Watching("off", "automatic sync is off")
    if services is None:
        return Watching("off", "not watching")
    if not indexing.watch_fs_events:
        return Watching("looks", f"looks every {_interval_words(indexing.auto_sync_interval_minutes)}")
    return Watching("looks", f"looks every {_SENSOR_SECONDS} s", state.reason if state else "")


def _interval_words(minutes: int) -> str:
    for size, unit in ((_DAY, "day"), (_HOUR, "hour")):
        if minutes % size == 0:
            return unit if minutes == size else f"{minutes // size} {unit}s"
    return f"{minutes:,} min"
