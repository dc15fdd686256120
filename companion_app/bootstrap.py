"""The app's composition root: the only place where its parts are wired together."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Generic, TypeVar

from companion_app.retrieval import Retriever
from companion_app.session import ChatSession
from companion_assets.backends.factory import open_embedder, open_generator
from companion_assets.backends.protocols import Embedder, Generator
from companion_assets.contracts.errors import BackendUnavailable, CompanionError
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.contracts.prompt import render_prefix
from companion_assets.contracts.settings import EmbeddingSettings, LoggingSettings, Settings
from companion_assets.stores.chat_log import ChatLog
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import read_manifest
from companion_assets.stores.settings_file import LoadedSettings, load_settings

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelState:
    """Whether the answering model is there: `loading`, `ready`, `none` (quotes instead) or `failed`."""

    state: str
    model: str = ""
    detail: str = ""


class Once(Generic[T]):
    """Something opened by its first caller; callers beside it wait. After a failure the next caller tries again.

    Args:
        opener: Opens it.

    Attributes:
        opened: The thing itself; None before that.
    """

    def __init__(self, opener: Callable[[], T]) -> None:
        self._opener = opener
        self._lock = threading.Lock()
        self.opened: T | None = None

    def __call__(self) -> T:
        """The thing, opened."""
        with self._lock:
            if self.opened is None:
                self.opened = self._opener()
            return self.opened


class Companion:
    """Everything a surface needs, opened on first use and shared by all sessions and threads of the process.

    Args:
        loaded: The settings in force.
        paths: The data root.
    """

    def __init__(self, loaded: LoadedSettings, paths: DataPaths) -> None:
        self.loaded = loaded
        self.paths = paths
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="companion-load")
        self._embedding = loaded.settings.rag.embedding
        self._embedder = Once(lambda: self._open_embedder(self._embedding))
        self._chat_log = Once(lambda: ChatLog(paths.companion_db))
        self._index: ChunkIndex | None = None
        self._index_lock = threading.Lock()
        self._generator: Future[Generator | None] | None = None
        self._generator_lock = threading.Lock()
        self._warming: Future[None] | None = None
        self._model_fault = ""
        self.retriever = Retriever(self.search_engines, loaded.settings.rag.search)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def embedder(self) -> Embedder:
        """The embedder of the index.

        Raises:
            BackendUnavailable: Its weights or server are missing.
        """
        return self._embedder()

    @property
    def index(self) -> ChunkIndex:
        """The live index; see `search_engines`."""
        return self.search_engines()[0]

    @property
    def chat_log(self) -> ChatLog:
        """Conversations."""
        return self._chat_log()

    def search_engines(self) -> tuple[ChunkIndex, Embedder]:
        """The live index and the embedder that made it.

        Asked before every search: where another embedder was chosen in the settings and its index has been
        published, both are exchanged while the app runs.

        Raises:
            IndexMissing: Nothing has been indexed yet.
            IndexMismatch: The index was made by another embedder than the settings name.
            BackendUnavailable: The embedder cannot be opened.
        """
        with self._index_lock:
            if self._index is None or self._index.superseded:
                self._index = self._open_index()
            return self._index, self.embedder

    def warm(self) -> None:
        """Open in the background what the first question needs."""
        self.load_generator()
        self._pool.submit(self._warm_search)

    def load_generator(self) -> Future[Generator | None]:
        """Start loading the answering model in the background, with the prompt's stable prefix in its cache.

        Once, or again after it could not be opened.
        """
        with self._generator_lock:
            future = self._generator
            if future is None or (future.done() and future.exception()):
                self._generator = future = self._pool.submit(self._open_generator)
            return future

    def generator(self) -> Generator | None:
        """The answering model; waits while it loads. None where there is none.

        Raises:
            BackendUnavailable: It is configured and cannot be opened.
        """
        generator = self.load_generator().result()
        if generator is not None and self._model_fault and (self._warming is None or self._warming.done()):
            self._warming = self._pool.submit(self._warm_model, generator)  # the server may have it by now
        return generator

    def model_state(self) -> ModelState:
        """How the loading of the model stands, without waiting for it."""
        future = self._generator
        if future is None or not future.done():
            return ModelState("loading")
        if fault := future.exception():
            return ModelState("failed", detail=str(fault))
        generator = future.result()
        if generator is None:
            return ModelState("none")
        return ModelState("failed" if self._model_fault else "ready", generator.model, self._model_fault)

    def session(self, session_id: str | None = None) -> ChatSession:
        """A conversation: a new one, or an earlier one carried on."""
        key = session_id or self.chat_log.create_session()
        return ChatSession(key, self.retriever, self.generator, self.chat_log, self.settings.companion)

    def close(self) -> None:
        """End the engines."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        future = self._generator
        if future and future.done() and not future.cancelled() and not future.exception():
            generator = future.result()
            if generator is not None:
                generator.close()
        if self._embedder.opened:
            self._embedder.opened.close()
        if self._chat_log.opened:
            self._chat_log.opened.close()

    def _open_embedder(self, settings: EmbeddingSettings) -> Embedder:
        return open_embedder(settings)

    def _open_index(self) -> ChunkIndex:
        made_by = read_manifest(self.paths).embedder.embedder_id  # nothing indexed: said before anything is loaded
        if self.embedder.spec.embedder_id != made_by:
            self._follow_settings(made_by)
        return ChunkIndex.open(self.paths, self.embedder.spec.embedder_id)

    def _follow_settings(self, made_by: str) -> None:
        """Take the embedder that the settings name by now, if it is the one that made the index."""
        settings = load_settings(self.loaded.path).settings.rag.embedding
        if self._index is None and settings == self._embedding:
            return
        embedder, outdated = self._open_embedder(settings), self.embedder
        if embedder.spec.embedder_id != made_by:
            embedder.close()
            return
        _log.info("the index is made by %s now", embedder.spec.model)
        self._embedding, self._embedder.opened = settings, embedder
        outdated.close()

    def _warm_search(self) -> None:
        try:
            self.embedder.embed_query(self.settings.companion.name)
            self.search_engines()
        except CompanionError as fault:
            _log.info("search is not ready yet: %s", fault.message)

    def _open_generator(self) -> Generator | None:
        generator = open_generator(self.settings.model.inference, self.paths)
        if generator is not None:
            self._warm_model(generator)
        return generator

    def _warm_model(self, generator: Generator) -> None:
        """Load it. That it fails now need not be the last word: a question tries again and says what is wrong."""
        try:
            generator.warm(render_prefix(ChatSession.system_of(self.settings.companion)))
            self._model_fault = ""
        except BackendUnavailable as fault:
            _log.warning("the model is not ready: %s", fault.message)
            self._model_fault = f"{fault.message}. {fault.hint}".strip()


def open_companion(config: Path | None = None) -> Companion:
    """Read the settings and wire the app.

    Raises:
        SettingsError: The settings cannot be used; all faults are named.
    """
    loaded = load_settings(config)
    paths = data_paths()
    prepare_data_root(paths, loaded.settings.vault.path)
    start_logging(loaded.settings.logging, paths)
    return Companion(loaded, paths)


def start_logging(settings: LoggingSettings, paths: DataPaths) -> None:
    """Log to the rotating file of the settings; nothing of ours goes to the terminal.

    Raises:
        CompanionError: The file cannot be written.
    """
    target = Path(settings.file).expanduser() if settings.file else paths.logs_dir / "companion.log"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            target, maxBytes=settings.max_size_mb * 1_000_000, backupCount=settings.backup_count, encoding="utf-8"
        )
    except OSError as fault:
        raise CompanionError(
            f"the log file {target} cannot be written: {fault.strerror}", "set logging.file"
        ) from fault
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in ("companion_app", "companion_assets"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(settings.level)
        logger.propagate = False
