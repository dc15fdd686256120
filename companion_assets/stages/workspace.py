"""Everything the knowledge steps of one run share: settings sections, stores, the embedder, the vault's listing."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from companion_assets.backends.protocols import Embedder
from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.records import NoteFile
from companion_assets.contracts.settings import SecuritySettings, VaultSettings
from companion_assets.stages.difference import Difference, compare
from companion_assets.stages.vault import REPLACE_SECONDS, scan_vault, vanished_just_now
from companion_assets.stages.vault_walk import VaultScan, rules_of
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.data_root import keep_apart
from companion_assets.stores.progress import ProgressFile
from companion_assets.stores.vectors import VectorCache

# Raised whenever the same file would be read differently; every note is then read anew.
PARSER_VERSION = "1"
# Name of the catalog's fact: provider and model, as the settings named them, of the index that is served.
ENGINE = "engine"
_MOST_LISTINGS = 5


@dataclass(slots=True)
class Workspace:
    """One run's shared things. Stores are opened once; the embedder only when a text must be embedded.

    Args:
        paths: The data root.
        vault: Where the notes are and how they are cut.
        security: Which tags mark a chunk as sensitive.
        open_embedder: Opens the engine in force.
        engine: Provider and model of that engine, as the settings name it; None if nobody will ask.
        run_id: The Dagster run this work belongs to.
    """

    paths: DataPaths
    vault: VaultSettings
    security: SecuritySettings
    open_embedder: Callable[[], Embedder]
    run_id: str = ""
    engine: tuple[str, str] | None = None
    _scan: VaultScan | None = None
    _folders: defaultdict[str, list[NoteFile]] | None = None
    _difference: Difference | None = None
    _embedder: Embedder | None = None
    _catalog: Catalog | None = None
    _vectors: VectorCache | None = None
    _progress: ProgressFile | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def catalog(self) -> Catalog:
        """What was read of each note."""
        if self._catalog is None:
            self._catalog = Catalog(self.paths.catalog_db)
        return self._catalog

    @property
    def vectors(self) -> VectorCache:
        """Vectors by text."""
        if self._vectors is None:
            self._vectors = VectorCache(self.paths.vectors_db)
        return self._vectors

    @property
    def progress(self) -> ProgressFile:
        """What terminal and page show of this run."""
        if self._progress is None:
            self._progress = ProgressFile(self.paths.progress_file, self.run_id)
        return self._progress

    @property
    def embedder(self) -> Embedder:
        """The engine in force, opened on first use.

        Raises:
            BackendUnavailable: Its weights, server or model are missing.
        """
        with self._lock:
            if self._embedder is None:
                self._embedder = self.open_embedder()
            return self._embedder

    @property
    def root(self) -> Path:
        """The vault's folder.

        Raises:
            VaultError: No vault is configured.
        """
        if self.vault.path is None:
            raise VaultError("no vault is configured", "set vault.path, or run: companion init --vault PATH")
        return self.vault.path

    def scan(self) -> VaultScan:
        """The vault's files, listed once a run so that all steps of it see the same vault.

        Raises:
            VaultError: The vault is not configured, missing or unreadable.
        """
        if self._scan is None:
            keep_apart(self.paths.root, self.root)
            indexing = self.vault.indexing
            self._scan = scan_vault(self.root, rules_of(indexing))
        return self._scan

    def folders(self) -> dict[str, list[NoteFile]]:
        """The files of the vault by top-level folder.

        Raises:
            VaultError: The vault is not configured, missing or unreadable.
        """
        if self._folders is None:
            self._folders = defaultdict(list)
            for file in self.scan().files:
                self._folders[file.folder].append(file)
        return self._folders

    def difference(self) -> Difference:
        """What changed in the whole vault since it was last read; looked at once a run.

        Raises:
            VaultError: The vault is not configured, missing or unreadable.
        """
        if self._difference is None:
            self._difference = self._compare()
            for _ in range(_MOST_LISTINGS):
                if not self._difference.lost:
                    break
                # A listing takes time: a note may move, behind its back, from where it has not been to where it was.
                # Two listings that agree show the vault as it was between them.
                if vanished_just_now(self.root, self._difference.lost):
                    time.sleep(REPLACE_SECONDS)
                listed = self.scan().files
                self._scan = self._folders = None
                if self.scan().files == listed:
                    break
                self._difference = self._compare()
        return self._difference

    def _compare(self) -> Difference:
        before = self.catalog.held_removals()
        difference = compare(self.root, self.scan(), self.catalog.diff(self.scan().files, PARSER_VERSION), before)
        if difference.held != before:
            self.catalog.hold_removals(difference.held)
        return difference

    def close(self) -> None:
        """Close what was opened."""
        for opened in (self._embedder, self._catalog, self._vectors):
            if opened is not None:
                opened.close()
        if self._progress is not None:
            self._progress.clear()
