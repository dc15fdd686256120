"""A vault, its data root and the pipeline over it: lives steps, with the real stores and an embedder that counts."""

import gc
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.backends.protocols import Vectors
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.settings import ChunkingRule, SecuritySettings, VaultSettings
from companion_assets.stages.drift import measure_drift
from companion_assets.stages.publishing import Verdict, open_publisher
from companion_assets.stages.sync import chunk_folder, embed_folder, read_folder
from companion_assets.stages.upkeep import compact_index
from companion_assets.stages.workspace import PARSER_VERSION, Workspace
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.catalog_rows import text_sha
from companion_assets.stores.vectors import VectorCache
from tests.year.interruptions import Place, ProcessDies, interrupted
from tests.year.steps import Change, Interruption
from tests.year.vault_disk import choose
from tests.year.vault_life import VaultLife

DIMENSIONS = (16, 24)  # an embedder each
CHUNK_SIZES = (500, 32, 60)
RULES = ("default", "Journal/**", "Projects/**")


class Ledger:
    """Which texts were embedded, by which embedder; and which of them once more although the vector was kept."""

    def __init__(self) -> None:
        self.texts: set[tuple[str, str]] = set()
        self.again: list[str] = []
        self.calls = 0

    def note(self, embedder_id: str, texts: Sequence[str]) -> None:
        """Write down a call of the embedder."""
        self.calls += 1
        for text in texts:
            if (embedder_id, text) in self.texts:
                self.again.append(text)
            self.texts.add((embedder_id, text))

    def forget_unkept(self, path: Path) -> None:
        """A process died: a text whose vector did not reach the disk may be embedded once more."""
        vectors = VectorCache(path)
        for embedder_id in {embedder for embedder, _ in self.texts}:
            shas = {text_sha(text): text for embedder, text in self.texts if embedder == embedder_id}
            self.texts -= {(embedder_id, shas[sha]) for sha in vectors.missing(embedder_id, shas)}
        vectors.close()


class CountingEmbedder(HashEmbedder):
    """Embeds by words and writes every text into a ledger."""

    def __init__(self, dimensions: int, ledger: Ledger) -> None:
        super().__init__(dimensions)
        self._ledger = ledger
        self._for_questions = HashEmbedder(dimensions)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """As `HashEmbedder`."""
        self._ledger.note(self.spec.embedder_id, texts)
        return super().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        """As `HashEmbedder`; questions are not counted."""
        return self._for_questions.embed_query(text)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a sync went.

    Attributes:
        verdict: Of the publisher; None when the process died.
        happened: Lines before which something happened.
        scope: What it covered.
    """

    verdict: Verdict | None
    happened: list[Place]
    scope: str


@dataclass(slots=True)
class Household:
    """Everything that lives on between two processes, and what the settings say.

    Attributes:
        vault: The vault.
        paths: The data root.
        rules: Chunking rules; the settings file of the data root says the same.
        dimensions: Of the embedder in force.
        ledger: What was embedded.
    """

    vault: VaultLife
    paths: DataPaths
    rules: dict[str, ChunkingRule] = field(default_factory=lambda: VaultSettings().chunking_rules)
    dimensions: int = DIMENSIONS[0]
    ledger: Ledger = field(default_factory=Ledger)

    def workspace(self) -> Workspace:
        """What a new process opens."""
        return Workspace(
            paths=self.paths,
            vault=VaultSettings(path=self.vault.disk.root, chunking_rules=self.rules),
            security=SecuritySettings(),
            open_embedder=lambda: CountingEmbedder(self.dimensions, self.ledger),
            run_id="year",
        )

    def known(self) -> dict[str, str]:
        """Path → content hash, of the notes in the catalog."""
        catalog = Catalog(self.paths.catalog_db)
        found = catalog.shas(catalog.paths(), PARSER_VERSION)
        catalog.close()
        return found

    def change(self, change: Change) -> None:
        """Other settings from now on; or upkeep, which nobody should notice."""
        if change.kind == "rule":
            size = CHUNK_SIZES[change.pick // len(RULES) % len(CHUNK_SIZES)]
            name = RULES[change.pick % len(RULES)]
            self.rules = {**self.rules, name: ChunkingRule(chunk_size=size, chunk_overlap=size // 5)}
            rules = {pattern: rule.model_dump(mode="json") for pattern, rule in self.rules.items()}
            self.paths.root.mkdir(mode=0o700, exist_ok=True)
            self.paths.settings_file.write_text(json.dumps({"vault": {"chunking_rules": rules}}), encoding="utf-8")
        elif change.kind == "embedder":
            self.dimensions = DIMENSIONS[change.pick % len(DIMENSIONS)]
        elif change.kind == "upkeep":
            work = self.workspace()
            compact_index(work, grace_minutes=0)
            work.close()

    def sync(
        self, scope: str = "all", pick: int = 0, during: Sequence[Interruption] = (), *, confirm_removals: bool = False
    ) -> Outcome:
        """One run in a process of its own."""
        work = self.workspace()
        folders = _covered(work, scope, pick)
        work.close()
        work, happened, verdict = self.workspace(), [], None
        try:
            with interrupted(during, self.vault.live) as happened:
                verdict = _run(work, folders, confirm_removals=confirm_removals)
        except ProcessDies:
            del work
            gc.collect()
            self.ledger.forget_unkept(self.paths.vectors_db)
        else:
            work.close()
        return Outcome(verdict, happened, scope)


def _run(work: Workspace, folders: Sequence[str], *, confirm_removals: bool) -> Verdict:
    """The four steps, as the assets of the job take them."""
    for folder in folders:
        read_folder(work, folder, confirm_removals=confirm_removals)
    for folder in folders:
        chunk_folder(work, folder)
    for folder in folders:
        embed_folder(work, folder)
    with open_publisher(work) as publisher:
        for folder in folders:
            publisher.publish_folder(work, folder)
        return publisher.finish()


def _covered(work: Workspace, scope: str, pick: int) -> list[str]:
    """The folders of a run."""
    drift, known = measure_drift(work), work.catalog.folders()
    every = sorted({*drift.folders, *known})
    scopes: dict[str, Callable[[], Sequence[str | None]]] = {
        "all": lambda: every,
        "one": lambda: [choose(sorted(drift.dirty) or every, pick)],
        "dirty": lambda: sorted(drift.dirty),
        "range": lambda: every[pick % (len(every) + 1) :][: 1 + pick % 3],
        "vanished": lambda: [choose([folder for folder in known if folder not in drift.folders] or ["Gone"], pick)],
    }
    return [folder for folder in scopes[scope]() if folder]
