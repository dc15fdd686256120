"""A vault on disk and the four steps of a sync over it, with a cheap embedder that counts what it embeds."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.backends.protocols import Vectors
from companion_assets.contracts.errors import EmbeddingFailed
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.settings import SecuritySettings, VaultSettings
from companion_assets.stages import sync
from companion_assets.stages.publishing import Verdict, open_publisher
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.index import ChunkIndex


class CountingEmbedder(HashEmbedder):
    """Remembers every text it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.refuses = ""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.refuses and (bad := {at: "refused" for at, text in enumerate(texts) if self.refuses in text}):
            raise EmbeddingFailed("some texts were refused", bad)
        self.texts += texts
        return super().embed_passages(texts)


class Living:
    """A vault, its data root, and a sync as the assets do it.

    Args:
        room: An empty folder.
        notes: Path → text of the first notes; a minute old.
    """

    def __init__(self, room: Path, notes: dict[str, str] | None = None) -> None:
        self.vault = room / "vault"
        self.paths = DataPaths(room / "home")
        self.embedder = CountingEmbedder()
        self.settings = VaultSettings(path=self.vault)
        (self.vault / ".obsidian").mkdir(parents=True, exist_ok=True)
        for path, text in (notes or {}).items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        (self.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (self.vault / path).write_text(text, encoding="utf-8")

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        work = Workspace(self.paths, self.settings, SecuritySettings(), lambda: self.embedder, "run")
        try:
            yield work
        finally:
            work.close()

    def sync(self, *folders: str, confirm_removals: bool = False) -> tuple[dict[str, int], Verdict]:
        """Bring folders (all by default) up to date; returns the summed counts and the verdict."""
        self.embedder.texts.clear()
        with self.workspace() as work:
            chosen = folders or sorted({*work.folders(), *work.catalog.folders()})
            total = sync.FolderReport()
            for folder in chosen:
                total += sync.read_folder(work, folder, confirm_removals=confirm_removals)
            for folder in chosen:
                total += sync.chunk_folder(work, folder)
            for folder in chosen:
                total += sync.embed_folder(work, folder)
            with open_publisher(work) as publisher:
                for folder in chosen:
                    total += publisher.publish_folder(work, folder)
                verdict = publisher.finish()
        assert not verdict.faults, verdict.faults
        return dict(total.counts), verdict

    def served(self) -> dict[str, str]:
        """What a reader finds: path → texts of its chunks."""
        index = ChunkIndex.open(self.paths)
        return {
            path: "\n".join(chunk.text for chunk in index.neighbours(path)) for path in index.health().chunks_by_note
        }

    def view(self) -> CatalogView:
        return CatalogView(self.paths.catalog_db)


def settle() -> None:
    """Let a second pass, after which no deletion looks like half of a save."""
    time.sleep(1.05)
