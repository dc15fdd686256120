"""A process that executes many runs opens the embedder once, and another when the settings name another."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.backends.protocols import Vectors
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.settings_knowledge import EmbeddingSettings
from companion_assets.defs import warm_embedder
from companion_assets.defs.resources import open_workspace
from companion_assets.defs.warm_embedder import WarmEmbedder, kept_warm


class Engine(HashEmbedder):
    """Knows whether it is open, and fails when told to."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        super().__init__()
        self.settings = settings
        self.open = True
        self.broken = False

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise BackendUnavailable("its process has died", "try again")
        return super().embed_passages(texts)

    def close(self) -> None:
        self.open = False


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Engine]:
    engines: list[Engine] = []

    def open_engine(settings: EmbeddingSettings) -> Engine:
        engines.append(Engine(settings))
        return engines[-1]

    monkeypatch.setattr(warm_embedder, "open_embedder", open_engine)
    return engines


@pytest.fixture
def warm() -> Iterator[WarmEmbedder]:
    with kept_warm() as kept:
        yield kept


def run() -> None:
    """What a run does with its embedder."""
    with open_workspace("run") as work:
        work.embedder.embed_passages(["a"])


def test_run_after_run_uses_the_same_open_engine(opened: list[Engine], warm: WarmEmbedder) -> None:
    run()
    run()
    assert [engine.open for engine in opened] == [True]


def test_without_a_worker_a_run_closes_what_it_opened(opened: list[Engine]) -> None:
    run()
    run()
    assert [engine.open for engine in opened] == [False, False]


def test_other_settings_are_in_force_from_the_next_run_on(
    opened: list[Engine], warm: WarmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    monkeypatch.setenv("COMPANION_RAG__EMBEDDING__BATCH_SIZE", "7")
    run()
    assert [(engine.settings.batch_size, engine.open) for engine in opened] == [(32, False), (7, True)]


def test_another_file_under_the_same_name_is_another_engine(
    opened: list[Engine], warm: WarmEmbedder, tmp_path: Path
) -> None:
    weights = tmp_path / "model.gguf"
    settings = EmbeddingSettings(provider="llama_cpp", model=str(weights))
    for content in (b"one", b"one", b"other"):
        if not weights.exists() or weights.read_bytes() != content:
            weights.write_bytes(content)
        warm.lend(settings).close()
    assert [engine.open for engine in opened] == [False, True]


def test_a_server_is_asked_every_time(opened: list[Engine], warm: WarmEmbedder) -> None:
    settings = EmbeddingSettings(provider="ollama", model="mxbai-embed-large")
    for _ in range(2):
        warm.lend(settings).close()
    assert [engine.open for engine in opened] == [False, False]


def test_one_that_failed_is_not_lent_again(opened: list[Engine], warm: WarmEmbedder) -> None:
    run()
    opened[0].broken = True
    with pytest.raises(BackendUnavailable):
        run()
    run()
    assert [engine.open for engine in opened] == [False, True]


def test_when_the_worker_ends_the_engine_is_closed(opened: list[Engine]) -> None:
    with kept_warm():
        run()
    assert [engine.open for engine in opened] == [False]
