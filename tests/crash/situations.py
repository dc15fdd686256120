"""What a sync may be in the middle of when it dies, and one such death from beginning to end."""

import shutil
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.stores.index import ChunkIndex
from tests.crash import vaults
from tests.crash.compare import check, fresh_build
from tests.crash.faulty import Plan
from tests.crash.pictures import Picture, picture, published, served, stored_vectors
from tests.crash.processes import KILLED, Job, settings_of, sync

T = TypeVar("T")

USUAL, OTHER = 64, 96  # lengths of vectors: two embedders
# So that a vault of a dozen notes takes several commits and batches, optimises and prunes as a large one does.
SMALL: tuple[tuple[str, Any], ...] = (
    ("companion_assets.stages.sync:_NOTES_A_COMMIT", 2),
    ("companion_assets.stages.sync:TEXTS_A_BATCH", 2),
    ("companion_assets.stages.publishing:_NOTES_A_COMMIT", 2),
    ("companion_assets.stores.index_writer:SMALL_TAIL", 0),
)
UPKEEP: tuple[tuple[str, Any], ...] = (
    ("companion_assets.stores.index_writer:MANY_VERSIONS", 0),
    ("companion_assets.stores.index_writer:IndexWriter.prune.__defaults__", (0.0,)),
)


@dataclass(frozen=True, slots=True)
class Situation:
    """A data root and a vault before the sync that dies.

    Attributes:
        home: The data root to copy; None for none yet.
        before: The vault it was made of.
        vault: The vault as it is now.
        plan: Embedder and sizes of the sync that dies, and of the one after it.
    """

    name: str
    home: Path | None
    before: Path
    vault: Path
    plan: Plan


class Situations:
    """Makes the situations in a room of their own, and the fresh builds to compare with, each once."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self.old, self.new = room / "old", room / "new"
        vaults.write(self.old, vaults.NOTES)
        vaults.copy(self.old, self.new)
        vaults.change(self.new)
        self._made: dict[str, Any] = {}
        self._lock = threading.RLock()

    def get(self, name: str) -> Situation:
        """`first` index, `changes` of every kind, another `embedder` and all changes, or the same with `upkeep`."""
        usual = Plan(dimensions=USUAL, constants=SMALL)
        other = Plan(dimensions=OTHER, constants=SMALL)
        match name:
            case "first":
                return Situation(name, None, self.old, self.old, usual)
            case "changes":
                return Situation(name, self.indexed(), self.old, self.new, usual)
            case "embedder":
                return Situation(name, self.indexed(), self.old, self.new, other)
            case "upkeep":
                return Situation(name, self.migrated(), self.old, self.new, replace(other, constants=SMALL + UPKEEP))
        raise KeyError(name)

    def fresh(self, vault: Path, dimensions: int) -> Picture:
        """The picture of a fresh build."""
        home = self.room / f"fresh-{vault.name}-{dimensions}"

        def build() -> Picture:
            return picture(fresh_build(home, vault, like=data_paths(home), embedder=HashEmbedder(dimensions)))

        return self._once(home.name, build)

    def indexed(self) -> Path:
        """A data root that is up to date with the old vault."""

        def build() -> Path:
            return self._synced(self.room / "indexed", USUAL)

        return self._once("indexed", build)

    def migrated(self) -> Path:
        """The same with another embedder; the table of the one before is there still, and its time is over."""

        def build() -> Path:
            vaults.copy(self.indexed(), self.room / "migrated")
            return self._synced(self.room / "migrated", OTHER)

        return self._once("migrated", build)

    def _synced(self, home: Path, dimensions: int) -> Path:
        ended = sync(Job(home, self.old, Plan(dimensions=dimensions, constants=SMALL)))
        assert ended.status == 0, ended.said
        check(home, self.old, self.fresh(self.old, dimensions), engine=engine(dimensions))
        return home

    def _once(self, name: str, build: Callable[[], T]) -> T:
        with self._lock:
            if name not in self._made:
                self._made[name] = build()
            made: T = self._made[name]
            return made


@dataclass(slots=True)
class Death:
    """One sync that dies, what readers see then, and the sync after it.

    Attributes:
        plan: How it dies; else as in the situation.
        room: A folder that is not there yet.
        undone: The person takes all changes back before the next sync.
    """

    situations: Situations
    situation: Situation
    plan: Plan
    room: Path
    undone: bool = False
    home: Path = field(init=False)
    vault: Path = field(init=False)

    def __post_init__(self) -> None:
        self.home, self.vault = self.room / "home", self.room / "vault"
        self.room.mkdir()
        vaults.copy(self.situation.vault, self.vault)
        if self.situation.home:
            vaults.copy(self.situation.home, self.home)

    @property
    def paths(self) -> DataPaths:
        """The data root."""
        return data_paths(self.home)

    def run(self) -> None:
        """All of it; raises AssertionError where something is not as it should be."""
        dimensions = self.situation.plan.dimensions
        before, whole = published(self.paths), self.situations.fresh(self.situation.vault, dimensions).rows
        reader = _Reader(self.paths, before.keys() | whole.keys()) if before else None
        ended = sync(Job(self.home, self.vault, self.plan))
        assert ended.status == KILLED, f"the point was not reached; status {ended.status}\n{ended.said}"
        assert published(self.paths) in (before, whole), "a half-built state is served"
        if reader:
            reader.check()
        stored = stored_vectors(self.paths)
        if self.undone:
            shutil.rmtree(self.vault)
            vaults.copy(self.situation.before, self.vault)
        embedded = self._sync_again()
        fresh = self.situations.fresh(self.situation.before if self.undone else self.situation.vault, dimensions)
        check(self.home, self.vault, fresh, engine=engine(dimensions))
        assert len(embedded) == len(set(embedded)), "a text was embedded twice"
        embedder = HashEmbedder(dimensions).spec.embedder_id
        assert not {(embedder, sha) for sha in embedded} & stored, "a text was embedded although its vector was stored"
        if reader:
            reader.check()

    def _sync_again(self) -> list[str]:
        """The next sync; returns the hashes of the texts it embedded."""
        embedded = self.room / "embedded"
        ended = sync(Job(self.home, self.vault, replace(self.situation.plan, embedded=str(embedded))))
        assert ended.status == 0, ended.said
        return embedded.read_text().split() if embedded.exists() else []


class _Reader:
    """Somebody who has the index open all the time."""

    def __init__(self, paths: DataPaths, ids: Collection[str]) -> None:
        self._paths = paths
        self._ids = ids
        self._index = ChunkIndex.open(paths)
        self._old = self._index.get(ids)
        assert self._old

    def check(self) -> None:
        """It shows what is served, or, while another embedder's index is served, what it has always shown."""
        manifest = served(self._paths)
        same = manifest is not None and manifest.embedder == self._index.manifest.embedder
        expected = ChunkIndex.open(self._paths).get(self._ids) if same else self._old
        assert self._index.get(self._ids) == expected, "an open reader sees something else than what is served"


def engine(dimensions: int) -> tuple[str, str]:
    """Provider and model of that embedder in the settings."""
    variables = settings_of(dimensions)
    return (variables["COMPANION_RAG__EMBEDDING__PROVIDER"], variables["COMPANION_RAG__EMBEDDING__MODEL"])
