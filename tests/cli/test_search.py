"""`companion search`: what is printed for a person and for a program."""

import json
import subprocess

import pytest

from tests.cli.commands import COMMAND, ROOT, Shell
from tests.cli.conftest import Indexed


def hits(shell: Shell, *arguments: str) -> list[dict]:
    done = shell.run("search", *arguments, "--json")
    assert done.status == 0, done
    document = json.loads(done.out)
    assert set(document) == {"hits", "understood", "evidence"}
    return document["hits"]


def test_json_has_the_stable_shape_and_the_best_first(demo: Indexed) -> None:
    found = hits(demo.shell, "Why did I change my mind about the cello's top?")
    assert len(found) == 8
    assert [set(hit) for hit in found] == [{"path", "heading", "lines", "date", "score", "matched_by", "text"}] * 8
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for hit in found:
        first, last = hit["lines"]
        lines = (demo.shell.vault / hit["path"]).read_text(encoding="utf-8").splitlines()
        assert 1 <= first <= last <= len(lines)
        assert set(hit["matched_by"]) <= {"dense", "text", "date", "name", "phrase", "tag", "folder"}


def test_filters_are_hard(demo: Indexed) -> None:
    found = hits(
        demo.shell, "cello", "--after", "2026-04-01", "--before", "2026-04-30", "--folder", "Journal", "-k", "20"
    )
    assert found
    assert all("2026-04-01" <= hit["date"] <= "2026-04-30" for hit in found)
    assert all(hit["path"].startswith("Journal/") for hit in found)


def test_tags_match_their_nested_tags(small: Indexed) -> None:
    for tag in ("#workshop", "workshop/cello"):
        assert [hit["path"] for hit in hits(small.shell, "top", "--tag", tag)] == ["Cello.md"]


def test_passages_of_a_person_and_of_a_note_can_be_demanded(demo: Indexed) -> None:
    with_mei = hits(demo.shell, "dinner", "--person", "mei lin", "-k", "20")
    assert len(with_mei) > 3
    assert any(hit["path"] != "People/Mei Lin.md" for hit in with_mei)
    for hit in with_mei:
        note = (demo.shell.vault / hit["path"]).read_text(encoding="utf-8")
        assert hit["path"] == "People/Mei Lin.md" or "Mei" in note or "梅" in note
    assert {hit["path"] for hit in hits(demo.shell, "dinner", "--note", "mei lin")} == {"People/Mei Lin.md"}
    assert hits(demo.shell, "dinner", "--person", "Nobody \"At' All") == []


def test_more_than_the_most_is_cut_and_said(demo: Indexed) -> None:
    done = demo.shell.run("search", "cello", "-k", "99", "--json")
    assert len(json.loads(done.out)["hits"]) == 20
    assert "rag.search.max_top_k" in done.err


def test_a_person_reads_title_place_and_text_as_they_are_written(small: Indexed) -> None:
    done = small.shell.run("search", "kettle from Zsófia", "-k", "1")
    assert done.out.splitlines() == [
        "1. Odd Kitchen/Odd.md:1-3 · 1.00",
        "   # Odd A kettle [bold red]not markup[/] that says �[31mred�]0;title and beeps, bought from Zsófia.",
    ]


@pytest.mark.parametrize("query", ["", "   ", "x" * 9000])
def test_a_query_that_is_none_is_refused(small: Indexed, query: str) -> None:
    assert "query" in small.shell.refused("search", query)


@pytest.mark.parametrize("query", ["???", "OR AND NOT (", "'; DROP TABLE notes --", "\udcff cello"])
def test_anything_may_be_asked(small: Indexed, query: str) -> None:
    assert small.shell.run("search", query).status == 0


def test_a_reader_that_leaves_is_no_fault(small: Indexed) -> None:
    pipe = f'{" ".join(COMMAND)} search "cello soup rain kettle" --json | head -1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", pipe], env=small.shell.environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("{\n", "")
