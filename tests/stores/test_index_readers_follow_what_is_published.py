"""Readers see whole published states, whatever a writer does (B32, B57); one process writes at a time (B54)."""

import datetime as dt
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores import index_table
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import open_writer
from tests.stores.samples import OTHER_SPEC, SPEC, chunk, question, rows, vector

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    return DataPaths(tmp_path / "home")


def _publish(paths: DataPaths, *chunks, **options) -> str:
    with open_writer(paths, SPEC, question, **options) as writer:
        writer.replace_notes(rows(*chunks), {one.source_file for one in chunks})
        writer.optimise()
        writer.publish("run-1")
        return writer.table


def test_an_open_reader_sees_a_new_state_only_when_it_is_published(paths: DataPaths) -> None:
    _publish(paths, chunk("A.md", "apple"))
    index = ChunkIndex.open(paths)
    with open_writer(paths, SPEC, question) as writer:
        assert (writer.is_live, writer.is_served_table) == (True, True)
        writer.replace_notes(rows(chunk("B.md", "banana")), ["A.md", "B.md"])
        writer.optimise(force=True)
        assert (writer.is_live, writer.is_served_table) == (False, True)
        assert (index.count(), len(index.text_leg("apple", 5)), len(index.text_leg("banana", 5))) == (1, 1, 0)
        manifest = writer.publish("run-2")
        assert writer.is_live
    assert (index.count(), len(index.text_leg("apple", 5)), len(index.text_leg("banana", 5))) == (1, 0, 1)
    assert index.manifest == manifest
    assert (manifest.chunks, manifest.notes, manifest.run_id) == (1, 1, "run-2")


def test_work_left_unpublished_is_taken_up_again(paths: DataPaths) -> None:
    with open_writer(paths, SPEC, question) as writer:
        first = writer.table
        writer.replace_notes(rows(chunk("A.md", "a")), ["A.md"])
    with open_writer(paths, SPEC, question) as writer:
        assert (writer.table, writer.rows) == (first, 1)


def test_an_index_of_an_earlier_build_answers_until_the_next_sync_has_made_another(paths: DataPaths) -> None:
    old = _publish(paths, chunk("A.md", "apple", date=dt.date(2026, 1, 2)))
    table = index_table.connect(paths).open_table(old)
    table.drop_columns(["note_text"])
    index_table.write_manifest(paths, replace(index_table.read_manifest(paths), version=table.version))
    index = ChunkIndex.open(paths)
    assert [hit.path for hit in index.text_leg("apples", 5)] == ["A.md"]
    assert index.note_leg("apples", 5) == {}
    with open_writer(paths, SPEC, question) as writer:
        assert (writer.table != old, writer.rows, writer.is_served_table) == (True, 0, False)
        writer.replace_notes(rows(chunk("A.md", "apple")), ["A.md"])
        assert [hit.path for hit in index.text_leg("apples", 5)] == ["A.md"]
        writer.optimise()
        writer.publish()
    assert list(index.note_leg("apples", 5)) == ["A.md"]


def test_another_embedder_builds_beside_and_the_open_reader_goes_on(paths: DataPaths) -> None:
    old = _publish(paths, chunk("A.md", "apple"))
    index = ChunkIndex.open(paths, SPEC.embedder_id)
    with open_writer(paths, OTHER_SPEC, lambda text: vector(text, 16)) as writer:
        assert (writer.table != old, writer.is_served_table) == (True, False)
        writer.replace_notes(rows(chunk("A.md", "apple"), chunk("B.md", "b"), dimensions=16), ["A.md", "B.md"])
        writer.optimise()
        assert ChunkIndex.open(paths).manifest.table == old, "not served before it is complete"
        assert not index.superseded
        writer.publish()
        writer.prune(force=True)
    assert index.superseded
    assert [hit.path for hit in index.vector_leg(vector("apple"), 5)] == ["A.md"]
    assert index.manifest.embedder == SPEC
    new = ChunkIndex.open(paths, OTHER_SPEC.embedder_id)
    assert new.vector_leg(vector("b", 16), 1)[0].path == "B.md"
    mark = paths.index_dir / "retired" / old
    os.utime(mark, (time.time() - 3600,) * 2)
    with open_writer(paths, OTHER_SPEC, lambda text: vector(text, 16)) as writer:
        writer.prune(force=True)
    assert not (paths.index_dir / f"{old}.lance").exists()
    assert not mark.exists()
    with pytest.raises(StoreError):
        index.vector_leg(vector("apple"), 5)


def test_a_rebuild_is_a_new_table_and_its_name_was_never_used(paths: DataPaths) -> None:
    old = _publish(paths, chunk("A.md", "apple"))
    index = ChunkIndex.open(paths)
    new = _publish(paths, chunk("B.md", "banana"), rebuild=True)
    assert old != new
    assert [hit.path for hit in index.text_leg("apple banana", 5)] == ["B.md"]
    with open_writer(paths, SPEC, question) as writer:
        assert writer.table == new


def test_a_lost_index_gets_a_new_name_too(paths: DataPaths) -> None:
    old = _publish(paths, chunk("A.md", "apple"))
    for folder in (paths.index_dir / f"{old}.lance", paths.index_dir):
        subprocess.run(["rm", "-rf", str(folder)], check=True)
    assert _publish(paths, chunk("A.md", "apple")) != old


def test_prune_waits_for_publish_and_keeps_what_is_served(paths: DataPaths) -> None:
    _publish(paths, chunk("A.md", "apple"))
    index = ChunkIndex.open(paths)
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(chunk("A.md", "avocado")), ["A.md"])
        writer.prune(grace_minutes=0, force=True)
        assert [hit.text for hit in index.text_leg("apple", 5)] == ["apple"]
        writer.publish()
        writer.prune(grace_minutes=0, force=True)
        assert writer.is_live
    assert [hit.text for hit in index.text_leg("avocado", 5)] == ["avocado"]


