"""The Ollama embedder through the real client, against a server that fails as the real one does."""

from collections.abc import Iterator

import numpy as np
import pytest

from companion_assets.backends.ollama_client import explain, open_client, with_tag
from companion_assets.backends.ollama_embedder import OllamaEmbedder
from companion_assets.contracts.errors import BackendUnavailable, EmbeddingFailed
from tests.backends.ollama_double import OllamaDouble, chat_model, embedding_model, vector

MXBAI = "mxbai-embed-large"
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "


@pytest.fixture
def server() -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        double.models[f"{MXBAI}:latest"] = embedding_model(dimensions=8, context=32)
        yield double


@pytest.fixture
def embedder(server: OllamaDouble) -> Iterator[OllamaEmbedder]:
    opened = OllamaEmbedder(server.url, MXBAI, timeout=5)
    yield opened
    opened.close()


def test_vectors_come_in_the_order_of_the_texts(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    texts = [f"note {number}" for number in range(70)]
    vectors = embedder.embed_passages(texts)
    np.testing.assert_allclose(vectors, [vector(text, 8) for text in texts], rtol=1e-5)
    assert [len(body["input"]) for body in server.bodies("/api/embed")] == [32, 32, 6]


def test_truncation_is_switched_off_and_the_context_asked_for(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    embedder.embed_passages(["a"])
    (body,) = server.bodies("/api/embed")
    assert body["truncate"] is False
    assert body["options"] == {"num_ctx": 32}


def test_questions_get_the_prefix_of_the_family(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    np.testing.assert_allclose(embedder.embed_query("why"), vector(QUERY_PREFIX + "why", 8), rtol=1e-5)
    np.testing.assert_allclose(embedder.embed_passages(["why"])[0], vector("why", 8), rtol=1e-5)


def test_the_spec_tells_what_the_server_tells(embedder: OllamaEmbedder) -> None:
    spec = embedder.spec
    assert (spec.provider, spec.model, spec.digest) == ("ollama", f"{MXBAI}:latest", "a" * 64)
    assert (spec.dimensions, spec.max_tokens, spec.query_prefix) == (8, 32, QUERY_PREFIX)


@pytest.mark.parametrize("asked", ["bge-m3", "bge-m3:latest"])
def test_the_default_tag_may_be_left_out(server: OllamaDouble, asked: str) -> None:
    server.models["bge-m3:latest"] = embedding_model()
    spec = OllamaEmbedder(server.url, asked, timeout=5).spec
    assert spec.model == "bge-m3:latest"
    assert spec.query_prefix == ""


def test_a_port_in_a_name_is_no_tag() -> None:
    assert with_tag("registry:5000/team/bge-m3") == "registry:5000/team/bge-m3:latest"
    assert with_tag("bge-m3:f16") == "bge-m3:f16"


def test_another_tag_is_another_model(server: OllamaDouble) -> None:
    with pytest.raises(BackendUnavailable, match="mxbai-embed-large:f16"):
        OllamaEmbedder(server.url, f"{MXBAI}:f16", timeout=5)


def test_a_missing_model_is_named_with_the_command(server: OllamaDouble) -> None:
    with pytest.raises(BackendUnavailable) as caught:
        OllamaEmbedder(server.url, "nomic-embed-text", timeout=5)
    assert "nomic-embed-text" in caught.value.message
    assert caught.value.hint == "ollama pull nomic-embed-text"


def test_a_model_that_vanishes_later_is_named_with_the_command(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    server.models.clear()
    with pytest.raises(BackendUnavailable) as caught:
        embedder.embed_passages(["a", "b"])
    assert caught.value.hint == f"ollama pull {MXBAI}"


def test_a_chat_model_is_refused_before_anything_is_embedded(server: OllamaDouble) -> None:
    server.models["llama3.1:8b"] = chat_model()
    with pytest.raises(BackendUnavailable, match="does not embed"):
        OllamaEmbedder(server.url, "llama3.1:8b", timeout=5)


def test_no_server_is_said_in_plain_words() -> None:
    with pytest.raises(BackendUnavailable, match="no Ollama server answers") as caught:
        OllamaEmbedder("http://127.0.0.1:1", MXBAI, timeout=5)
    assert "http://127.0.0.1:1" in caught.value.message
    assert caught.value.hint == "ollama serve"


def test_only_the_given_address_is_used(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert OllamaEmbedder(server.url, MXBAI, timeout=5).spec.dimensions == 8
    with pytest.raises(BackendUnavailable, match="address"):
        open_client(" ", 5)


def test_one_long_text_is_embedded_in_windows_and_costs_the_others_nothing(
    server: OllamaDouble, embedder: OllamaEmbedder
) -> None:
    long = " ".join(f"w{number}" for number in range(100))
    texts = ["before", long, "after"]
    vectors = embedder.embed_passages(texts)
    np.testing.assert_allclose(vectors[[0, 2]], [vector("before", 8), vector("after", 8)], rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    pieces = [body["input"][0] for body in server.bodies("/api/embed") if body["input"][0] in long]
    seen = {word for piece in pieces if piece != long for word in piece.split()}
    assert seen == set(long.split())


def test_a_text_without_a_vector_is_reported_and_the_others_were_tried(
    server: OllamaDouble, embedder: OllamaEmbedder
) -> None:
    server.nan_texts.add("cursed")
    with pytest.raises(EmbeddingFailed) as caught:
        embedder.embed_passages(["a", "cursed", "b"])
    assert list(caught.value.failures) == [1]
    assert "NaN" in caught.value.failures[1]
    asked = [body["input"] for body in server.bodies("/api/embed")]
    assert asked == [["a", "cursed", "b"], ["a"], ["cursed", "b"], ["cursed"], ["b"]]


@pytest.mark.parametrize("kind", ["nan", "zero"])
def test_an_unusable_row_is_asked_for_alone_once_more(
    server: OllamaDouble, embedder: OllamaEmbedder, kind: str
) -> None:
    server.literal_nan = True
    (server.nan_texts if kind == "nan" else server.zero_texts).add("cursed")
    with pytest.raises(EmbeddingFailed) as caught:
        embedder.embed_passages(["a", "cursed", "b"])
    assert list(caught.value.failures) == [1]
    assert [body["input"] for body in server.bodies("/api/embed")] == [["a", "cursed", "b"], ["cursed"]]


def test_a_server_that_refuses_everything_is_at_fault_not_the_texts(
    server: OllamaDouble, embedder: OllamaEmbedder
) -> None:
    server.nan_texts |= {"a", "b"}
    with pytest.raises(BackendUnavailable, match="none of 2 texts") as caught:
        embedder.embed_passages(["a", "b"])
    assert not isinstance(caught.value, EmbeddingFailed)


def test_blank_texts_never_reach_the_server(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    with pytest.raises(EmbeddingFailed) as caught:
        embedder.embed_passages(["a", ""])
    assert list(caught.value.failures) == [1]
    assert not server.bodies("/api/embed")


def test_no_texts_give_no_vectors(embedder: OllamaEmbedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 8)


def test_a_busy_server_is_asked_again(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    server.busy = 2
    assert embedder.embed_passages(["a"]).shape == (1, 8)
    server.busy = 99
    with pytest.raises(BackendUnavailable, match="busy"):
        embedder.embed_passages(["a"])


def test_a_dropped_connection_is_said_in_plain_words(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    server.drop_after = 0
    with pytest.raises(BackendUnavailable, match="broke the connection"):
        embedder.embed_passages(["a"])


def test_a_slow_server_is_given_up(server: OllamaDouble) -> None:
    opened = OllamaEmbedder(server.url, MXBAI, timeout=0.2)
    server.delay = 1.0
    with pytest.raises(BackendUnavailable, match="took too long"):
        opened.embed_passages(["a"])


def test_vectors_of_another_length_are_refused(server: OllamaDouble, embedder: OllamaEmbedder) -> None:
    server.models[f"{MXBAI}:latest"].dimensions = 6
    with pytest.raises(BackendUnavailable, match="8 was expected"):
        embedder.embed_passages(["a"])


def test_half_a_surrogate_pair_is_no_obstacle(embedder: OllamaEmbedder) -> None:
    assert np.isfinite(embedder.embed_passages(["broken \ud83d emoji"])).all()


def test_something_else_than_ollama_is_recognised() -> None:
    fault = explain(ValueError("Expecting value: line 1"), MXBAI, "http://localhost:8080")
    assert "does not speak as Ollama does" in fault.message


@pytest.mark.parametrize("text", ["The cat sat on the mat.", "数据库 备份", "Straßenbahn", "a-b_c 12345", "🙂 ok"])
def test_estimated_tokens_cover_the_text(embedder: OllamaEmbedder, text: str) -> None:
    spans = embedder.tokenizer.spans(text)
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert embedder.tokenizer.count(text) == len(spans) >= len(text.split())
