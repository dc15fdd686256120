"""What the notes are called and what they link to, kept beside them, and looked up while others write."""

import datetime as dt
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion_assets.contracts.records import Link, Note, NoteStatus
from companion_assets.stores import note_graph_rows
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.catalog_view import MIGRATIONS
from companion_assets.stores.database import open_database
from companion_assets.stores.note_graph import NoteGraph
from companion_assets.stores.note_graph_rows import GRAPH_TABLES
from tests.stores.samples import note, note_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


@pytest.fixture
def catalog(file: Path) -> Iterator[Catalog]:
    opened = Catalog(file)
    yield opened
    opened.close()


@pytest.fixture
def graph(file: Path) -> Iterator[NoteGraph]:
    opened = NoteGraph(file)
    yield opened
    opened.close()


def put(catalog: Catalog, *notes: Note) -> None:
    catalog.put_notes([(note_file(one.path), one) for one in notes], "1")


def linking(path: str, *targets: str, **changes: object) -> Note:
    return note(path, links=tuple(Link(target, line=at) for at, target in enumerate(targets, 1)), **changes)


def known(graph: NoteGraph, key: str) -> list[tuple[str, str, str, bool]]:
    return [(name.name, name.path, name.kind, name.person) for name in graph.named([key]).get(key, ())]


def tables(file: Path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(file)) as connection:
        return {table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall()) for table in GRAPH_TABLES}


# --- names


def test_titles_aliases_and_link_targets_are_found_whatever_their_spelling(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, linking("Trips/Ünïcödé – Moby-Dick.md", "Öland Trip", aliases=("The Whale", "白鯨")))
    assert known(graph, "unicode moby dick") == [
        ("Ünïcödé – Moby-Dick", "Trips/Ünïcödé – Moby-Dick.md", "title", False)
    ]
    assert known(graph, "the whale") == [("The Whale", "Trips/Ünïcödé – Moby-Dick.md", "alias", False)]
    assert known(graph, "白鯨") == [("白鯨", "Trips/Ünïcödé – Moby-Dick.md", "alias", False)]
    assert known(graph, "oland trip") == [("Öland Trip", "", "link", False)]
    assert known(graph, "whale") == []


def test_a_title_goes_before_an_alias_and_the_shortest_path_first(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, note("a/deep/Plan.md"), note("z/Plan.md"), note("b.md", aliases=("Plan",)))
    assert [path for _, path, _, _ in known(graph, "plan")] == ["z/Plan.md", "a/deep/Plan.md", "b.md"]


def test_a_name_is_a_link_without_a_note_only_as_long_as_no_note_has_it(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, linking("a.md", "Some/Where/Lisbon"))
    assert known(graph, "lisbon") == [("Lisbon", "", "link", False)]
    put(catalog, note("Places/Lisbon.md"))
    assert known(graph, "lisbon") == [("Lisbon", "Places/Lisbon.md", "title", False)]
    catalog.mark_gone(["Places/Lisbon.md"])
    assert known(graph, "lisbon") == [("Lisbon", "", "link", False)]
    catalog.mark_gone(["a.md"])
    assert known(graph, "lisbon") == []


PEOPLE = [
    note("People/Anna Meyer.md"),
    note("10 Personen/Anna Meyer.md"),
    note("👤 Contacts/Anna Meyer.md"),
    note("Notizen/Menschen/Anna Meyer.md"),
    note("Anna Meyer.md", tags=("person",)),
    note("Anna Meyer.md", tags=("People/friends",)),
    note("Anna Meyer.md", properties={"type": "Person"}),
    note("Anna Meyer.md", properties={"Categories": ["[[People]]"]}),
    note("人物/李梅.md"),
]
NOBODY = [
    note("People/People.md"),
    note("People/Birthdays 2024.md"),
    note("Trips/Anna Meyer.md"),
    note("Projects/Christening in December.md", tags=("people/family",)),
    note("People management/Feedback.md"),
    note("a.md", properties={"type": "project"}),
]


