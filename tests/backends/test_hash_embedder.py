"""The fake embedder behaves as a real one must, and its similarity means shared words."""

import subprocess
import sys

import numpy as np
import pytest

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.errors import EmbeddingFailed


def test_shared_words_make_texts_similar() -> None:
    embedder = HashEmbedder()
    boat, tax = embedder.embed_passages(["Ingrid lends me her boat", "the tax return is due"])
    question = embedder.embed_query("who lends a boat?")
    assert question @ boat > question @ tax + 0.2


def test_case_and_order_do_not_matter() -> None:
    embedder = HashEmbedder()
    first, second = embedder.embed_passages(["Red boat", "BOAT red"])
    np.testing.assert_allclose(first, second)


def test_vectors_are_unit_rows_of_the_claimed_length() -> None:
    vectors = HashEmbedder(dimensions=100).embed_passages(["a", "b c", "数据库"])
    assert vectors.shape == (3, 100)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_another_process_computes_the_same() -> None:
    code = (
        "from companion_assets.backends.fakes import HashEmbedder as H; print(H(16).embed_query('red boat').tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert eval(printed) == HashEmbedder(16).embed_query("red boat").tolist()


def test_blank_texts_are_reported() -> None:
    with pytest.raises(EmbeddingFailed) as caught:
        HashEmbedder().embed_passages(["", "a"])
    assert list(caught.value.failures) == [0]


def test_the_tokenizer_counts_what_it_spans() -> None:
    tokenizer = HashEmbedder().tokenizer
    text = "Who, me? 42 — yes."
    assert [text[start:end] for start, end in tokenizer.spans(text)] == ["Who", ",", "me", "?", "42", "—", "yes", "."]
    assert tokenizer.count(text) == 8
