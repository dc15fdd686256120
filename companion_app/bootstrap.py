"""The app's composition root: the only place where its parts are wired together."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Generic, TypeVar

from companion_app.engines import SearchEngines
from companion_app.reranking import GeneratorReranker
from companion_app.retrieval import Retriever
from companion_app.session import ChatSession
from companion_assets.backends.factory import open_generator, reopen_embedder
from companion_assets.backends.protocols import Embedder, Generator
from companion_assets.contracts.errors import BackendUnavailable, CompanionError
from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.contracts.prompt import render_prefix
from companion_assets.contracts.settings import LoggingSettings, SearchSettings, Settings
from companion_assets.stores.chat_log import ChatLog
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.note_graph import NoteGraph
from companion_assets.stores.settings_file import LoadedSettings, load_settings
from companion_assets.stores.settings_followed import FollowedSettings

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
        self._followed = FollowedSettings(
            loaded.path or paths.settings_file, lambda: load_settings(loaded.path).settings, loaded.settings
        )
        self.engines = SearchEngines(paths, self._reopen_embedder)
        self._chat_log = Once(lambda: ChatLog(paths.companion_db))
        self._generator: Future[Generator | None] | None = None
        self._generator_lock = threading.Lock()
        self._warming: Future[None] | None = None
        self._model_fault = ""
        self.graph = NoteGraph(paths.catalog_db)
        self.retriever = self.open_retriever(loaded.settings.rag.search)

    @property
    def settings(self) -> Settings:
        """The settings of the start, which most parts keep; see `settings_now`."""
        return self.loaded.settings

    def open_retriever(self, search: SearchSettings) -> Retriever:
        """A retriever over the live index, by settings that need not be those in force."""
        reranker = GeneratorReranker(self.generator) if search.reranker == "generator" else None
        return Retriever(self.engines.in_use, search, self.graph, reranker=reranker)

    def settings_now(self) -> Settings:
        """The settings as their file has them by now; while it cannot be used, the last ones that could be."""
        before, settings = self._followed.fault, self._followed()
        if (fault := self._followed.fault) and fault != before:
            _log.warning("the settings stay as they were: %s", fault)
        return settings

    @property
    def chat_log(self) -> ChatLog:
        """Conversations."""
        return self._chat_log()

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
        self.graph.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        future = self._generator
        if future and future.done() and not future.cancelled() and not future.exception():
            generator = future.result()
            if generator is not None:
                generator.close()
        self.engines.close()
        if self._chat_log.opened:
            self._chat_log.opened.close()

    def _reopen_embedder(self, spec: EmbedderSpec) -> Embedder:
        return reopen_embedder(spec, self.settings_now().rag.embedding)

    def _warm_search(self) -> None:
        try:
            with self.engines.in_use() as engines:
                engines.vector_of(self.settings.companion.name)
                if engines.fault:
                    _log.info("search is by words alone: %s", engines.fault.message)
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
