import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.contracts.records import FrontmatterState, Heading, HeldRemovals, Link, NoteStatus, Task
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.catalog_rows import chunk_from_payload, chunk_row, text_sha
from tests.stores.samples import chunk, note, note_file


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "catalog.db")


def _put(catalog: Catalog, *paths: str, version: str = "1") -> None:
    catalog.put_notes([(note_file(path), note(path)) for path in paths], version, "run")


def test_a_note_comes_back_as_it_was_parsed(catalog: Catalog) -> None:
    full = note(
        "Projekte/Ünï 'quoted' 🙂.md",
        "# Head\nline\n![[img]]\nÜmlaut 数据库 \ud83d",
        body_line=4,
        index_lines=("# Head", "line", "", "Ümlaut 数据库 \ud83d"),
        frontmatter=FrontmatterState.OK,
        frontmatter_lines=("---", "a: [1, 2]", "---"),
        properties={"a": [1, 2], "nested": {"date": "2026-01-02", "no": False, "none": None, "f": 1.5}},
        tags=("project/alpha", "x"),
        aliases=("Al", "亚"),
        headings=(Heading(1, "Head", 4),),
        links=(Link("img", embed=True, line=6, resolved="img.png"), Link("B", heading="H", kind="property")),
        blocks=("b1",),
        tasks=(Task("x", "done", 7),),
        date=dt.date(2026, 1, 2),
        status=NoteStatus.PARTIAL,
        reason="bad bytes",
    )
    catalog.put_notes([(note_file(full.path), full)], "1", "run-7")
    assert catalog.note(full.path) == full
    assert list(catalog.notes("Projekte")) == [full]
    assert catalog.note("other.md") is None


text = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)


@given(body=text, title=st.text(max_size=10), noise=st.sets(st.integers(0, 5)))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, body: str, title: str, noise: set[int]) -> None:
    catalog = Catalog(tmp_path_factory.getbasetemp() / "any.db")
    lines = tuple("" if i in noise else line for i, line in enumerate(body.split("\n")))
    odd = note("a.md", body, index_lines=lines, aliases=(body,), properties={"k": body})
    catalog.put_notes([(note_file("a.md"), replace(odd, title=title.encode("utf-8", "replace").decode()))], "1")
    found = catalog.note("a.md")
    catalog.close()
    assert found is not None
    assert (found.body, found.index_lines, found.aliases, found.properties["k"]) == (body, lines, (body,), body)


@given(text=text, embed_text=text)
def test_a_chunk_survives(text: str, embed_text: str) -> None:
    made = chunk("F/n.md", text, 3, embed_text=embed_text, tags=("a", text), date=dt.date(2026, 1, 2), sensitive=True)
    row = chunk_row(3, made)
    assert chunk_from_payload(row[-1]) == made
    assert row[:4] == (made.chunk_id, "F/n.md", 3, text_sha(embed_text))


def test_only_files_that_differ_are_read_again(catalog: Catalog) -> None:
    _put(catalog, "F/same.md", "F/newer.md", "F/bigger.md", "F/lost.md", "Other/n.md")
    files = [
        note_file("F/same.md"),
        note_file("F/newer.md", mtime_ns=1_700_000_000_000_000_001),
        note_file("F/bigger.md", size=11),
        note_file("F/new.md"),
    ]
    delta = catalog.diff(files, "1")
    assert [file.path for file in delta.changed] == ["F/newer.md", "F/bigger.md", "F/new.md"]
    assert sorted(delta.vanished) == ["F/lost.md", "Other/n.md"]
    lost = delta.vanished["Other/n.md"]
    assert (lost.folder, lost.sha, delta.known) == ("Other", note("Other/n.md").sha, 5)
    assert len(catalog.diff(files, "2").changed) == 4, "another parser reads all again"


def test_a_file_that_was_emptied_is_told_apart_from_one_that_was_always_empty(catalog: Catalog) -> None:
    _put(catalog, "F/full.md", "F/other.md")
    files = [note_file("F/full.md", size=0, mtime_ns=9), note_file("F/new.md", size=0)]
    assert catalog.diff(files, "1").emptied == {"F/full.md"}


def test_what_is_known_of_the_vault_as_a_whole_is_kept(catalog: Catalog) -> None:
    held = HeldRemovals(60, 100, ("A/1.md", "B/2.md"), dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC))
    catalog.hold_removals(held)
    assert catalog.held_removals() == held
    assert "60 of 100 notes vanished at once" in held.reason
    catalog.hold_removals(None)
    assert catalog.held_removals() is None
    assert catalog.fact("never written") is None


