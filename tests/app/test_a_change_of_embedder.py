"""Another embedder is named in the settings: the old index answers until the new one is whole, then all follow it.

The embedded engine with its real weights, and Ollama over real HTTP.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from companion_app.bootstrap import Companion, open_companion
from companion_app.desk import Desk
from companion_assets.backends.factory import open_embedder
from companion_assets.contracts.paths import data_paths
from companion_assets.stores.index_table import read_manifest, retired_file, table_names
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.settings_file import load_settings
from tests.app.small_app import NOTES, index_vault, running, write_vault
from tests.backends.ollama_double import OllamaDouble, embedding_model
from tests.cli.commands import COMMAND, ROOT, Shell

QUESTION = "How thick is the top of the cello?"
FIRST, SECOND = "first-model", "second-model"
EMBEDDED = ("embedded", "multilingual-e5-small")
MANY, FOLDERS = 150, 3


@dataclass
class Place:
    """A vault, an Ollama server, and the settings a person edits."""

    vault: Path
    server: OllamaDouble

    def name(self, provider: str, model: str) -> None:
        """Write another embedder into the settings."""
        file = data_paths().settings_file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"vault:\n  path: {self.vault}\n"
            f"rag:\n  embedding:\n    provider: {provider}\n    model: {model}\n    base_url: {self.server.url}\n"
            "    batch_size: 500\n"
            # The double's vectors are drawn by lot: the words decide.
            "  search:\n    similarity_threshold: 0\n    hybrid_search: { semantic_weight: 0, keyword_weight: 1 }\n"
            "model:\n  inference:\n    backend: none\n"
            "ui:\n  web:\n    enabled: false\n"
        )

    def index(self) -> None:
        """Bring the index up to date with the embedder that the settings name."""
        index_vault(data_paths(), lambda: open_embedder(load_settings().settings.rag.embedding))

    @property
    def shell(self) -> Shell:
        return Shell(data_paths().root, None, {})

    def questions_embedded(self) -> int:
        return sum(QUESTION in text for body in self.server.bodies("/api/embed") for text in body["input"])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with OllamaDouble() as server:
        server.models[f"{FIRST}:latest"] = embedding_model(dimensions=64, digest="1" * 64)
        server.models[f"{SECOND}:latest"] = embedding_model(dimensions=48, digest="2" * 64)
        yield Place(write_vault(tmp_path / "vault", NOTES), server)


@pytest.fixture
def app(place: Place) -> Iterator["App"]:
    """An app that was started over an index of the embedded engine."""
    place.name(*EMBEDDED)
    place.index()
    with ExitStack() as stack:
        companion = open_companion()
        address = stack.enter_context(running(Desk(companion)))  # closes the companion
        yield App(companion, stack.enter_context(httpx.Client(base_url=address, trust_env=False, timeout=60)))


@dataclass
class App:
    companion: Companion
    http: httpx.Client

    def search(self) -> dict:
        return self.http.get("/api/search", params={"q": QUESTION}).raise_for_status().json()

    def status(self) -> dict:
        return self.http.get("/api/index/status").raise_for_status().json()


def searched_afresh(question: str = QUESTION) -> tuple[str, str]:
    """Path of the best hit and notice, of an app that is started now."""
    with closing(open_companion()) as companion:
        found = companion.retriever.retrieve(question)
        return found.hits[0].path, found.notice


def test_every_entrance_answers_from_the_old_index_and_follows_the_new_one(place: Place, app: App) -> None:
    place.name("ollama", FIRST)
    for _ in range(2):  # asking changes nothing
        assert app.search()["hits"][0]["path"] == "Cello.md"
        assert searched_afresh() == ("Cello.md", "")
    done = place.shell.run("search", QUESTION, "--json")
    assert json.loads(done.out)["hits"][0]["path"] == "Cello.md"
    assert done.err == ""
    assert place.server.bodies("/api/embed") == []
    assert app.status()["embedder_change"] == {
        "wanted": FIRST, "served": "multilingual-e5-small", "done": 0, "total": 3,
    }  # fmt: skip
    place.index()
    assert app.search()["hits"][0]["path"] == "Cello.md"
    assert place.questions_embedded() == 1
    assert searched_afresh() == ("Cello.md", "")
    assert place.questions_embedded() == 2
    assert place.shell.run("search", QUESTION).status == 0
    assert place.questions_embedded() == 3
    assert app.status()["embedder_change"] is None
    assert app.status()["index"]["embedder"] == f"{FIRST}:latest"


def test_the_way_back_goes_through_the_server_until_the_index_is_whole(place: Place) -> None:
    place.name("ollama", FIRST)
    place.index()
    place.name(*EMBEDDED)
    assert searched_afresh() == ("Cello.md", "")
    assert place.questions_embedded() == 1
    place.index()
    assert searched_afresh() == ("Cello.md", "")
    assert place.questions_embedded() == 1


def test_an_embedder_that_is_gone_leaves_the_words(place: Place) -> None:
    place.name("ollama", FIRST)
    place.index()
    place.name(*EMBEDDED)
    del place.server.models[f"{FIRST}:latest"]
    path, notice = searched_afresh()
    assert path == "Cello.md"
    assert notice.startswith("Searched by words alone: the Ollama server")
    assert "ollama pull first-model" in notice
    done = place.shell.run("search", QUESTION, "--json")
    assert {tuple(hit["matched_by"]) for hit in json.loads(done.out)["hits"]} == {("text",)}
    assert "by words alone" in done.err
    place.index()
    assert searched_afresh() == ("Cello.md", "")


def test_another_model_under_the_same_name_is_never_asked_about_the_old_vectors(place: Place) -> None:
    place.name("ollama", FIRST)
    place.index()
    place.server.models[f"{FIRST}:latest"] = embedding_model(dimensions=64, digest="3" * 64)
    path, notice = searched_afresh()
    assert (path, place.questions_embedded()) == ("Cello.md", 0)
    assert "is not the one any more that made the index" in notice
    assert "companion sync" in notice
    place.index()
    assert searched_afresh() == ("Cello.md", "")
    assert place.questions_embedded() == 1


def test_broken_settings_do_not_take_the_search_away(place: Place, app: App) -> None:
    data_paths().settings_file.write_text("rag: [")
    assert app.search()["hits"][0]["path"] == "Cello.md"
    assert app.status()["index"]["notes"] == 3


def test_a_search_under_way_keeps_its_embedder_while_the_index_is_exchanged(place: Place, app: App) -> None:
    with app.companion.engines.in_use() as before:
        place.name("ollama", FIRST)
        place.index()
        with app.companion.engines.in_use() as after:
            assert after.embedder is not before.embedder
            assert before.embedder is not None
            assert before.embedder.embed_passages(["still open"]).shape == (1, 384)
            old = before.embedder
    with pytest.raises(RuntimeError, match="shutdown"):
        old.embed_passages(["closed with its last search"])


def test_a_killed_change_goes_on_where_it_was_and_embeds_nothing_twice(place: Place) -> None:
    notes = {f"Folder {n % FOLDERS}/Note {n}.md": f"# Note {n}\n\nHive {n} behind the shed.\n" for n in range(MANY)}
    write_vault(place.vault, notes)
    place.name("ollama", FIRST)
    place.index()
    place.name("ollama", SECOND)
    before = read_manifest(data_paths())
    place.server.requests.clear()
    place.server.delay = 0.5
    kill_sync_in_its_request(place, 2)
    place.server.delay = 0.0
    embedded = passages_of(place.server.bodies("/api/embed")[:1])
    assert read_manifest(data_paths()) == before
    status = json.loads(place.shell.run("status", "--json").out)
    done, total = (status["embedder_change"]["texts"][name] for name in ("done", "total"))
    assert (done, total) == (len(embedded), MANY + len(NOTES))
    assert status["indexed"] == status["notes"] == total
    assert f"{100 * done / total:.1f} % done" in place.shell.run("status").out
    assert searched_afresh("hive 77 behind the shed") == ("Folder 2/Note 77.md", "")
    place.server.requests.clear()
    result = json.loads(place.shell.run("sync", "--json").out)
    assert result["counts"]["embeddings"]["embedded"] == total - done
    again = passages_of(place.server.bodies("/api/embed"))
    assert len(again) == total - done
    assert again.isdisjoint(embedded)
    manifest = read_manifest(data_paths())
    assert (manifest.embedder.model, manifest.notes) == (f"{SECOND}:latest", total)
    assert searched_afresh("hive 77 behind the shed") == ("Folder 2/Note 77.md", "")
    assert json.loads(place.shell.run("status", "--json").out)["embedder_change"] is None


def test_the_old_table_is_given_up_and_removed_when_no_reader_needs_it(place: Place) -> None:
    place.name("ollama", FIRST)
    place.index()
    paths = data_paths()
    with closing(open_companion()) as companion, companion.engines.in_use() as engines:
        old = read_manifest(paths).table
        place.name("ollama", SECOND)
        place.index()
        assert retired_file(paths, old).exists()
        assert engines.index.text_leg(QUESTION, 3), "a search under way still finds its table"
    manifest = read_manifest(paths)
    with open_writer(paths, manifest.embedder, lambda _: pytest.fail("nothing is drawn anew")) as writer:
        writer.prune(grace_minutes=0, force=True)
    assert table_names(paths) == [manifest.table]
    assert searched_afresh() == ("Cello.md", "")


def kill_sync_in_its_request(place: Place, number: int) -> None:
    """Start `companion sync` and kill it while the server still thinks about its n-th batch."""
    process = subprocess.Popen(
        [*COMMAND, "sync"],
        env=place.shell.environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while len(place.server.bodies("/api/embed")) < number:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def passages_of(bodies: list[dict]) -> set[str]:
    """Texts of notes, without the questions by which the scale of scores is drawn."""
    texts = [text for body in bodies for text in body["input"] if "?" not in text and "？" not in text]
    assert len(texts) == len(set(texts))
    return set(texts)
