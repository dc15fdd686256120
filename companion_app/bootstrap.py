"""The app's composition root: the only place where its parts are wired together."""

import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from logging.handlers import RotatingFileHandler
from pathlib import Path

from companion_app.retrieval import Retriever
from companion_app.session import ChatSession
from companion_assets.backends.factory import open_embedder, open_generator
from companion_assets.backends.protocols import Embedder, Generator
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.contracts.prompt import render_prefix
from companion_assets.contracts.settings import LoggingSettings, Settings
from companion_assets.stores.chat_log import ChatLog
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.settings_file import LoadedSettings, load_settings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelState:
    """Whether the answering model is there: `loading`, `ready`, `none` (quotes instead) or `failed`."""

    state: str
    model: str = ""
    detail: str = ""


class Companion:
    """Everything a surface needs, opened on first use and shared by all sessions of the process.

    Args:
        loaded: The settings in force.
        paths: The data root.
    """

    def __init__(self, loaded: LoadedSettings, paths: DataPaths) -> None:
        self.loaded = loaded
        self.paths = paths
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="companion-load")
        self._generator: Future[Generator | None] | None = None
        self._lock = threading.Lock()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of the index.

        Raises:
            BackendUnavailable: Its weights or server are missing.
        """
        return open_embedder(self.settings.rag.embedding)

    @cached_property
    def index(self) -> ChunkIndex:
        """A reader that follows the live index.

        Raises:
            IndexMissing: Nothing has been indexed yet.
            IndexMismatch: The index was made by another embedder.
        """
        return ChunkIndex.open(self.paths, self.embedder.spec.embedder_id)

    @cached_property
    def retriever(self) -> Retriever:
        """Search over the live index."""
        return Retriever(self.index, self.embedder, self.settings.rag.search)

    @cached_property
    def chat_log(self) -> ChatLog:
        """Conversations."""
        return ChatLog(self.paths.companion_db)

    def load_generator(self) -> Future[Generator | None]:
        """Start loading the answering model in the background, once, with the prompt's stable prefix in its cache."""
        with self._lock:
            if self._generator is None:
                self._generator = self._pool.submit(self._open_generator)
            return self._generator

    def generator(self) -> Generator | None:
        """The answering model; waits while it loads. None where there is none.

        Raises:
            BackendUnavailable: It is configured and cannot be used.
        """
        return self.load_generator().result()

    def model_state(self) -> ModelState:
        """How the loading of the model stands, without waiting for it."""
        future = self._generator
        if future is None or not future.done():
            return ModelState("loading")
        if fault := future.exception():
            return ModelState("failed", detail=str(fault))
        generator = future.result()
        return ModelState("ready", generator.model) if generator else ModelState("none")

    def session(self, session_id: str | None = None) -> ChatSession:
        """A conversation: a new one, or an earlier one carried on."""
        key = session_id or self.chat_log.create_session()
        return ChatSession(key, self.retriever, self.generator, self.chat_log, self.settings.companion)

    def close(self) -> None:
        """End the engines."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._generator and self._generator.done() and not self._generator.exception():
            generator = self._generator.result()
            if generator is not None:
                generator.close()
        if "embedder" in self.__dict__:
            self.embedder.close()

    def _open_generator(self) -> Generator | None:
        generator = open_generator(self.settings.model.inference, self.paths)
        if generator is not None:
            generator.warm(render_prefix(ChatSession.system_of(self.settings.companion)))
        return generator


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
