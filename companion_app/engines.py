"""The published index and the embedder that made it, which only make sense together.

A change of embedder builds a new index beside the old one. Until that is published, every search goes on with the old
index and the old embedder, which the index's own manifest names, not the settings; then both are exchanged at the
next search. Where that embedder cannot be opened, the index is still searched by its words.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from companion_assets.backends.protocols import Embedder, Vectors
from companion_assets.contracts.errors import BackendUnavailable, StoreError
from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.index import ChunkIndex


@dataclass(slots=True)
class Engines:
    """What one search works with.

    Attributes:
        embedder: None if it cannot be opened.
        fault: Why there is no vector, of the embedder or of a question.
        words_fault: Why the words could not be searched.
    """

    index: ChunkIndex
    embedder: Embedder | None
    fault: BackendUnavailable | None = None
    words_fault: StoreError | None = None

    def vector_of(self, question: str) -> Vectors | None:
        """The question as float32[d]; None where only its words can be searched, and `fault` then says why."""
        if self.embedder is None or not question.strip():
            return None
        try:
            return self.embedder.embed_query(question)
        except BackendUnavailable as fault:
            self.fault = fault
            return None


class SearchEngines:
    """Opens index and embedder on first use, and follows what is published; shared by all threads of the process.

    Args:
        paths: The data root.
        reopen: Opens the embedder of a manifest.
    """

    def __init__(self, paths: DataPaths, reopen: Callable[[EmbedderSpec], Embedder]) -> None:
        self._paths = paths
        self._reopen = reopen
        self._index: ChunkIndex | None = None
        self._index_lock = threading.Lock()
        self._shared: _Shared | None = None
        self._embedder_lock = threading.Lock()

    def index(self) -> ChunkIndex:
        """The live index, for what needs no embedder.

        Raises:
            IndexMissing: Nothing has been indexed yet.
            StoreError: The index is damaged.
        """
        with self._index_lock:
            if self._index is None or self._index.superseded:
                self._index = ChunkIndex.open(self._paths)
            return self._index

    @contextmanager
    def in_use(self) -> Iterator[Engines]:
        """Index and embedder for one search; an embedder that is exchanged meanwhile is closed when this ends.

        Raises:
            IndexMissing: Nothing has been indexed yet.
            StoreError: The index is damaged.
        """
        index = self.index()
        try:
            shared = self._take(index.manifest.embedder)
        except BackendUnavailable as fault:
            yield Engines(index, None, fault)
            return
        try:
            yield Engines(index, shared.embedder)
        finally:
            self._leave(shared)

    def close(self) -> None:
        """Close the embedder."""
        with self._embedder_lock:
            self._retire()

    def _take(self, spec: EmbedderSpec) -> "_Shared":
        with self._embedder_lock:
            if self._shared is None or self._shared.embedder.spec != spec:
                self._retire()  # before the next one takes its memory
                self._shared = _Shared(self._reopen(spec))
            self._shared.users += 1
            return self._shared

    def _leave(self, shared: "_Shared") -> None:
        with self._embedder_lock:
            shared.users -= 1
            if shared is not self._shared and not shared.users:
                shared.embedder.close()

    def _retire(self) -> None:
        outdated, self._shared = self._shared, None
        if outdated is not None and not outdated.users:
            outdated.embedder.close()


@dataclass(slots=True)
class _Shared:
    """An open embedder, and how many searches use it now."""

    embedder: Embedder
    users: int = 0
