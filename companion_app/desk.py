"""What page and API both work with: the app's parts, and one look at how everything stands."""

from dataclasses import dataclass
from functools import cached_property

from companion_app.bootstrap import Companion, ModelState
from companion_app.conversations import Conversations
from companion_app.passages import Passages
from companion_app.syncs import Syncs, SyncState
from companion_assets.contracts.errors import IndexMissing, StoreError
from companion_assets.contracts.manifests import IndexManifest
from companion_assets.daemon.running import Services, running_services
from companion_assets.stores.catalog_view import CatalogCounts, CatalogView
from companion_assets.stores.index_table import read_manifest


@dataclass(frozen=True, slots=True)
class Standing:
    """How everything stands at this moment.

    Attributes:
        index: The published index; None before the first sync.
        fault: Why index or catalog cannot be read, where one is damaged.
    """

    vault: str
    counts: CatalogCounts
    index: IndexManifest | None
    fault: str
    sync: SyncState
    services: Services | None
    model: ModelState


class Desk:
    """The parts of the app behind its surfaces.

    Args:
        companion: The wired app.
    """

    def __init__(self, companion: Companion) -> None:
        self.companion = companion
        self.conversations = Conversations(companion.session, lambda: companion.chat_log)
        self.syncs = Syncs(companion.paths, companion.loaded.path)
        settings = companion.settings
        self.passages = Passages(
            settings.vault.path,
            lambda: companion.index,
            lambda: self.catalog,
            inside_only=settings.security.vault_path_traversal_check,
        )

    @cached_property
    def catalog(self) -> CatalogView:
        """What was read of each note."""
        return CatalogView(self.companion.paths.catalog_db)

    def warm(self) -> None:
        """Open in the background what the first question needs; the page is there before."""
        self.companion.warm()

    def standing(self) -> Standing:
        """One look at index, sync, services and model; loads nothing."""
        paths = self.companion.paths
        counts, manifest, fault = CatalogCounts(), None, ""
        try:
            if paths.catalog_db.exists():
                counts = self.catalog.counts()
            manifest = read_manifest(paths)
        except IndexMissing:
            pass
        except StoreError as damage:
            fault = damage.message
        return Standing(
            vault=str(self.companion.settings.vault.path or ""),
            counts=counts,
            index=manifest,
            fault=fault,
            sync=self.syncs.state(),
            services=running_services(paths),
            model=self.companion.model_state(),
        )

    def close(self) -> None:
        """Stop running turns, then the engines."""
        self.conversations.close()
        self.companion.close()
