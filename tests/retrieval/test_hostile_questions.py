"""A pasted or hostile question is read all the same: no pattern and no look-up runs away on it."""

import datetime as dt
import itertools
import multiprocessing
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from companion_assets.retrieval.dates import date_spans
from companion_assets.retrieval.understanding import understand
from companion_assets.stores.note_graph import NoteGraph
from tests.retrieval.graphs import graph_of
from tests.stores.samples import note

TODAY = dt.date(2026, 11, 30)
LENGTH = 8000  # characters
ENOUGH_S = 120  # a runaway takes for ever; this leaves room for a busy machine
BLOCKS = (
    "-#a", "#a", "-xa", ":a", "-ab ", '-"a b" ', '"-a" ', "tag:a ", "tag:", "in:a ",
    "folder:中 ", "after:2024 ", "#中", "中", "#中a ", "-", "#", ":", '"', "“", "[[a", "not ",
    "not in A, ", "but not ", "except ", "except in May ", "without ", "list the ", "only ",
    "only in ", "only #中 ", "in the ", "in A ", "folder ", "a folder ", "tagged ", "标签 ",
    "文件夹 ", "1st, ", "on the 1st, 2nd, ", "May, ", "2024-", "1/", "三", "年月", "last ",
    "the week of ", "first ", "between 3 and ", "since ", "since May ", "除了", "以外", "除了a外",
    "말고", "did A ", "did A last", "a' ", "' ", "and -", " ", "\n", "\u3000", "a", "A", "0",
    "é", "\u0301", ",", "( ", "，", ". ", "'s ",
)  # fmt: skip
LEADS = ("", "why does one two three four five six seven -#a")


def _read_all(folder: Path) -> None:
    graph = graph_of(folder, note("Journal/a.md", tags=("work", "中")))
    for lead in LEADS:
        for block in BLOCKS:
            question = (lead + block * LENGTH)[:LENGTH]
            assert understand(f"{question} fail?", today=TODAY, graph=graph).subject


@pytest.mark.parametrize(
    "repeated", ["why does one two three four five six seven -#a" + "#a" * 200, "one two three four -xa" + ":a" * 200]
)
def test_joined_operators_are_read_once(tmp_path: Path, repeated: str) -> None:
    _finishes(_read, tmp_path, f"{repeated} fail?")


def _read(folder: Path, question: str) -> None:
    assert not understand(question, today=TODAY, graph=graph_of(folder)).without


def test_any_block_may_be_repeated(tmp_path: Path) -> None:
    _finishes(_read_all, tmp_path)


def _finishes(task: Callable[..., None], *args: object) -> None:
    """In a process of its own, since a pattern that runs away cannot be stopped from within."""
    process = multiprocessing.get_context("spawn").Process(target=task, args=args)
    process.start()
    process.join(ENOUGH_S)
    running = process.is_alive()
    process.kill()
    process.join()
    assert not running
    assert process.exitcode == 0


@pytest.mark.parametrize("listed", ["on the 1st, 2nd, ", "1st, ", "3, ", "三", "May, ", "between 3 and "])
def test_work_on_lists_of_days_grows_with_the_text(listed: str) -> None:
    date_spans(listed, TODAY)  # the words are listed once
    once, twice = (_calls(partial(date_spans, listed * times, TODAY)) for times in (60, 120))
    assert twice < 2.5 * once


def test_a_whole_month_of_days_is_a_list() -> None:
    listed = ", ".join(map(str, range(1, 31)))
    assert len(date_spans(f"on {listed} and 31 March", TODAY)) == 31


def test_a_long_tag_is_looked_up_by_its_beginning_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(tmp_path, note("a.md", tags=("work",)))
    asked: list[str] = []
    has_tag = NoteGraph.has_tag

    def noted(self: NoteGraph, tag: str) -> bool:
        asked.append(tag)
        return has_tag(self, tag)

    monkeypatch.setattr(NoteGraph, "has_tag", noted)
    understand("#" + "中" * 4000, today=TODAY, graph=graph)
    assert 0 < len(asked) < 400


def test_a_tag_ends_where_other_signs_follow(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, note("a.md", tags=("工作",)))
    assert understand("#工作" + "的笔记" * 40, today=TODAY, graph=graph).tags == ("工作",)


def _calls(task: Callable[[], object]) -> int:
    """How many calls of functions it takes."""
    count = itertools.count()
    sys.setprofile(lambda _frame, event, _what: next(count) if event == "call" else None)
    try:
        task()
    finally:
        sys.setprofile(None)
    return next(count)
