"""What page and API both work with: the app's parts, and one look at how everything stands."""

from dataclasses import dataclass
from functools import cached_property

from companion_app.bootstrap import Companion, ModelState
from companion_app.conversations import Conversations
from companion_app.passages import Passages
from companion_app.standing import Knowledge, look
from companion_app.syncs import Syncs, SyncState
from companion_assets.stores.catalog_view import CatalogView


@dataclass(frozen=True, slots=True)
class Standing:
    """How everything stands at this moment."""

    knowledge: Knowledge
    sync: SyncState
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
            companion.engines.index,
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
        """One look at vault, index, sync, services and model; loads nothing."""
        companion = self.companion
        return Standing(
            look(companion.paths, companion.settings_now(), lambda: self.catalog),
            self.syncs.state(),
            companion.model_state(),
        )

    def close(self) -> None:
        """Stop running turns, then the engines."""
        self.conversations.close()
        self.companion.close()
