"""An embedder that stays open from run to run, in a process that executes many of them.

Loading the embedded model takes a second; embedding the paragraph that was just saved takes some milliseconds.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from companion_assets.backends.factory import open_embedder
from companion_assets.backends.protocols import Embedder, Tokenizer, Vectors
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.settings_knowledge import EmbeddingSettings


class WarmEmbedder:
    """Lends one engine to run after run; opens another as soon as the settings, or the file of weights, are others.

    Only engines of this machine's own files are kept. What a server calls by the same name today may be another model
    tomorrow, and asking it costs next to nothing.
    """

    def __init__(self) -> None:
        self._engine: Embedder | None = None
        self._opened_for: object = None

    def lend(self, settings: EmbeddingSettings) -> Embedder:
        """The embedder of the settings; closing it leaves the engine open.

        Raises:
            BackendUnavailable: It cannot be opened.
        """
        if settings.provider == "ollama":
            return open_embedder(settings)
        wanted = (settings, _weights(settings))
        if self._engine is None or self._opened_for != wanted:
            self.close()
            self._engine, self._opened_for = open_embedder(settings), wanted
        return _Lent(self._engine, self._distrust)

    def close(self) -> None:
        """Close the engine; the next run would open one anew."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _distrust(self) -> None:
        """It failed: this run may try again, the next one gets another."""
        self._opened_for = None


class _Lent:
    """An `Embedder` whose engine belongs to another, who hears when it fails."""

    def __init__(self, engine: Embedder, on_failure: Callable[[], None]) -> None:
        self._engine = engine
        self._on_failure = on_failure

    @property
    def spec(self) -> EmbedderSpec:
        """The engine's."""
        return self._engine.spec

    @property
    def tokenizer(self) -> Tokenizer:
        """The engine's."""
        return self._engine.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32[n, d], as the engine makes them."""
        with self._watched():
            return self._engine.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        """float32[d], as the engine makes it."""
        with self._watched():
            return self._engine.embed_query(text)

    def close(self) -> None:
        """Nothing: the next run needs the engine."""

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except BackendUnavailable:
            self._on_failure()
            raise


_kept: WarmEmbedder | None = None


@contextmanager
def kept_warm() -> Iterator[WarmEmbedder]:
    """Within, every run of this process embeds with the same engine."""
    global _kept  # a run's workspace is opened by a resource that Dagster makes anew for each run
    engine = _kept = WarmEmbedder()
    try:
        yield engine
    finally:
        _kept = None
        engine.close()


def embedder_for_run(settings: EmbeddingSettings) -> Embedder:
    """The embedder of the settings: a warm one where this process keeps one, else one of the run's own.

    Raises:
        BackendUnavailable: It cannot be opened.
    """
    return _kept.lend(settings) if _kept is not None else open_embedder(settings)


def _weights(settings: EmbeddingSettings) -> tuple[int, int] | None:
    """What tells one file of weights from another under the same name, without reading it."""
    with suppress(OSError):
        if settings.provider == "llama_cpp":
            found = Path(settings.model).expanduser().stat()
            return found.st_mtime_ns, found.st_size
    return None
