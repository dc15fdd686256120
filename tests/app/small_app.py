"""A whole app over a small vault: real stages, real index, real chat log; a scripted model that takes its time."""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import uvicorn

from companion_app.bootstrap import Companion
from companion_app.desk import Desk
from companion_app.serve import create_app, listen
from companion_assets.backends.fakes import HashEmbedder
from companion_assets.backends.protocols import Embedder, Token
from companion_assets.backends.protocols import Generator as Model
from companion_assets.backends.reply_stream import ReplyStream
from companion_assets.backends.scripted import ScriptedGenerator
from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.contracts.records import Message
from companion_assets.contracts.settings_knowledge import EMBEDDED_MODEL
from companion_assets.stages import sync
from companion_assets.stages.publishing import open_publisher
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.settings_file import load_settings

NOTES = {
    "Cello.md": "---\ndate: 2026-03-01\n---\n# Cello\n\n"
    "Regraduated the top of the cello to 4.2 mm.\n\nThe bass bar is spruce.\n",
    "Journal/2026-03-02.md": "# Monday\n\n#DayInShort\nRain all day. Bought varnish from Benedita for 38 euros.\n",
    "Kitchen/Soup.md": "# Caldo verde\n\nKale, potatoes and one slice of chouriço. <script>alert(1)</script>\n\n"
    "![remote](https://example.com/pixel.png)\n",
}


class SlowModel(ScriptedGenerator):
    """Writes its script word by word, with a pause before each; may be stopped from any thread.

    Attributes:
        ended: How the last reply ended: `stop` or `cancelled`.
    """

    def __init__(self, script: str | Callable[[Sequence[Message]], str], pause: float, prefill: float = 0.0) -> None:
        super().__init__(script)
        self.pause = pause
        self.prefill = prefill
        self.ended = ""

    def generate(self, messages: Sequence[Message], **options: object) -> ReplyStream:  # type: ignore[override]
        """The reply, stoppable."""
        stopped = threading.Event()
        return ReplyStream(self._paced(messages, stopped, options), stopped.set)

    def _paced(
        self, messages: Sequence[Message], stopped: threading.Event, options: dict[str, object]
    ) -> Generator[Token, None, None]:
        self.ended = "cancelled"
        stopped.wait(self.prefill)
        for token in super().generate(messages, **options):  # type: ignore[arg-type]
            if stopped.wait(self.pause) and token.finish_reason is None:
                yield Token("", "cancelled")
                return
            self.ended = str(token.finish_reason or "cancelled")
            yield token


class SmallEmbedder(HashEmbedder):
    """Goes by the name that the settings have by default, without its weights."""

    @property
    def spec(self) -> EmbedderSpec:
        """The identity of these vectors."""
        return replace(super().spec, provider="embedded", model=EMBEDDED_MODEL)


class SmallCompanion(Companion):
    """The app's own wiring with engines that need no weights."""

    model: Model | None = None

    def _reopen_embedder(self, spec: EmbedderSpec) -> Embedder:
        return SmallEmbedder()

    def _open_generator(self) -> Model | None:
        return self.model


def write_vault(root: Path, notes: dict[str, str]) -> Path:
    """Write notes below `root`."""
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def index_vault(paths: DataPaths, open_embedder: Callable[[], Embedder] = SmallEmbedder) -> None:
    """Bring the index up to date, with the steps the pipeline takes."""
    settings = load_settings().settings
    work = Workspace(paths, settings.vault, settings.security, open_embedder, "test-run")
    folders = sorted({file.folder for file in work.scan().files} | set(work.catalog.folders()))
    for step in (sync.read_folder, sync.chunk_folder, sync.embed_folder):
        for folder in folders:
            step(work, folder)
    with open_publisher(work) as publisher:
        for folder in folders:
            publisher.publish_folder(work, folder)
        verdict = publisher.finish()
    assert verdict.published, verdict.faults
    work.close()


def open_desk(model: Model | None) -> Desk:
    """A desk over the data root and settings in force."""
    companion = SmallCompanion(load_settings(), data_paths())
    companion.model = model
    companion.load_generator()
    return Desk(companion)


@contextlib.contextmanager
def running(desk: Desk) -> Iterator[str]:
    """Serve a desk with uvicorn on a free port; yields the address."""
    door = listen("127.0.0.1", 0)
    config = uvicorn.Config(create_app(desk), log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.02)
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        door.close()
