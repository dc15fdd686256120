"""The catalog's state machine: whatever was done last, asking again yields exactly what is left to do."""

from pathlib import Path

import pytest

from companion_assets.contracts.records import Note, NoteStatus
from companion_assets.stores.catalog import Catalog
from tests.stores.samples import chunk, note, note_file


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "catalog.db")


def _rule(_path: str) -> str:
    return "rule"


def _read(catalog: Catalog, *notes: Note) -> None:
    catalog.put_notes([(note_file(one.path), one) for one in notes], "1")


def _cut(catalog: Catalog, rule: str = "rule") -> list[str]:
    items = [(n.path, key, [chunk(n.path, n.body)]) for n, key, _ in catalog.notes_to_chunk("F", lambda _: rule)]
    catalog.put_chunks(items)
    return [path for path, _, _ in items]


def _publish(catalog: Catalog, table: str = "t1") -> list[str]:
    todo = catalog.notes_to_publish("F", table)
    catalog.mark_published(todo, table)
    return list(todo)


def test_each_step_is_done_once(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md", "one"), note("F/b.md", "two"))
    assert _cut(catalog) == _publish(catalog) == ["F/a.md", "F/b.md"]
    assert _cut(catalog) == _publish(catalog) == []
    _read(catalog, note("F/a.md", "one, edited"))
    assert _publish(catalog) == [], "a note is not published before it is cut"
    assert _cut(catalog) == _publish(catalog) == ["F/a.md"]


def test_another_rule_cuts_again_and_another_table_publishes_again(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"), note("F/b.md"))
    _cut(catalog)
    _publish(catalog)
    changed = {"F/a.md": "new rule"}
    assert [n.path for n, _, _ in catalog.notes_to_chunk("F", lambda path: changed.get(path, "rule"))] == ["F/a.md"]
    assert _publish(catalog, "t2") == ["F/a.md", "F/b.md"]
    assert _publish(catalog, "t2") == []


def test_text_that_goes_there_and_back_is_published_if_the_index_may_hold_the_other(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md", "A"))
    _cut(catalog)
    _publish(catalog)
    _read(catalog, note("F/a.md", "B"))
    _cut(catalog)
    assert list(catalog.notes_to_publish("F", "t1")) == ["F/a.md"]  # merged into the index, killed before the mark
    _read(catalog, note("F/a.md", "A"))
    _cut(catalog)
    assert _publish(catalog) == ["F/a.md"]


def test_a_note_cut_again_while_it_was_published_stays_pending(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md", "A"))
    _cut(catalog)
    todo = catalog.notes_to_publish("F", "t1")
    _read(catalog, note("F/a.md", "B"))
    _cut(catalog)
    catalog.mark_published(todo, "t1")
    assert _publish(catalog) == ["F/a.md"]


def test_vanished_notes_leave_a_tombstone_until_the_index_has_dropped_them(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"), note("F/b.md"))
    _cut(catalog)
    _publish(catalog)
    catalog.mark_gone(["F/a.md"])
    assert catalog.tombstones() == {"F/a.md": "F"}
    assert (_cut(catalog), _publish(catalog), list(catalog.chunks_of(["F/a.md"]))) == ([], [], [])
    assert catalog.folders() == ["F"]
    assert catalog.counts().notes == 1
    catalog.mark_published({}, "t1", dropped=["F/a.md", "F/b.md"])
    assert catalog.tombstones() == {}
    assert catalog.paths() == {"F/b.md"}, "a note that is there is never forgotten"


def test_a_note_that_comes_back_unchanged_is_cut_and_published_anew(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"))
    _cut(catalog)
    _publish(catalog)
    catalog.mark_gone(["F/a.md"])
    assert [file.path for file in catalog.diff([note_file("F/a.md")], "1").changed] == ["F/a.md"]
    _read(catalog, note("F/a.md"))
    assert catalog.tombstones() == {}
    assert _cut(catalog) == _publish(catalog) == ["F/a.md"]


def test_a_note_that_becomes_skipped_is_taken_out_of_the_index(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"))
    _cut(catalog)
    _publish(catalog)
    _read(catalog, note("F/a.md", status=NoteStatus.SKIPPED, reason="private"))
    assert _cut(catalog) == []
    assert _publish(catalog) == ["F/a.md"]
    assert list(catalog.chunks_of(["F/a.md"])) == []
    _read(catalog, note("F/a.md"))
    assert _cut(catalog) == _publish(catalog) == ["F/a.md"]


def test_chunks_are_replaced_whole_and_keep_their_order(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"))
    ((_, key, _),) = catalog.notes_to_chunk("F", _rule)
    many = [chunk("F/a.md", f"part {i}", i) for i in range(12)]
    assert catalog.put_chunks([("F/a.md", key, many)]) == 12
    assert [found for found, _ in catalog.chunks_of(["F/a.md"])] == many
    catalog.put_chunks([("F/a.md", key, many[:2])])
    assert [found for found, _ in catalog.chunks_of(["F/a.md"])] == many[:2]
    with pytest.raises(ValueError, match="broken"):
        catalog.put_chunks(_broken(key))
    assert [found for found, _ in catalog.chunks_of(["F/a.md"])] == many[:2]
    assert catalog.put_chunks([("F/a.md", key, [])]) == 0
    assert list(catalog.chunks_of(["F/a.md"])) == []


def _broken(key: str):
    yield "F/a.md", key, []
    raise ValueError("broken")


def test_only_notes_that_no_table_of_the_embedder_holds_are_embedded(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"), note("F/b.md"))
    _cut(catalog)
    assert catalog.notes_to_embed("F", "e1") == ["F/a.md", "F/b.md"]
    assert catalog.count_chunks(["F/a.md", "F/none.md"]) == {"F/a.md": 1}
    _publish(catalog, "e1_0001")
    assert catalog.notes_to_embed("F", "e1") == []
    assert catalog.notes_to_embed("F", "e2") == catalog.notes_to_embed("F", "e") == ["F/a.md", "F/b.md"]
    _read(catalog, note("F/a.md", "edited"))
    _cut(catalog)
    assert catalog.notes_to_embed("F", "e1") == ["F/a.md"]


def test_a_moved_note_leaves_its_old_path_with_the_commit_that_brings_the_new_one(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md", "the text"), note("F/b.md", "another"))
    _cut(catalog)
    _publish(catalog)
    _read(catalog, note("F/moved.md", "the text"))
    catalog.mark_gone(["F/a.md", "F/b.md"])
    assert catalog.tombstones_to_drop("F") == ["F/b.md"]
    assert catalog.tombstones_of(["F/moved.md"]) == ["F/a.md"]
    assert _cut(catalog) == _publish(catalog) == ["F/moved.md"]
    assert catalog.tombstones_to_drop("F") == ["F/a.md", "F/b.md"], "the new path is there"


def test_a_folder_cut_by_the_same_rules_as_before_is_asked_by_text_alone(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"), note("F/b.md"))
    _cut(catalog)
    catalog.chunked_by("F", "rules 1")
    _read(catalog, note("F/b.md", "edited"))
    asked: list[str] = []
    signature = lambda path: asked.append(path) or "rule"  # noqa: E731
    assert [n.path for n, _, _ in catalog.notes_to_chunk("F", signature, "rules 1")] == asked == ["F/b.md"]
    asked.clear()
    assert [n.path for n, _, _ in catalog.notes_to_chunk("F", signature, "rules 2")] == ["F/b.md"]
    assert asked == ["F/a.md", "F/b.md"]
    catalog.touch([note_file("F/a.md", mtime_ns=5)])
    assert {n.path for n, _, _ in catalog.notes_to_chunk("F", signature, "rules 1")} == {"F/a.md", "F/b.md"}


def test_what_the_index_does_not_have_is_taken_back(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"))
    _cut(catalog)
    catalog.mark_published(catalog.notes_to_publish("F", "t1"), "t1", version=7)
    assert (catalog.committed("t1"), catalog.committed("t2")) == (7, None)
    assert not catalog.reconcile("t1", 7)
    assert not catalog.reconcile("t2", 1)
    assert catalog.notes_to_publish("F", "t1") == {}
    assert catalog.reconcile("t1", 6)
    assert list(catalog.notes_to_publish("F", "t1")) == ["F/a.md"]
    assert catalog.committed("t1") is None


def test_empty_lists_do_nothing(catalog: Catalog) -> None:
    _read(catalog, note("F/a.md"))
    _cut(catalog)
    catalog.mark_gone([])
    catalog.touch([])
    catalog.mark_published({}, "t1")
    assert (catalog.put_notes([], "1"), catalog.put_chunks([])) == (0, 0)
    assert list(catalog.chunks_of([])) == []
    assert catalog.count_chunks([]) == {}
    assert _publish(catalog) == ["F/a.md"]


def test_ten_thousand_notes_are_compared_in_one_query(catalog: Catalog) -> None:
    paths = [f"F/{i}.md" for i in range(10_000)]
    catalog.put_notes([(note_file(path), note(path)) for path in paths], "1")
    delta = catalog.diff([note_file(path) for path in paths], "1")
    assert (delta.changed, delta.vanished, delta.known) == ([], {}, 10_000)
    catalog.mark_gone(paths)  # more values than SQLite takes as parameters
    assert len(catalog.tombstones()) == 10_000