def test_the_version_pruned_under_a_question_is_replaced_by_the_published_one(paths: DataPaths) -> None:
    _publish(paths, *(chunk(f"N{i}.md", f"old {i}") for i in range(50)))
    index = ChunkIndex.open(paths)
    pointer = index._pointer
    index._pointer = lambda: index._served.pointer  # as if the question had begun before the publish below
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(*(chunk(f"N{i}.md", f"new {i}") for i in range(50))), [f"N{i}.md" for i in range(50)])
        writer.optimise()
        writer.publish()
        writer.prune(grace_minutes=0, force=True)
    index._pointer = pointer
    assert {hit.text.split()[0] for hit in index.vector_leg(vector("new 1"), 50)} == {"new"}


SECOND = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.index_writer import open_writer
from tests.stores.samples import SPEC, question

try:
    with open_writer(DataPaths(Path(sys.argv[1])), SPEC, question, wait_seconds=0.2):
        pass
except StoreError as fault:
    print(fault.message)
"""


def test_only_one_process_writes(paths: DataPaths) -> None:
    command = [sys.executable, "-c", SECOND, str(paths.root)]
    with open_writer(paths, SPEC, question):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "another process is writing the index"
    assert not subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.index_writer import open_writer
from tests.stores.samples import SPEC, chunk, question, rows

paths = [f"N{i}.md" for i in range(30)]
for generation in range(1, 26):
    with open_writer(DataPaths(Path(sys.argv[1])), SPEC, question) as writer:
        for half in (paths[:15], paths[15:]):
            writer.replace_notes(rows(*(chunk(p, f"word generation{generation} {p}") for p in half)), half)
        writer.optimise(force=generation % 5 == 0)
        writer.publish()
        writer.prune(force=generation % 10 == 0)
"""


def test_a_reader_beside_a_busy_writer_never_sees_a_mixture(paths: DataPaths) -> None:
    _publish(paths, *(chunk(f"N{i}.md", f"word generation0 N{i}.md") for i in range(30)))
    index = ChunkIndex.open(paths)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(paths.root)], cwd=ROOT)
    seen = []
    while writer.poll() is None or seen[-1] != "generation25":
        assert writer.returncode in (None, 0)
        for hits in (index.text_leg("word", 50), index.vector_leg(vector("x"), 50)):
            assert len(hits) == 30
            (generation,) = {hit.text.split()[1] for hit in hits}
            seen.append(generation)
    numbers = [int(generation.removeprefix("generation")) for generation in seen]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 3, "the reader did follow while the writer wrote"


KILLED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.index_writer import open_writer
from tests.stores.samples import SPEC, chunk, question, rows

with open_writer(DataPaths(Path(sys.argv[1])), SPEC, question) as writer:
    for edition in range(1, 10_000):
        paths = [f"N{i}.md" for i in range(40)]
        chunks = [chunk(path, f"edition {edition} part {j}", j) for path in paths for j in range(5)]
        print(edition, flush=True)
        writer.replace_notes(rows(*chunks), paths)
        writer.optimise(force=True)
        writer.publish()
"""


@pytest.mark.parametrize("editions", [1, 3, 8])
def test_a_killed_writer_leaves_whole_notes_and_the_next_run_equals_a_fresh_one(
    paths: DataPaths, tmp_path: Path, editions: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(paths.root)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(editions):
        process.stdout.readline()
    time.sleep(0.01 * editions)  # somewhere in the middle of a commit, an optimise or a publish
    process.kill()
    process.wait()
    final = [chunk(f"N{i}.md", f"final part {j}", j) for i in range(39) for j in range(3)]
    everything = {f"N{i}.md" for i in range(40)}
    with open_writer(paths, SPEC, question) as writer:
        table = writer._table.search().select(["source_file", "text"]).to_arrow().to_pylist()
        for path in everything & {row["source_file"] for row in table}:
            texts = [row["text"] for row in table if row["source_file"] == path]
            assert len(texts) == 5
            assert len({text.split()[1] for text in texts}) == 1
        writer.replace_notes(rows(*final), everything)
        writer.optimise(force=True)
        writer.publish()
    fresh = DataPaths(tmp_path / "fresh")
    _publish(fresh, *final)
    after, expected = ChunkIndex.open(paths), ChunkIndex.open(fresh)
    assert after.health() == expected.health()
    for path in everything:
        assert after.neighbours(path) == expected.neighbours(path)
    assert [hit.chunk_id for hit in after.vector_leg(vector("final part 1"), 200)] == [
        hit.chunk_id for hit in expected.vector_leg(vector("final part 1"), 200)
    ]
    assert len(after.text_leg("final", 500)) == len(expected.text_leg("final", 500)) == len(final)
    assert json.loads((paths.index_dir / "current.json").read_text())["chunks"] == len(final)


def test_threads_share_a_reader_while_it_moves_on(paths: DataPaths) -> None:
    _publish(paths, *(chunk(f"N{i}.md", "word zero") for i in range(10)))
    index = ChunkIndex.open(paths)

    def ask(_: int) -> set[int]:
        return {len(index.text_leg("word", 50)) for _ in range(25)} | {len(index.vector_leg(vector("x"), 50))}

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, i) for i in range(4)]
        for edition in range(5):
            _publish(paths, *(chunk(f"N{i}.md", f"word {edition}") for i in range(10)))
        assert {number for answers in asking for number in answers.result()} == {10}