def test_touch_takes_over_new_times_only(catalog: Catalog) -> None:
    _put(catalog, "F/a.md", "F/b.md")
    newer = note_file("F/a.md", mtime_ns=5)
    assert catalog.shas(["F/a.md", "F/none.md"], "1") == {"F/a.md": note("F/a.md").sha}
    catalog.touch([newer])
    delta = catalog.diff([newer, note_file("F/b.md", mtime_ns=5)], "1")
    assert [file.path for file in delta.changed] == ["F/b.md"]
    assert catalog.shas(["F/a.md"], "2") == {}


def test_unreadable_files_are_tried_again_and_skipped_ones_are_not(catalog: Catalog) -> None:
    unreadable = note("F/locked.md", "", sha="", status=NoteStatus.SKIPPED, reason="permission denied")
    excluded = note("F/secret.md", status=NoteStatus.SKIPPED, reason="marked private")
    files = [note_file("F/locked.md"), note_file("F/secret.md")]
    catalog.put_notes(zip(files, [unreadable, excluded], strict=True), "1")
    assert [file.path for file in catalog.diff(files, "1").changed] == ["F/locked.md"]
    assert catalog.skipped() == [("F/locked.md", "permission denied"), ("F/secret.md", "marked private")]
    assert catalog.partial() == []


def test_undecodable_file_names_are_kept_byte_for_byte(catalog: Catalog) -> None:
    file = replace(note_file("F/bad�.md"), raw_path="F/bad\udcff.md")
    catalog.put_notes([(file, note("F/bad�.md"))], "1")
    assert catalog.diff([file], "1").changed == []


def test_figures_add_up_and_say_what_is_pending(catalog: Catalog) -> None:
    _put(catalog, "A/1.md", "A/2.md", "B/1.md")
    skipped = note("A/3.md", status=NoteStatus.SKIPPED, reason="too large")
    partial = note("A/4.md", status=NoteStatus.PARTIAL, reason="bad frontmatter")
    catalog.put_notes([(note_file("A/3.md"), skipped), (note_file("A/4.md"), partial)], "1")
    for folder in ("A", "B"):
        todo = catalog.notes_to_chunk(folder, str)
        catalog.put_chunks([(n.path, key, [chunk(n.path, "x"), chunk(n.path, "y", 1)]) for n, key, _ in todo])
    catalog.mark_published(catalog.notes_to_publish("B", "t1"), "t1")
    by_folder = catalog.counts_by_folder()
    assert list(by_folder) == catalog.folders() == ["A", "B"]
    a, b, all_of = by_folder["A"], by_folder["B"], catalog.counts()
    assert (a.notes, a.chunks, a.partial, a.skipped, a.pending) == (4, 6, 1, 1, 3)
    assert (b.notes, b.chunks, b.partial, b.skipped, b.pending) == (1, 2, 0, 0, 0)
    assert (all_of.notes, all_of.chunks, all_of.partial, all_of.skipped, all_of.pending) == (5, 8, 1, 1, 3)
    assert catalog.paths() == {"A/1.md", "A/2.md", "A/4.md", "B/1.md"}
    assert catalog.published_counts("t1") == {"B/1.md": 2}
    assert catalog.published_counts("t1", ["A/1.md"]) == catalog.published_counts("t2") == {}
    assert (catalog.published_totals("t1"), catalog.published_totals("t2")) == ((1, 2), (0, 0))
    assert catalog.behind("t1") == {"A/1.md": "A", "A/2.md": "A", "A/4.md": "A"}


def test_a_person_can_ask_where_a_note_stands(catalog: Catalog) -> None:
    _put(catalog, "A/1.md")
    state = catalog.note_status("A/1.md")
    assert state is not None
    assert (state.status, state.chunks, state.indexed, state.gone, state.run_id) == (
        NoteStatus.OK,
        0,
        False,
        False,
        "run",
    )
    assert state.modified_at == dt.datetime.fromtimestamp(1_700_000_000, dt.UTC)
    assert abs(dt.datetime.now(dt.UTC) - state.checked_at) < dt.timedelta(minutes=1)
    catalog.put_chunks((n.path, key, [chunk(n.path, "x")]) for n, key, _ in catalog.notes_to_chunk("A", str))
    catalog.mark_published(catalog.notes_to_publish("A", "t1"), "t1")
    state = catalog.note_status("A/1.md")
    assert state is not None
    assert (state.chunks, state.indexed) == (1, True)
    assert catalog.note_status("A/unknown.md") is None
