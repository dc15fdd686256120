"""Passages of one note, and passages that name somebody: before the search, and whatever signs are in a name."""

from pathlib import Path

import pytest

from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.searching import SearchFilters
from companion_assets.retrieval.names import resolve_filters
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.note_graph import NoteGraph
from companion_assets.stores.predicates import where
from tests.retrieval.graphs import graph_of
from tests.stores.samples import SPEC, chunk, note, question, rows

HOSTILE = ['O\'Hara "Q" (x)', "a.*b", "100% [y]_z", "x' OR 1=1 --"]
CHUNKS = [
    chunk("Day 1.md", "Dinner with Anna’s sister."),
    chunk("Day 2.md", "Dinner with Annabel."),
    chunk("Day 3.md", "Dinner with her.", tags=("Anna Meyer",), links=("Anna Meyer",)),
    chunk("Day 4.md", "Dr. Kovář and Tom Ray and TOM BAKER."),
    chunk("Day 5.md", "和李梅一起吃饭。"),
    chunk("Day 6.md", "Tom alone."),
    chunk("People/Anna Meyer.md", "Born in May."),
    chunk("it's 100%.md", "A note of a difficult name."),
    *(chunk(f"Hostile {at}.md", f"Met {name} today.") for at, name in enumerate(HOSTILE)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> ChunkIndex:
    paths = DataPaths(tmp_path_factory.mktemp("index"))
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(*CHUNKS), {one.source_file for one in CHUNKS})
        writer.publish()
    return ChunkIndex.open(paths)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> NoteGraph:
    people = [("Anna Meyer", ("Annie",)), ("Dr. Kovář", ()), ("Tom Ray", ()), ("Tom Baker", ()), ("李梅", ())]
    notes = [note(f"People/{name}.md", aliases=aliases) for name, aliases in people]
    return graph_of(tmp_path_factory.mktemp("graph"), *notes, note("it's 100%.md"))


def paths(index: ChunkIndex, graph: NoteGraph, **filters: object) -> list[str]:
    settled, people = resolve_filters(SearchFilters(**filters), graph)
    return sorted(one.source_file for one in index._chunks(where(settled, people)))


@pytest.mark.parametrize(
    ("people", "found"),
    [
        (("Anna Meyer",), ["Day 1.md", "Day 3.md", "People/Anna Meyer.md"]),
        (("anna",), ["Day 1.md", "Day 3.md", "People/Anna Meyer.md"]),
        (("Annie",), ["Day 1.md", "Day 3.md", "People/Anna Meyer.md"]),
        (("kovar",), ["Day 4.md"]),
        (("Tom Ray", "Tom Baker"), ["Day 4.md"]),
        (("Tom",), ["Day 4.md", "Day 6.md"]),
        (("Tom Ray",), ["Day 4.md"]),
        (("李梅",), ["Day 5.md"]),
        (("Annabel",), ["Day 2.md"]),
        (("Nobody At All",), []),
        (("",), []),
        (("\0\ud800",), []),
    ],
)
def test_passages_that_name_all_of_them(
    index: ChunkIndex, graph: NoteGraph, people: tuple[str, ...], found: list[str]
) -> None:
    assert paths(index, graph, people=people) == found


@pytest.mark.parametrize(("at", "name"), enumerate(HOSTILE))
def test_signs_in_a_name_are_only_signs(index: ChunkIndex, graph: NoteGraph, at: int, name: str) -> None:
    assert paths(index, graph, people=(name,)) == [f"Hostile {at}.md"]


@pytest.mark.parametrize("asked", ["it's 100%.md", "it's 100%", "IT’S 100", "People/Anna Meyer", "anna meyer"])
def test_passages_of_one_note(index: ChunkIndex, graph: NoteGraph, asked: str) -> None:
    assert paths(index, graph, note=asked) == [("People/Anna Meyer.md" if "nn" in asked else "it's 100%.md")]


def test_a_note_that_is_not_there_has_no_passages(index: ChunkIndex, graph: NoteGraph) -> None:
    assert paths(index, graph, note="' OR 1=1 --") == paths(index, graph, note="") == []


def test_without_a_catalog_names_are_taken_as_they_are(index: ChunkIndex, tmp_path: Path) -> None:
    none = NoteGraph(tmp_path / "none.db")
    assert paths(index, none, people=("Anna",)) == ["Day 1.md", "Day 3.md", "People/Anna Meyer.md"]
    assert paths(index, none, note="Day 1") == ["Day 1.md"]
    assert where(SearchFilters(people=("Anna",))) == where(*resolve_filters(SearchFilters(people=("anna",)), none))


def test_it_is_a_filter_before_the_search(index: ChunkIndex, graph: NoteGraph) -> None:
    settled, people = resolve_filters(SearchFilters(people=("kovar",)), graph)
    hits = index.vector_leg(question("Born in May."), 1, where(settled, people))
    assert [hit.path for hit in hits] == ["Day 4.md"]
