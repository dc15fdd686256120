"""`companion eval retrieval`: real questions to a real index, the person's own or that of any folder of notes."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from companion_assets.contracts.paths import DataPaths, model_cache_dir
from companion_assets.stores.catalog_view import CatalogView
from tests.backends.ollama_double import OllamaDouble
from tests.cli.commands import NOTES, ROOT, Shell, write_vault
from tests.cli.conftest import QUOTES_ONLY, Indexed

KALE = {"id": "kale", "question": "What goes into the kale soup?", "evidence": ["Kitchen/Soup.md"], "category": "fact"}
VARNISH = {"question": "Was kostete der Lack von Benedita?", "evidence": ["./Journal\\2026-03-02.md"], "language": "de"}
GOLDEN = str(ROOT / "tests/golden/demo_vault.jsonl")
FLOORS = {
    "mrr": 0.62,
    "hit@1": 0.49,
    "recall@8": 0.85,
    "recall@10": 0.87,
    "full@10": 0.85,
}  # what was measured, less noise
UNTOLD = {"question": "What did the dentist say about my left knee?", "evidence": [], "category": "unanswerable"}


def asking(folder: Path, *rows: object, name: str = "questions.jsonl") -> str:
    file = folder / name
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return str(file)


def figures(shell: Shell, *arguments: str) -> dict[str, Any]:
    done = shell.run("eval", "retrieval", "--json", *arguments)
    assert done.status == 0, done
    return json.loads(done.out)


@pytest.fixture
def stranger(tmp_path: Path) -> Shell:
    """Somebody who has indexed nothing, with a folder of notes and a cache of their own."""
    return Shell(
        tmp_path / "home",
        None,
        {
            **QUOTES_ONLY,
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "COMPANION_MODEL_CACHE": str(model_cache_dir()),
        },
    )


def test_the_figures_stand_in_a_table(small: Indexed, tmp_path: Path) -> None:
    done = small.shell.run("eval", "retrieval", "--questions", asking(tmp_path, KALE, VARNISH, UNTOLD))
    assert done.status == 0
    lines = [line.split() for line in done.out.splitlines()]
    assert lines[0] == ["n", "mrr", "hit@1", "r@5", "r@8", "r@10", "full@10", "untold", "marked"]
    assert lines[1][:3] == ["all", "questions", "2"]
    assert ["fact", "1", *["1.000"] * 6, "–", "–"] in lines
    assert ["de", "1", *["1.000"] * 6, "–", "–"] in lines
    assert next(line for line in lines if line[:1] == ["unanswerable"])[1:8] == ["–"] * 7
    assert "95 % bounds: mrr 1.000–1.000" in done.out
    assert "ms (p95)" in done.out


def test_a_program_gets_the_figures_and_what_was_wrong_with_the_file(small: Indexed, tmp_path: Path) -> None:
    half = {**KALE, "evidence": ["Kitchen/Soup.md", "Kitchen/Lost.md"]}
    file = asking(tmp_path, half, '{"question": ', VARNISH, {"question": "?"}, UNTOLD)
    done = small.shell.run("eval", "retrieval", "--questions", file, "--json")
    assert done.status == 0
    report = json.loads(done.out)
    assert report["all"]["answerable"] == 2
    assert report["all"]["mrr"] == 1
    assert report["all"]["recall@10"] == 3 / 4
    assert report["all"]["mrr 95%"] == [1, 1]
    assert report["by_category"]["unanswerable"]["mrr"] is None
    assert report["by_category"]["unanswerable"]["unanswerable"] == 1
    assert report["by_category"]["unanswerable"]["marked"] in (0, 1)
    assert report["by_language"]["de"]["hit@1"] == 1
    assert 0 < report["milliseconds"]["p50"] <= report["milliseconds"]["p95"]
    assert report["notices"] == []
    assert report["evidence_not_indexed"] == ["Kitchen/Lost.md"]
    assert report["faults"] == [
        "line 2: not a JSON object: Expecting value at character 14",
        "line 4: evidence is missing",
    ]
    assert [line for line in done.err.splitlines() if "error: " in line] == [
        f"error: questions.jsonl, {fault}" for fault in report["faults"]
    ]
    assert "Kitchen/Lost.md" in done.err


def test_what_was_found_can_be_kept(small: Indexed, tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    figures(small.shell, "--questions", asking(tmp_path, KALE, UNTOLD), "--run", str(kept))
    first, second = map(json.loads, kept.read_text(encoding="utf-8").splitlines())
    assert first["id"] == "kale"
    assert first["paths"][0] == "Kitchen/Soup.md"
    assert sorted(first["paths"]) == sorted(set(first["paths"])), "a note once"
    assert first["mrr"] == 1
    assert first["seconds"] > 0
    assert 0 < first["score"] <= 1
    assert second["id"] == "2"
    assert "mrr" not in second


def test_one_half_of_the_search_can_be_asked_alone(small: Indexed, tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    file = asking(tmp_path, {"question": "Gemüsebrühe", "evidence": ["Kitchen/Soup.md"]})  # a word no note has
    figures(small.shell, "--questions", file, "--mode", "words", "--run", str(kept))
    assert json.loads(kept.read_text())["paths"] == []
    figures(small.shell, "--questions", file, "--mode", "meaning", "--run", str(kept))
    assert "Kitchen/Soup.md" in json.loads(kept.read_text())["paths"]


def test_the_reranker_of_the_chat_is_measured_too(talking: Shell, server: OllamaDouble, tmp_path: Path) -> None:
    def reply(messages: list[dict[str, Any]]) -> str:
        passages = messages[-1]["content"].splitlines()
        return next((line[1 : line.index("]")] for line in passages if "varnish" in line), "0")

    server.reply = reply
    shell = talking.with_variables(COMPANION_RAG__SEARCH__RERANKER="generator")
    kept, file = tmp_path / "run.jsonl", asking(tmp_path, KALE)
    for mode, first in (("auto", "Journal/2026-03-02.md"), ("words", "Kitchen/Soup.md")):
        figures(shell, "--questions", file, "--run", str(kept), "--mode", mode)
        assert json.loads(kept.read_text())["paths"][0] == first


def test_what_cannot_be_asked_is_refused_in_words(small: Indexed, empty: Shell, tmp_path: Path) -> None:
    good, bad = asking(tmp_path, KALE), asking(tmp_path, "{", "}", name="bad.jsonl")
    for shell, arguments, told in (
        (small.shell, ("--questions", bad), "holds no question that can be asked"),
        (small.shell, ("--questions", str(tmp_path / "none.jsonl")), "cannot be read"),
        (empty, ("--questions", good), "companion index"),
        (empty, ("--questions", good, "--vault", good), "is not a folder"),
    ):
        assert told in shell.refused("eval", "retrieval", *arguments)


def test_any_folder_of_notes_is_indexed_apart_and_only_once(stranger: Shell, tmp_path: Path) -> None:
    days = {f"Journal/2026-04-{day:02d}.md": f"Rain. Walked to stone {day} and back.\n" for day in range(1, 29)}
    private = {"Private/Diary.md": "# Diary\n\nNobody reads this.\n"}
    vault = write_vault(tmp_path / "Somebody's notes", {**NOTES, **days, **private})
    stranger.home.mkdir()
    settings = "vault:\n  path: /nowhere\n  indexing:\n    deny_dirs: [Private]\n"
    (stranger.home / "companion.yaml").write_text(settings)
    bees = {"question": "Where do the bees live?", "evidence": ["Bees.md"]}
    diary = {"question": "What does the diary say?", "evidence": ["Private/Diary.md"]}
    ask = ("--questions", asking(tmp_path, KALE, bees, diary), "--vault", str(vault))

    first = stranger.run("eval", "retrieval", *ask)
    assert first.status == 0
    assert "embedding passages" in first.err, "progress is shown"
    assert "Bees.md, Private/Diary.md" in first.err, "one is not there yet, one the person's settings leave out"
    assert [path.name for path in stranger.home.iterdir()] == ["companion.yaml"], "their data root is left alone"
    (room,) = (tmp_path / "cache" / "companion" / "evaluation").iterdir()
    assert room.name.startswith("Somebody-s-notes-")
    before = read_of(room)

    (vault / "Bees.md").write_text("# Bees\n\nThe hives stand behind the shed, beside the pear tree.\n")
    (vault / "Cello.md").unlink()
    yesterday = {"question": "What did I do yesterday?", "category": "yesterday"}
    by_row = {**yesterday, "evidence": ["Journal/2026-04-11.md"], "today": "2026-04-12"}
    by_option = {**yesterday, "evidence": ["Journal/2026-04-20.md"]}
    ask = ("--questions", asking(tmp_path, KALE, bees, by_row, by_option), "--vault", str(vault))
    report = figures(stranger, *ask, "--today", "2026-04-21")
    assert report["evidence_not_indexed"] == []
    assert report["all"]["recall@10"] == 1
    assert report["by_category"]["yesterday"]["hit@1"] == 1
    after = read_of(room)
    assert set(after) == {*before, "Bees.md"} - {"Cello.md"}
    assert all(after[path] == before[path] for path in after if path in before), "what did not change is not read again"
    assert len(list(room.parent.iterdir())) == 1
    assert sorted(path.name for path in vault.iterdir()) == ["Bees.md", "Journal", "Kitchen", "Private"]


def read_of(room: Path) -> dict[str, dt.datetime]:
    """Path of each note in the index of a room → when it was read."""
    view = CatalogView(DataPaths(room).catalog_db)
    try:
        return {path: state.updated_at for path in view.paths() if (state := view.note_status(path))}
    finally:
        view.close()


def test_the_golden_questions_find_their_evidence_in_the_demo_vault(demo: Indexed) -> None:
    report = figures(demo.shell, "--questions", GOLDEN)
    assert report["faults"] == report["notices"] == report["evidence_not_indexed"] == []
    assert {name: report["all"][name] for name, floor in FLOORS.items() if report["all"][name] < floor} == {}
    assert report["all"]["marked"] > report["all"]["wrongly_marked"]