@pytest.mark.parametrize("one", PEOPLE, ids=lambda one: one.path)
def test_a_person_is_known_by_folder_tag_or_property(catalog: Catalog, graph: NoteGraph, one: Note) -> None:
    put(catalog, one)
    assert [name.person for name in graph.names_of([one.path])[one.path] if name.kind == "title"] == [True]


@pytest.mark.parametrize("one", NOBODY, ids=lambda one: one.path)
def test_other_notes_are_nobody(catalog: Catalog, graph: NoteGraph, one: Note) -> None:
    put(catalog, one)
    assert not any(name.person for name in graph.names_of([one.path])[one.path])


def test_people_are_called_by_a_word_of_their_name(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, note("People/Frau Krüger.md"), note("People/Anna from work.md"), note("People/Jan van der Berg.md"))
    assert [kind for _, _, kind, _ in known(graph, "kruger") + known(graph, "anna") + known(graph, "berg")] == [
        "given", "given", "part"
    ]  # fmt: skip
    assert known(graph, "frau") + known(graph, "work") + known(graph, "van") == []


def test_properties_that_name_people_make_people_of_names_without_a_note(catalog: Catalog, graph: NoteGraph) -> None:
    put(
        catalog,
        linking("a.md", "Tom", properties={"attendees": ["[[Tom]]", "Zoë Ray", "nobody"], "place": "[[Lisbon]]"}),
        linking("b.md", "Lisbon"),
    )
    assert known(graph, "tom") == [("Tom", "", "link", True)]
    assert known(graph, "zoe ray") == [("Zoë Ray", "", "link", True)]
    assert known(graph, "lisbon") == [("Lisbon", "", "link", False)]
    assert known(graph, "nobody") == []


# --- changes


def test_what_a_note_is_called_follows_its_text(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, linking("a.md", "Old", aliases=("First", "Second"), tags=("x/y",)))
    put(catalog, linking("a.md", "New", aliases=("Second", "Third"), tags=("z",)))
    assert [bool(known(graph, key)) for key in ("first", "second", "third", "old", "new")] == [
        False, True, True, False, True
    ]  # fmt: skip
    assert [graph.has_tag(tag) for tag in ("x", "#X/y", "z")] == [False, False, True]


def test_a_moved_note_leaves_its_old_name(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, note("Old/Place/a.md", "text"), note("Old/b.md"))
    put(catalog, note("New/c.md", "text"))
    catalog.mark_gone(["Old/Place/a.md"])
    assert (known(graph, "a"), bool(known(graph, "c"))) == ([], True)
    assert graph.folders(["place", "OLD", "new"]) == {"old": ("Old",), "new": ("New",)}


def test_a_note_that_can_no_longer_be_read_has_no_name(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, note("F/a.md", date=dt.date(2026, 1, 2)))
    assert graph.has_folder("F")
    put(catalog, note("F/a.md", status=NoteStatus.SKIPPED, date=dt.date(2026, 1, 2)))
    assert (known(graph, "a"), graph.has_folder("F"), graph.last_day) == ([], False, None)


