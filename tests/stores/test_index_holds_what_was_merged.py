"""A merge replaces whole notes: no row twice (B55), no bad vector (B38), small after many commits (B56, B86)."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion_assets.contracts.errors import IndexMismatch, IndexMissing, StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores import index_writer
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import Merge, open_writer
from tests.stores.samples import DIMENSIONS, OTHER_SPEC, SPEC, chunk, question, rows, vector


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    return DataPaths(tmp_path / "home")


def _merge(paths: DataPaths, *chunks, touched=None) -> Merge:
    with open_writer(paths, SPEC, question) as writer:
        merge = writer.replace_notes(rows(*chunks), touched or {one.source_file for one in chunks})
        writer.optimise()
        writer.publish()
    return merge


def test_a_chunk_comes_back_whole(paths: DataPaths) -> None:
    made = chunk(
        'Journal/2026-03-04 it\'s "odd".md',
        "Text with NUL \0, emoji 🙂 and 数据库.",
        date=dt.date(2026, 3, 4),
        tags=("a/b", "Größe"),
        heading_path=("One", "Two"),
        section="One > Two",
        links=("X.md",),
        people=("Ana.md",),
        aliases=("Al",),
        sensitive=True,
        source_kind="shelf",
        token_count=7,
    )
    _merge(paths, made)
    found = ChunkIndex.open(paths).get([made.chunk_id, "unknown"])
    assert found == {made.chunk_id: replace(made, embed_text="")}
    (hit,) = ChunkIndex.open(paths).text_leg("emoji", 1)
    assert (hit.date, hit.tags, hit.source_kind) == (made.date, made.tags, "shelf")


def test_a_note_is_found_by_words_of_different_passages(paths: DataPaths) -> None:
    both = [
        chunk("Both.md", text, place) for place, text in enumerate(["a walnut bowl", "and glue", "for the violins"])
    ]
    _merge(paths, *both[::-1], chunk("One.md", "walnut walnut cake"), chunk("Two.md", "violins and a violin"))
    index = ChunkIndex.open(paths)
    notes = index.note_leg("walnut, glue and violin", 5)
    assert next(iter(notes)) == "Both.md"
    assert sorted(notes) == ["Both.md", "One.md", "Two.md"]
    assert sorted(index.note_leg("walnut violin", 5, "source_file != 'Both.md'")) == ["One.md", "Two.md"]
    assert len(index.note_leg("walnut violin", 1)) == 1
    _merge(paths, *both[1:])
    assert list(index.note_leg("walnut", 5)) == ["One.md"], "its first passage is gone"
    assert "Both.md" in index.note_leg("glue violins", 5)


def test_broken_unicode_is_stored_readably(paths: DataPaths) -> None:
    _merge(paths, chunk("a.md", "half a pair \ud83d here", tags=("\udcff",), title="\ud800"))
    (hit,) = ChunkIndex.open(paths).text_leg("half a \ud83d pair", 5)
    assert hit.text == "half a pair ? here"


def test_replacing_a_note_changes_its_rows_only(paths: DataPaths) -> None:
    a, b = [chunk("A.md", f"a{i}", i) for i in range(3)], [chunk("B.md", f"b{i}", i) for i in range(2)]
    assert _merge(paths, *a, *b) == Merge(inserted=5, updated=0, deleted=0)
    new = chunk("A.md", "a new", 1)
    assert _merge(paths, a[0], new) == Merge(inserted=1, updated=1, deleted=2)
    index = ChunkIndex.open(paths)
    assert [one.text for one in index.neighbours("A.md")] == ["a0", "a new"]
    assert [one.text for one in index.neighbours("B.md")] == ["b0", "b1"]


def test_deleting_needs_no_rows_and_an_empty_list_deletes_nothing(paths: DataPaths) -> None:
    _merge(paths, chunk("A.md", "a"), chunk("B.md", "b"))
    with open_writer(paths, SPEC, question) as writer:
        version = writer.version
        assert writer.replace_notes([], []) == Merge(0, 0, 0)
        assert (writer.rows, writer.version) == (2, version)
        assert writer.replace_notes([], ["A.md", "never there.md"]) == Merge(0, 0, 1)
        assert writer.note_paths() == {"B.md"}


@pytest.mark.parametrize(
    "path", ["it's mine/it's.md", "x' OR 1=1 --.md", 'say "hi".md', "100%_\\.md", "new\nline.md", "🙂/数据.md"]
)
def test_odd_paths_delete_themselves_only(paths: DataPaths, path: str) -> None:
    _merge(paths, chunk(path, "odd"), chunk("other.md", "other"))
    assert [one.text for one in ChunkIndex.open(paths).neighbours(path)] == ["odd"]
    with open_writer(paths, SPEC, question) as writer:
        assert writer.replace_notes([], [path]).deleted == 1
        assert writer.note_paths() == {"other.md"}


def test_thousands_of_notes_are_one_commit(paths: DataPaths) -> None:
    many = [chunk(f"Folder with a long name/it's note number {i:05}.md", f"text {i}") for i in range(5000)]
    with open_writer(paths, SPEC, question) as writer:
        before = writer.version
        touched = {one.source_file for one in many}
        writer.replace_notes(rows(*many), touched)
        writer.replace_notes(rows(*many[::2]), touched)
        assert (writer.rows, writer.version - before) == (2500, 2)
        assert writer.note_paths() == {one.source_file for one in many[::2]}


def test_an_id_given_twice_is_stored_once(paths: DataPaths) -> None:
    same = chunk("A.md", "twice")
    _merge(paths, same, same)
    health = ChunkIndex.open(paths).health()
    assert (health.rows, health.duplicate_ids) == (1, 0)


@pytest.mark.parametrize("bad", [np.zeros(DIMENSIONS), np.full(DIMENSIONS, np.nan), np.ones(DIMENSIONS - 1)])
def test_a_bad_vector_is_refused_and_nothing_changes(paths: DataPaths, bad: np.ndarray) -> None:
    _merge(paths, chunk("A.md", "old"))
    with open_writer(paths, SPEC, question) as writer:
        pairs = [*rows(chunk("A.md", "new")), (chunk("B.md", "bad"), bad.astype(np.float32))]
        with pytest.raises(StoreError, match=r"B\.md"):
            writer.replace_notes(pairs, ["A.md", "B.md"])
        assert writer.note_paths() == {"A.md"}


def test_rows_of_an_untouched_note_are_a_fault_of_the_caller(paths: DataPaths) -> None:
    with open_writer(paths, SPEC, question) as writer, pytest.raises(ValueError, match=r"B\.md"):
        writer.replace_notes(rows(chunk("B.md", "b")), ["A.md"])


def test_health_counts_what_the_checks_ask_for(paths: DataPaths) -> None:
    _merge(paths, chunk("A.md", "a"), chunk("A.md", "b", 1), chunk("B.md", "c"))
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(chunk("C.md", "d")), ["C.md"])
        writer.publish()
    health = ChunkIndex.open(paths).health()
    assert (health.rows, health.dimensions, health.zero_vectors, health.foreign_rows) == (4, DIMENSIONS, 0, 0)
    assert health.chunks_by_note == {"A.md": 2, "B.md": 1, "C.md": 1}
    assert health.unindexed_rows == 1
    with open_writer(paths, SPEC, question) as writer:
        writer.optimise(force=True)
        assert writer.health().unindexed_rows == 0


def test_nothing_published_and_other_embedders_are_told_apart(paths: DataPaths) -> None:
    with pytest.raises(IndexMissing) as missing:
        ChunkIndex.open(paths)
    assert "companion index" in missing.value.hint
    _merge(paths, chunk("A.md", "a"))
    ChunkIndex.open(paths, SPEC.embedder_id)
    with pytest.raises(IndexMismatch, match="test-model:latest") as mismatch:
        ChunkIndex.open(paths, OTHER_SPEC.embedder_id)
    assert "companion index" in mismatch.value.hint
    with pytest.raises(IndexMismatch, match="16 dimensions, the index has 8"):
        ChunkIndex.open(paths).vector_leg(vector("q", 16), 5)


@pytest.mark.parametrize("bad", [np.zeros(DIMENSIONS), np.full(DIMENSIONS, np.nan)])
def test_a_question_without_a_usable_vector_is_not_answered_with_nothing(paths: DataPaths, bad: np.ndarray) -> None:
    _merge(paths, chunk("A.md", "a"))
    with pytest.raises(StoreError, match="zero or not finite"):
        ChunkIndex.open(paths).vector_leg(bad.astype(np.float32), 5)


def test_an_empty_vault_can_be_published_and_asked(paths: DataPaths) -> None:
    with open_writer(paths, SPEC, question) as writer:
        writer.optimise()
        assert writer.publish().calibration is None
    index = ChunkIndex.open(paths)
    assert index.text_leg("anything", 5) == index.vector_leg(vector("q"), 5) == []
    assert (index.count(), index.health().rows) == (0, 0)


def test_a_damaged_pointer_is_named_and_mended_by_the_next_publish(paths: DataPaths) -> None:
    _merge(paths, chunk("A.md", "a"))
    (paths.index_dir / "current.json").write_text("{ not a manifest")
    with pytest.raises(StoreError, match=r"current\.json"):
        ChunkIndex.open(paths)
    with open_writer(paths, SPEC, question) as writer:
        assert writer.rows == 1, "the table itself is found again"
        writer.publish()
    assert ChunkIndex.open(paths).count() == 1


def test_a_damaged_table_is_a_plain_fault(paths: DataPaths) -> None:
    _merge(paths, chunk("A.md", "a"))
    index = ChunkIndex.open(paths)
    for file in (paths.index_dir / f"{index.manifest.table}.lance" / "data").iterdir():
        file.unlink()
    with pytest.raises(StoreError, match="cannot be used") as fault:
        ChunkIndex.open(paths).vector_leg(vector("q"), 5)
    assert "companion reindex" in fault.value.hint


def test_many_small_commits_stay_small(paths: DataPaths) -> None:
    notes = [f"N{i}.md" for i in range(20)]
    _merge(paths, *(chunk(path, "first") for path in notes))
    with open_writer(paths, SPEC, question) as writer:
        for i in range(1000):
            writer.replace_notes(rows(chunk(notes[i % 20], f"edit {i}")), [notes[i % 20]])
        writer.publish()
        writer.prune(grace_minutes=0)
    files = [file for file in paths.index_dir.rglob("*") if file.is_file()]
    assert len(files) < 40
    assert sum(file.stat().st_size for file in files) < 500_000
    index = ChunkIndex.open(paths)
    assert {one.text for path in notes for one in index.neighbours(path)} == {f"edit {i}" for i in range(980, 1000)}
    assert [hit.text for hit in index.text_leg("999", 5)] == ["edit 999"]


def test_words_are_found_after_each_of_many_optimises(paths: DataPaths) -> None:
    with open_writer(paths, SPEC, question) as writer:
        for i in range(40):
            writer.replace_notes(rows(chunk(f"N{i}.md", f"unique{i} shared")), [f"N{i}.md"])
            writer.optimise(force=True)
            writer.publish()
            index = ChunkIndex.open(paths)
            assert [hit.path for hit in index.text_leg(f"unique{i}", 5)] == [f"N{i}.md"]
            assert len(index.text_leg("shared", 100)) == i + 1


def test_a_large_table_gets_a_vector_index_and_finds_the_same(
    paths: DataPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_writer, "VECTOR_INDEX_ROWS", 1000)
    many = [chunk(f"N{i}.md", f"text {i}") for i in range(1200)]
    _merge(paths, *many)
    index = ChunkIndex.open(paths)
    names = {found.name for found in index._served.table.list_indices()}
    assert names == {"search_text_idx", "note_text_idx", "vector_idx"}
    for i in (0, 600, 1199):
        best = index.vector_leg(vector(f"text {i}"), 3)[0]
        assert best.path == f"N{i}.md"
        assert best.similarity == pytest.approx(1.0, abs=1e-5)


def test_a_word_index_that_is_missing_is_made(paths: DataPaths) -> None:
    _merge(paths, chunk("A.md", "apples"))
    with open_writer(paths, SPEC, question) as writer:
        writer._table.drop_index("note_text_idx")
        writer.optimise()
        writer.publish()
    index = ChunkIndex.open(paths)
    assert list(index.note_leg("apple", 5)) == ["A.md"]
    assert [hit.path for hit in index.text_leg("apple", 5)] == ["A.md"]
