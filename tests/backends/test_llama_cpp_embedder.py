"""Embedding with a GGUF file: a tiny random BERT in the real engine and a real process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from companion_assets.backends.llama_cpp_embedder import LlamaCppEmbedder
from companion_assets.contracts.errors import BackendUnavailable, EmbeddingFailed
from tests.backends.tiny_gguf import write_tiny_bert

pytest.importorskip("llama_cpp")
TEXTS = ["river stone", "bread and lamp", "lamp"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bert(tmp_path_factory.mktemp("gguf") / "tiny.gguf", width=32, context=64)


@pytest.fixture(scope="module")
def embedder(model: Path) -> Iterator[LlamaCppEmbedder]:
    opened = LlamaCppEmbedder(model, threads=1, batch_size=2)
    yield opened
    opened.close()


def test_vectors_are_unit_rows_in_the_order_of_the_texts(embedder: LlamaCppEmbedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (3, 32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    alone = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    np.testing.assert_allclose(vectors, alone, atol=1e-5)
    assert abs(vectors[0] - vectors[1]).max() > 1e-3


def test_an_unknown_family_has_no_prefixes(embedder: LlamaCppEmbedder) -> None:
    np.testing.assert_allclose(embedder.embed_query("lamp"), embedder.embed_passages(["lamp"])[0], atol=1e-5)


def test_a_known_family_gets_its_query_prefix(tmp_path: Path) -> None:
    named = LlamaCppEmbedder(write_tiny_bert(tmp_path / "m.gguf", name="mxbai embed large v1"), threads=1)
    assert named.spec.query_prefix.startswith("Represent this sentence")
    named.close()


def test_the_spec_comes_from_the_file(embedder: LlamaCppEmbedder, tmp_path: Path) -> None:
    spec = embedder.spec
    assert (spec.provider, spec.model, spec.dimensions, spec.max_tokens) == ("llama_cpp", "tiny bert", 32, 64)
    other = LlamaCppEmbedder(write_tiny_bert(tmp_path / "other.gguf", seed=2), threads=1)
    assert other.spec.digest != spec.digest
    other.close()


def test_the_tokenizer_is_the_models_own(embedder: LlamaCppEmbedder) -> None:
    assert embedder.tokenizer.count("river stone") == 2
    assert embedder.tokenizer.count("stonexy") == 3
    assert embedder.tokenizer.spans("river stone") == [(0, 5), (5, 11)]
    assert len(embedder.tokenizer.spans("river stonexy")) == 4
    assert embedder.tokenizer.spans("") == []


def test_a_long_text_is_embedded_in_windows(embedder: LlamaCppEmbedder) -> None:
    long = "river stone " * 60
    vectors = embedder.embed_passages(["lamp", long])
    np.testing.assert_allclose(vectors[0], embedder.embed_query("lamp"), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors[1]), 1, rtol=1e-5)


def test_blank_texts_are_reported(embedder: LlamaCppEmbedder) -> None:
    with pytest.raises(EmbeddingFailed) as caught:
        embedder.embed_passages(["lamp", " "])
    assert list(caught.value.failures) == [1]


def test_no_texts_give_no_vectors(embedder: LlamaCppEmbedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 32)


def test_a_dead_process_is_said_and_comes_back(embedder: LlamaCppEmbedder) -> None:
    process = embedder._worker._process
    assert process
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(BackendUnavailable, match="ended"):
        embedder.embed_query("lamp")
    assert embedder.embed_query("lamp").shape == (32,)


def test_closing_twice_is_safe(model: Path) -> None:
    opened = LlamaCppEmbedder(model, threads=1)
    process = opened._worker._process
    assert process
    opened.close()
    opened.close()
    assert process.returncode == 0


@pytest.mark.parametrize("content", [None, b"", b"not a model", b"GGUF\x03\0\0\0 and then nothing of use"])
def test_a_file_that_cannot_be_used_is_refused_with_a_remedy(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "broken.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BackendUnavailable) as caught:
        LlamaCppEmbedder(path, threads=1)
    assert str(path) in caught.value.message
    assert "embedding model" in caught.value.hint
