"""The whole product on an Ollama server: real client, real HTTP, a double that also fails as the real server does."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion_app.bootstrap import Companion, open_companion
from companion_app.events import Delta, Final, Notice, ReplyEvent, Sources
from companion_assets.backends.factory import open_embedder
from companion_assets.contracts.paths import data_paths
from companion_assets.stores.settings_file import load_settings
from tests.app.small_app import NOTES, index_vault, write_vault
from tests.backends.ollama_double import OllamaDouble, chat_model, embedding_model
from tests.cli.commands import Shell

EMBEDDER = "mxbai-embed-large:latest"
QUESTION = "How thick is the top of the cello?"
CITED = "The top of the cello is 4.2 mm [1]."


@pytest.fixture
def server() -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        double.models[EMBEDDER] = embedding_model(dimensions=64)
        double.models["llama3:latest"] = chat_model()
        double.reply = CITED
        yield double


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_vault(tmp_path / "vault", NOTES)


@pytest.fixture
def settings_file(vault: Path, server: OllamaDouble) -> Path:
    """Settings as a person with Ollama writes them."""
    file = data_paths().settings_file
    file.parent.mkdir(parents=True)
    file.write_text(
        f"vault:\n  path: {vault}\n"
        f"rag:\n  embedding:\n    provider: ollama\n    model: mxbai-embed-large\n    base_url: {server.url}\n"
        # Its vectors are drawn by lot: the words decide.
        "  search:\n    similarity_threshold: 0\n    hybrid_search: { semantic_weight: 0, keyword_weight: 1 }\n"
        f"model:\n  inference:\n    backend: ollama\n    model: llama3\n    base_url: {server.url}\n"
    )
    return file


@pytest.fixture
def companion(settings_file: Path) -> Iterator[Companion]:
    index_with_ollama()
    companion = open_companion()
    yield companion
    companion.close()


def index_with_ollama() -> None:
    index_vault(data_paths(), lambda: open_embedder(load_settings().settings.rag.embedding))


def ask(companion: Companion, question: str = QUESTION) -> list[ReplyEvent]:
    return list(companion.session().reply(question))


def final_of(events: list[ReplyEvent]) -> Final:
    assert isinstance(events[-1], Final)
    return events[-1]


def notices(events: list[ReplyEvent]) -> str:
    return " ".join(event.text for event in events if isinstance(event, Notice))


def test_from_a_missing_model_to_a_cited_answer(server: OllamaDouble, settings_file: Path, vault: Path) -> None:
    shell = Shell(data_paths().root, vault, {})
    model = server.models.pop(EMBEDDER)
    assert "ollama pull mxbai-embed-large" in shell.refused("index")
    server.models[EMBEDDER] = model
    done = shell.run("index")
    assert "3 passages embedded" in done.out
    assert "The index holds 3 passages of 3 notes." in done.out
    answered = shell.run("ask", QUESTION)
    assert answered.out.startswith(CITED)
    assert "\n[1] Cello.md:" in answered.out
    sent = [text for body in server.bodies("/api/embed") for text in body["input"]]
    assert any(text.startswith("Represent this sentence") and QUESTION in text for text in sent)
    assert all(body["truncate"] is False for body in server.bodies("/api/embed"))


def test_a_reply_streams_and_cites(companion: Companion) -> None:
    events = ask(companion)
    assert isinstance(events[0], Sources)
    assert sum(isinstance(event, Delta) for event in events) > 3
    turn = final_of(events).turn
    assert (turn.reply, turn.model, turn.stopped) == (CITED, "llama3", False)
    assert [citation.path for citation in turn.citations] == ["Cello.md"]


def test_a_missing_chat_model_is_named_and_used_once_it_is_there(companion: Companion, server: OllamaDouble) -> None:
    model = server.models.pop("llama3:latest")
    events = ask(companion)
    assert "ollama pull llama3" in notices(events)
    turn = final_of(events).turn
    assert "> Regraduated the top of the cello" in turn.reply
    assert [citation.path for citation in turn.citations][:1] == ["Cello.md"]
    assert companion.model_state().state == "failed"
    assert "ollama pull llama3" in companion.model_state().detail
    server.models["llama3:latest"] = model
    assert final_of(ask(companion)).turn.reply == CITED
    end = time.monotonic() + 20
    while companion.model_state().state != "ready":
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_chat_server_that_is_down_leaves_the_quotes(
    companion: Companion, settings_file: Path, server: OllamaDouble
) -> None:
    text = settings_file.read_text()
    head, _, _ = text.rpartition("base_url:")
    settings_file.write_text(f"{head}base_url: http://127.0.0.1:1\n")
    other = open_companion()
    events = ask(other)
    other.close()
    assert "ollama serve" in notices(events)
    assert "4.2 mm" in final_of(events).turn.reply


def test_an_embedding_server_that_is_down_is_named_and_the_words_are_searched(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPANION_RAG__EMBEDDING__BASE_URL", "http://127.0.0.1:1")
    other = open_companion()
    events = ask(other)
    other.close()
    assert "no Ollama server answers" in notices(events)
    assert "ollama serve" in notices(events)
    turn = final_of(events).turn
    assert (turn.reply, [citation.path for citation in turn.citations]) == (CITED, ["Cello.md"])


def test_a_server_that_goes_away_and_comes_back_is_asked_again(companion: Companion, server: OllamaDouble) -> None:
    assert notices(ask(companion)) == ""
    server.busy = 4  # as often as one request is tried
    assert "is busy" in notices(ask(companion))
    assert notices(ask(companion)) == ""


def test_a_slow_server_is_waited_for(companion: Companion, server: OllamaDouble) -> None:
    server.delay, server.piece_delay = 0.3, 0.01
    final = final_of(ask(companion))
    assert final.turn.reply == CITED
    assert final.timings["first_token"] >= 0.3


def test_a_reply_that_is_cut_off_is_kept_and_said_to_be_cut_off(companion: Companion, server: OllamaDouble) -> None:
    companion.generator()
    server.reply, server.drop_after = f"{CITED} " + "The bass bar is spruce, as before. " * 20, 60
    events = ask(companion)
    streamed = "".join(event.text for event in events if isinstance(event, Delta))
    assert streamed.startswith("The top")
    assert "ended the reply in the middle" in notices(events) or "broke the connection" in notices(events)
    turn = final_of(events).turn
    assert turn.stopped
    assert streamed.startswith(turn.reply)
    assert turn.citations
    server.reply, server.drop_after = CITED, None
    assert final_of(ask(companion)).turn.reply == CITED


def test_texts_longer_than_the_window_of_the_model_are_indexed_whole(
    server: OllamaDouble, settings_file: Path, vault: Path
) -> None:
    server.models[EMBEDDER] = embedding_model(dimensions=64, context=48)
    words = " ".join(f"word{n}" for n in range(900))
    (vault / "Long.md").write_text(f"# Long\n\n{words}\n\nThe last line names a marmoset.\n")
    index_with_ollama()
    companion = open_companion()
    assert companion.retriever.retrieve(words[:3000]).hits[0].path == "Long.md"
    kept = " ".join(chunk.text for chunk in companion.engines.index().neighbours("Long.md"))
    assert {*words.split(), "marmoset."} <= set(kept.split())
    companion.close()
