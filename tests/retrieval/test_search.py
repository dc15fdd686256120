"""One search from a question to passages, over a real index, with an embedder that knows words."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.records import Chunk, Link
from companion_assets.contracts.searching import SearchFilters
from companion_assets.contracts.settings import FilterSettings, HybridSettings, LinkSettings, SearchSettings
from companion_assets.retrieval.search import Found, Search
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.note_graph import NoteGraph
from tests.retrieval.graphs import graph_of
from tests.stores.samples import chunk, note

EMBEDDER = HashEmbedder(64)
TODAY = dt.date(2026, 11, 30)
CHUNKS = [
    *(chunk(f"Notes/N{i}.md", f"some filler text number {i}", tags=("odd",) if i % 2 else ()) for i in range(60)),
    chunk("People/Zuleika.md", "Zuleika Pemberton lives by the sea"),
    chunk("Journal/2026-03-14.md", "Rain all day, soup in the evening.", date=dt.date(2026, 3, 14)),
    chunk("Journal/2025-03-14.md", "Walked to the mill.", date=dt.date(2025, 3, 14)),
    chunk("Journal/2026-07-02.md", "The mill again, with soup.", date=dt.date(2026, 7, 2)),
    chunk("Long.md", "The regatta began at nine.", 0),
    chunk("Long.md", "The regatta was cold.", 1),
    chunk("Long.md", "The regatta ended at noon.", 2),
    chunk("Boat.md", "Varnished the boat before the regatta."),
    chunk("Sale.md", "Oskar bought the boat in autumn."),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> ChunkIndex:
    paths = DataPaths(tmp_path_factory.mktemp("index"))
    vectors = EMBEDDER.embed_passages([one.text for one in CHUNKS])
    with open_writer(paths, EMBEDDER.spec, EMBEDDER.embed_query) as writer:
        rows: list[tuple[Chunk, np.ndarray]] = list(zip(CHUNKS, vectors, strict=True))
        writer.replace_notes(rows, {one.source_file for one in CHUNKS})
        writer.optimise()
        writer.publish()
    return ChunkIndex.open(paths)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> NoteGraph:
    days = {one.source_file: one.date for one in CHUNKS}
    notes = [note(path, date=day) for path, day in days.items()]
    return graph_of(tmp_path_factory.mktemp("graph"), *notes)


@pytest.fixture
def search(index: ChunkIndex, graph: NoteGraph) -> Search:
    return Search(index, EMBEDDER.embed_query, graph, SearchSettings(similarity_threshold=0))


def _paths(found: Found) -> list[str]:
    return [hit.path for hit in found.hits]


def _find(search: Search, question: str, k: int = 8, filters: SearchFilters | None = None) -> list[str]:
    return _paths(search.find(question, k=k, today=TODAY, filters=filters))


def _with(search: Search, **hybrid: object) -> Search:
    return replace(search, settings=search.settings.model_copy(update={"hybrid_search": HybridSettings(**hybrid)}))


def test_it_finds_by_meaning_and_by_words_together_and_by_either_alone(search: Search) -> None:
    assert _find(search, "Where does Zuleika live?")[0] == "People/Zuleika.md"
    by_meaning = _with(search, enabled=False).find("filler text number 7", k=3, today=TODAY)
    assert {hit.matched_by for hit in by_meaning.hits} == {("dense",)}
    by_words = replace(search, embed=lambda _: None).find("Zuleika", k=3, today=TODAY)
    assert _paths(by_words) == ["People/Zuleika.md"]
    assert all(hit.similarity is None for hit in by_words.hits)


def test_no_more_than_asked_for_and_nothing_for_nothing(search: Search) -> None:
    assert len(_find(search, "filler text", 3)) == 3
    assert _find(replace(search, embed=lambda _: None), "   ") == []


def test_filters_hold_for_both_halves_and_for_what_the_question_points_to(search: Search) -> None:
    odd = SearchFilters(tags=("odd",), folder="Notes/**")
    found = _find(search, "filler Zuleika on 14 March 2026", 50, odd)
    assert len(found) == 30
    assert all(path.startswith("Notes/") for path in found)


def test_a_day_is_found_whatever_stands_in_its_note(search: Search) -> None:
    assert _find(search, "What did I do on 14 March 2026?")[0] == "Journal/2026-03-14.md"
    assert _find(search, "What did I do on 14 March?")[:2] == ["Journal/2026-03-14.md", "Journal/2025-03-14.md"]


def test_a_demand_in_the_question_is_a_filter(search: Search) -> None:
    found = search.find("only in #odd: filler text", k=50, today=TODAY)
    assert found.understood.filters.tags == ("odd",)
    assert {hit.tags for hit in found.hits} == {("odd",)}
    both = search.find("only in #odd: filler", k=50, today=TODAY, filters=SearchFilters(folder="People"))
    assert both.hits == ()


@pytest.mark.parametrize(
    "question", ["What did I do on 14 March 2026?", "soup by the sea", "the regatta", "filler text 3"]
)
def test_scores_never_rise(search: Search, question: str) -> None:
    scores = [hit.score for hit in search.find(question, k=20, today=TODAY).hits]
    assert scores == sorted(scores, reverse=True)


def test_a_quoted_phrase_is_found_as_it_stands(search: Search) -> None:
    assert _find(search, '"the regatta was cold"', 1) == ["Long.md"]


def test_a_question_of_two_things_finds_both(search: Search) -> None:
    found = _find(search, "When did the cold regatta begin, and who bought the old boat in autumn?", 3)
    assert {"Long.md", "Sale.md"} <= set(found)


def test_a_short_follow_up_is_searched_with_the_question_before(search: Search) -> None:
    alone = search.find("And in autumn?", k=1, today=TODAY)
    assert _paths(alone) == ["Sale.md"]
    together = search.find("And where?", k=2, today=TODAY, before=["Where does Zuleika live?"])
    assert "People/Zuleika.md" in _paths(together)


def test_one_note_does_not_fill_the_list(search: Search) -> None:
    assert set(_find(search, "regatta", 3)) >= {"Long.md", "Boat.md"}


def test_below_the_threshold_nothing_is_relevant_and_above_it_the_weak_are_left_out(search: Search) -> None:
    def settled(threshold: float) -> Search:
        return replace(search, settings=search.settings.model_copy(update={"similarity_threshold": threshold}))

    question = "Zuleika Pemberton by the sea"
    strict = settled(1.0).find(question, k=5, today=TODAY)
    assert (strict.relevant, strict.strength) == (False, "none")
    assert strict.hits
    best = strict.hits[0].score
    mild = settled(best - 0.01)
    assert mild.find(question, k=60, today=TODAY).relevant
    kept = mild.find(question, k=60, today=TODAY).hits
    assert len(kept) < len(mild.find(question, k=60, today=TODAY, everything=True).hits)


def test_a_word_index_that_breaks_leaves_the_meaning(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise StoreError("the word index is damaged")

    monkeypatch.setattr(ChunkIndex, "text_leg", broken)
    for asked in (search, _with(search, keyword_weight=1, semantic_weight=0)):
        for question in ("Zuleika by the sea", 'Zuleika "by the sea"'):
            found = asked.find(question, k=3, today=TODAY)
            assert found.hits
            assert "damaged" in str(found.words_fault)
    with pytest.raises(StoreError):
        replace(search, embed=lambda _: None).find("Zuleika", k=3, today=TODAY)


@pytest.mark.parametrize(
    "text", ['"', "C++", "{x}", "a OR b:*", "' OR 1=1 --", "\0", "x" * 8000, "\ud800", "%_[", "🎻"]
)
def test_whatever_is_typed_is_text(search: Search, text: str) -> None:
    search.find(text, k=3, today=TODAY)


def test_without_names_and_links_it_searches_all_the_same(search: Search, tmp_path: Path) -> None:
    bare = replace(search, graph=NoteGraph(tmp_path / "absent.db"))
    assert _find(bare, "Where does Zuleika live?")[0] == "People/Zuleika.md"


def test_notes_that_the_best_are_linked_with_gain_by_it_if_that_is_wanted(index: ChunkIndex, tmp_path: Path) -> None:
    linked = Link("Sale", line=1)
    vault = [note("Boat.md", links=(linked,)), note("Sale.md"), note("Long.md")]
    search = Search(index, EMBEDDER.embed_query, graph_of(tmp_path, *vault), SearchSettings(similarity_threshold=0))
    following = search.settings.model_copy(update={"link_expansion": LinkSettings(enabled=True, weight=1.0)})
    question = "varnished"

    def place(asked: Search) -> int:
        return _find(asked, question, 60).index("Sale.md")

    assert place(replace(search, settings=following)) < place(search)
    assert _find(replace(search, settings=following), question)[0] == "Boat.md"
    allowed = SearchFilters(folder="Notes")
    assert "Sale.md" not in _find(replace(search, settings=following), question, 60, allowed)


def test_a_filter_makes_nothing_more_relevant(search: Search) -> None:
    """What is common is common in the whole index, however little a filter leaves of it."""
    everywhere = {hit.path: hit.score for hit in search.find("filler text", k=80, today=TODAY).hits}
    filtered = search.find("filler text", k=80, today=TODAY, filters=SearchFilters(note="Notes/N7.md")).hits
    assert [hit.path for hit in filtered] == ["Notes/N7.md"]
    assert filtered[0].score == pytest.approx(everywhere["Notes/N7.md"], abs=1e-6)


def test_a_demand_that_the_settings_switch_off_is_none(search: Search) -> None:
    off = FilterSettings(tag_filter_enabled=False, date_range_enabled=False, directory_filter_enabled=False)
    asked = replace(search, settings=search.settings.model_copy(update={"filters": off}))
    found = asked.find("only in #odd: filler text after:2026-01", k=60, today=TODAY)
    assert found.understood.filters == SearchFilters()
    assert {hit.tags for hit in found.hits} == {("odd",), ()}


def test_a_note_of_the_far_future_hides_no_year(index: ChunkIndex, tmp_path: Path) -> None:
    days = [dt.date(2099, 1, 1), *(one.date for one in CHUNKS if one.date)]
    graph = graph_of(tmp_path, *(note(f"{day}.md", date=day) for day in days))
    search = Search(index, EMBEDDER.embed_query, graph, SearchSettings(similarity_threshold=0))
    assert set(_find(search, "What did I do on 14 March?", 2)) == {"Journal/2026-03-14.md", "Journal/2025-03-14.md"}
