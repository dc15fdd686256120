"""Which names of the vault a question holds, and which of its words only look like one."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_assets.contracts.records import Link
from companion_assets.contracts.searching import SearchFilters
from companion_assets.retrieval.names import names_in, resolve_filters
from companion_assets.stores.note_graph import NoteGraph
from tests.retrieval.graphs import graph_of
from tests.stores.samples import note

NOTES = [
    note("People/Anna Meyer.md", aliases=("Annie",)),
    note("People/Tom Ray.md"),
    note("People/Tom Baker.md"),
    note("People/Dr. Kovář.md"),
    note("People/Will Hart.md"),
    note("People/李梅.md", aliases=("小梅",)),
    note("人物/田中さくら.md"),
    note("Home.md"),
    note("Ideas.md"),
    note("Notizen/Übung.md"),
    note("Work/GitHub.md"),
    note("Work/Half marathon.md", aliases=("the big run",)),
    note("Work/Half marathon plan.md"),
    note("Work/To do.md"),
    note("Trips/Ljubljana.md"),
    note("Trips/Archive/Ljubljana.md"),
    note("Journal/2026-09-09.md"),
    note("2025.md"),
    note("C++ notes.md", aliases=("C++",)),
    note("旅行/台北食谱.md"),
    note("🎻.md"),
    note("a.md", links=(Link("Kyoto Trip"), Link("Café Sol"), Link("東京"))),
    note("บันทึก/กรุงเทพ.md"),
    note("Я/Анна Каренина.md"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> NoteGraph:
    return graph_of(tmp_path_factory.mktemp("names"), *NOTES)


def found(graph: NoteGraph, question: str) -> list[tuple[str, str]]:
    return [(named.name, question[named.start : named.end]) for named in names_in(question, graph)]


FOUND = [
    ("What did Anna Meyer say?", [("Anna Meyer", "Anna Meyer")]),
    ("what did anna meyer say", [("Anna Meyer", "anna meyer")]),
    ("What did Anna say?", [("Anna Meyer", "Anna")]),
    ("when did i see anna", [("Anna Meyer", "anna")]),
    ("Anna's birthday", [("Anna Meyer", "Anna")]),
    ("ANNIE’S birthday", [("Anna Meyer", "ANNIE")]),
    ("Wann ist Annas Geburtstag?", [("Anna Meyer", "Anna")]),
    ("Qu'est-ce que j'ai dit d'Anna ?", [("Anna Meyer", "Anna")]),
    ("Anna'nın doğum günü", [("Anna Meyer", "Anna")]),
    ("Did Dr Kovar call?", [("Dr. Kovář", "Dr Kovar")]),
    ("Did Kovář call?", [("Dr. Kovář", "Kovář")]),
    ("Did Tom Ray call?", [("Tom Ray", "Tom Ray")]),
    ("Did Tom call?", [("Tom Baker", "Tom"), ("Tom Ray", "Tom")]),
    ("What did Will say?", [("Will Hart", "Will")]),
    ("我什么时候见过李梅？", [("李梅", "李梅")]),
    ("小梅的生日", [("李梅", "小梅")]),
    ("田中さくらと会ったのはいつ", [("田中さくら", "田中さくら")]),
    ("台北食谱里写了什么", [("台北食谱", "台北食谱")]),
    ("東京で何をした？", [("東京", "東京")]),
    ("ไปกรุงเทพเมื่อไหร่", [("กรุงเทพ", "กรุงเทพ")]),
    ("что сказала Анна Каренина", [("Анна Каренина", "Анна Каренина")]),
    ("my half-marathon time", [("Half marathon", "half-marathon")]),
    ("the half marathon plan for May", [("Half marathon plan", "half marathon plan")]),
    ("how was the big run?", [("Half marathon", "the big run")]),
    ("What happened in Ljubljana?", [("Ljubljana", "Ljubljana")]),
    ("issues on github", [("GitHub", "github")]),
    ("what is in my Home note", [("Home", "Home")]),
    ('what is in "ideas"', [("Ideas", "ideas")]),
    ("see [[ideas]]", [("Ideas", "[[ideas]]")]),
    ("see [[Trips/Archive/Ljubljana|there]]", [("Ljubljana", "[[Trips/Archive/Ljubljana|there]]")]),
    ("see [[Never written]]", [("Never written", "[[Never written]]")]),
    ("see [[🎻]]", [("🎻", "[[🎻]]")]),
    ("the kyoto trip and café sol", [("Kyoto Trip", "kyoto trip"), ("Café Sol", "café sol")]),
    ("what about 2026-09-09", [("2026-09-09", "2026-09-09")]),
    ("learning C++ in May", [("C++ notes", "C++")]),
    ("In der Übung vom Montag", [("Übung", "Übung")]),
]


@pytest.mark.parametrize(("question", "names"), FOUND, ids=[question for question, _ in FOUND])
def test_names_are_found(graph: NoteGraph, question: str, names: list[tuple[str, str]]) -> None:
    quoted = [(at, question.rindex('"') + 1)] if (at := question.find('"')) >= 0 else []
    places = [(named.name, question[named.start : named.end]) for named in names_in(question, graph, quoted=quoted)]
    assert places == names


@pytest.mark.parametrize(
    "question",
    [
        "when did i get home",
        "Home is where?",
        "any ideas for dinner",
        "Ideas for dinner?",
        "Will I ever learn it?",
        "what will i do",
        "What Do I Have To Do At Home Today",
        "WHAT IDEAS DID I HAVE",
        "what do i have to do",
        "what did I do in 2025",
        "the annals of an annalist",
        "she annoyed the tomcat",
        "vitamin C in the notes",
        "who sold hart meat",
        "梅雨",
    ],
)
def test_ordinary_words_are_no_names(graph: NoteGraph, question: str) -> None:
    assert found(graph, question) == []


def test_a_person_is_found_under_all_names_and_notes(graph: NoteGraph) -> None:
    (anna,) = names_in("What did Anna say?", graph)
    assert (anna.kind, anna.paths, set(anna.keys)) == (
        "person",
        ("People/Anna Meyer.md",),
        {"anna meyer", "annie", "anna"},
    )
    toms = names_in("What did Tom say?", graph)
    assert [(tom.kind, tom.paths, tom.keys) for tom in toms] == [
        ("person", ("People/Tom Baker.md",), ("tom baker",)),
        ("person", ("People/Tom Ray.md",), ("tom ray",)),
    ], "a name of two people is no key of either"


def test_notes_of_one_name_are_one_thing(graph: NoteGraph) -> None:
    (place,) = names_in("What happened in Ljubljana?", graph)
    assert (place.kind, place.paths) == ("note", ("Trips/Ljubljana.md", "Trips/Archive/Ljubljana.md"))
    (link,) = names_in("the Kyoto Trip", graph)
    assert (link.kind, link.paths, link.keys) == ("note", (), ("kyoto trip",))


def test_nothing_is_looked_for_where_it_was_read_already(graph: NoteGraph) -> None:
    assert [named.name for named in names_in("Anna Meyer or Tom Ray", graph, silent=[(0, 10)])] == ["Tom Ray"]


def test_filters_are_settled(graph: NoteGraph) -> None:
    asked = SearchFilters(note="half marathon", people=("Anna", "tom", "Zoe"))
    filters, (anna, tom, zoe) = resolve_filters(asked, graph)
    assert (filters.note, filters.people) == ("Work/Half marathon.md", ("Anna", "tom", "Zoe"))
    assert (anna.name, set(anna.keys), anna.paths) == (
        "Anna", {"anna", "anna meyer", "annie"}, ("People/Anna Meyer.md",)
    )  # fmt: skip
    assert (set(tom.keys), set(tom.paths)) == (
        {"tom", "tom ray", "tom baker"},
        {"People/Tom Ray.md", "People/Tom Baker.md"},
    )
    assert (zoe.keys, zoe.paths) == (("zoe",), ())
    assert resolve_filters(SearchFilters(), graph) == (SearchFilters(), ())


@pytest.mark.parametrize(
    ("note_asked", "path"),
    [
        ("Trips/Archive/Ljubljana", "Trips/Archive/Ljubljana.md"),
        ("trips/archive/ljubljana.md", "Trips/Archive/Ljubljana.md"),
        ("Archive/Ljubljana.md", "Trips/Archive/Ljubljana.md"),
        ("ljubljana", "Trips/Ljubljana.md"),
        ("nowhere/at all.md", "nowhere/at all.md"),
        ("Other/Ljubljana.md", "Other/Ljubljana.md"),
    ],
)
def test_a_note_is_meant_by_path_or_name(graph: NoteGraph, note_asked: str, path: str) -> None:
    assert resolve_filters(SearchFilters(note=note_asked), graph)[0].note == path


HOSTILE = [
    "",
    "\0",
    "'" * 500,
    "[[" * 200,
    "[[\ud800]]",
    "'s",
    "[[]]",
    "[[|x]]",
    "x'" * 300,
    "李" * 8000,
    "Tom " * 2000,
]


@pytest.mark.parametrize("question", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_read(graph: NoteGraph, question: str) -> None:
    for named in names_in(question, graph):
        assert 0 <= named.start < named.end <= len(question)


@settings(max_examples=200, deadline=None)
@given(question=st.text(st.sampled_from("Ana Tom's[]|#\"李梅\0\ud800é-.,?!\n🎻"), max_size=60))
def test_names_never_overlap(graph: NoteGraph, question: str) -> None:
    spans = sorted({(named.start, named.end) for named in names_in(question, graph)})
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