def test_names_are_kept_in_the_transaction_of_their_note(
    catalog: Catalog, graph: NoteGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(catalog, note("a.md", aliases=("Before",)))

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(note_graph_rows, "_insert", die)
        with pytest.raises(KeyboardInterrupt):
            put(catalog, note("a.md", "changed", aliases=("After",)))
        patch.setattr(note_graph_rows, "_delete", die)
        with pytest.raises(KeyboardInterrupt):
            catalog.mark_gone(["a.md"])
    stored = catalog.note("a.md")
    assert stored is not None
    assert (stored.body, bool(known(graph, "before")), known(graph, "after")) == ("text", True, [])


paths = st.sampled_from(["a.md", "F/a.md", "F/G/b.md", "F/G.md", "FG/c.md", "People/Anna B.md", "F/G/H/d.md"])
texts = st.text(st.sampled_from("ab A'#/|é数\0\ud800🙂."), max_size=6)
contents = st.builds(
    note,
    paths,
    aliases=st.lists(texts, max_size=2).map(tuple),
    tags=st.lists(texts, max_size=2).map(tuple),
    links=st.lists(texts.map(Link), max_size=3).map(tuple),
    properties=st.dictionaries(
        st.sampled_from(["people", "type", "x"]), texts | st.lists(texts, max_size=2), max_size=2
    ),
    status=st.sampled_from([NoteStatus.OK, NoteStatus.OK, NoteStatus.PARTIAL, NoteStatus.SKIPPED]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(contents | st.sets(paths, max_size=3), max_size=12))
def test_any_history_ends_as_a_fresh_build_does(tmp_path_factory: pytest.TempPathFactory, steps: list) -> None:
    room = tmp_path_factory.mktemp("history")
    lived, alive = Catalog(room / "lived.db"), {}
    for step in steps:
        if isinstance(step, set):
            lived.mark_gone(step)
            alive = {path: one for path, one in alive.items() if path not in step}
        else:
            put(lived, step)
            alive[step.path] = step
    fresh = Catalog(room / "fresh.db")
    put(fresh, *alive.values())
    for opened in (lived, fresh):
        opened.close()
    assert tables(room / "lived.db") == tables(room / "fresh.db")
    before = tables(room / "lived.db")
    database = open_database(room / "lived.db", MIGRATIONS, canonical=False)
    with database.write() as connection:
        note_graph_rows.fill(connection)
    database.close()
    assert tables(room / "lived.db") == before, "made anew from the notes"


def test_a_catalog_of_before_is_filled_from_what_it_has(file: Path, graph: NoteGraph) -> None:
    catalog = Catalog(file)
    put(catalog, linking("People/Anna Meyer.md", "Lisbon", aliases=("Ann",), tags=("x",)), note("gone.md"))
    catalog.mark_gone(["gone.md"])
    catalog.close()
    before = tables(file)
    with closing(sqlite3.connect(file)) as connection:
        for table in GRAPH_TABLES:
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX notes_by_day")
        connection.execute("DELETE FROM migrations WHERE name = 'create_note_graph'")
        connection.commit()
    assert known(graph, "anna meyer") == [], "an older catalog knows no names"
    Catalog(file).close()
    assert tables(file) == before
    assert len(known(graph, "anna meyer")) == 1


# --- links


def test_links_lead_where_obsidian_leads_them(catalog: Catalog, graph: NoteGraph) -> None:
    put(
        catalog,
        linking("a/From.md", "Near", "b/Far", "../Root", "Nick", "Nowhere", "Maße", "pic.png"),
        note("a/Near.md"), note("Near longer/Near.md"), note("b/Far.md"), note("c/Far.md"), note("Root.md"),
        note("Someone.md", aliases=("Nick",)), note("Masse.md"),
    )  # fmt: skip
    assert set(graph.neighbours(["a/From.md"], 10)) == {"a/Near.md", "b/Far.md", "Root.md", "Someone.md"}
    assert set(graph.neighbours(["Someone.md"], 10)) == {"a/From.md"}
    assert graph.neighbours(["c/Far.md"], 10) == graph.neighbours(["none.md"], 10) == {}


def test_neighbours_are_linked_from_linking_to_or_sharing(catalog: Catalog, graph: NoteGraph) -> None:
    put(
        catalog,
        linking("hit.md", "Out", "Rare Thing"),
        note("Out.md"),
        linking("in.md", "hit"),
        linking("shares.md", "Rare Thing"),
        linking("index.md", "hit", *(f"Note {i}" for i in range(200))),
        note("stranger.md"),
    )
    found = graph.neighbours(["hit.md"], 10)
    assert set(found) == {"Out.md", "in.md", "shares.md", "index.md"}
    assert min(found, key=found.__getitem__) == "index.md", "a list of everything says little"
    assert list(graph.neighbours(["hit.md"], 2)) == list(found)[:2]
    assert graph.neighbours(["hit.md", "in.md", "index.md", "shares.md", "Out.md"], 5) == {}
    assert graph.neighbours([], 5) == {}


def test_however_much_connects_two_notes_they_are_no_nearer_than_one(catalog: Catalog, graph: NoteGraph) -> None:
    shared = [f"Thing {at}" for at in range(12)]
    put(catalog, linking("one.md", "two", *shared), linking("two.md", "one", *shared), linking("far.md", "Thing 1"))
    found = graph.neighbours(["one.md"], 5)
    assert list(found) == ["two.md", "far.md"]
    assert found["two.md"] == 1.0 > found["far.md"] > 0


def test_what_everybody_links_to_brings_nobody_together(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, *(linking(f"{i}.md", "Me") for i in range(100)))
    assert graph.neighbours(["1.md"], 5) == {}


# --- days, tags, folders


def test_days_are_those_of_readable_notes(catalog: Catalog, graph: NoteGraph) -> None:
    put(catalog, *(note(f"{day}.md", date=dt.date.fromisoformat(day)) for day in ("2024-03-01", "2025-01-14")))
    put(catalog, note("x.md"))
    assert (graph.first_day, graph.last_day) == (dt.date(2024, 3, 1), dt.date(2025, 1, 14))
    assert graph.latest_day(dt.date(2025, 1, 13)) == dt.date(2024, 3, 1)
    assert graph.latest_day(dt.date(2024, 2, 29)) is None
    catalog.mark_gone(["2025-01-14.md"])
    assert graph.last_day == dt.date(2024, 3, 1)


def test_days_are_found_without_a_look_at_the_notes(catalog: Catalog, file: Path) -> None:
    put(catalog, note("a.md", date=dt.date(2024, 3, 1)))
    days = "FROM notes WHERE NOT gone AND status != 'skipped' AND date IS NOT NULL"
    with closing(sqlite3.connect(file)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT max(date) {days} AND date <= '2025'").fetchall()
    assert "COVERING INDEX notes_by_day" in str(plan)


# --- the file


def test_a_missing_or_damaged_catalog_knows_nothing(file: Path, graph: NoteGraph, tmp_path: Path) -> None:
    assert (graph.named(["a"]), graph.neighbours(["a.md"], 3)) == ({}, {})
    assert (graph.has_tag("x"), graph.folders(["f"]), graph.first_day, graph.last_day) == (False, {}, None, None)
    assert not file.exists()
    file.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    assert (graph.named(["a"]), graph.last_day) == ({}, None)
    file.unlink()
    catalog = Catalog(file)  # made anew
    put(catalog, note("a.md"))
    catalog.close()
    assert len(known(graph, "a")) == 1
    assert NoteGraph(tmp_path).named(["a"]) == {}, "a folder"


def test_it_is_read_by_many_while_it_is_written(catalog: Catalog, graph: NoteGraph) -> None:
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            names = graph.named(["left", "right"])
            wrong.extend([names] if len(names) > 2 else [])
            wrong.extend(path for path in graph.neighbours(["left.md"], 5) if path != "right.md")

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for turn in range(30):
        put(catalog, linking("left.md", "right"), linking("right.md", "left", aliases=(str(turn),)))
        catalog.mark_gone(["right.md"])
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert (len(known(graph, "left")), [name[2] for name in known(graph, "right")]) == (1, ["link"])


@given(key=st.text(st.characters(exclude_categories=()), max_size=20))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_can_be_asked_for(catalog: Catalog, graph: NoteGraph, key: str) -> None:
    put(catalog, replace(note("a.md"), aliases=(key,)))
    assert graph.named([key, f"{key}'"]).keys() <= {key}
    graph.has_tag(key)
    graph.folders([key])
    graph.has_folder(key)
    graph.neighbours([key], 3)
