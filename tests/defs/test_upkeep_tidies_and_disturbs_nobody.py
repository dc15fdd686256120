"""The weekly upkeep: smaller afterwards, found as before; nothing is lost by a kill, and readers go on (B56)."""

import datetime as dt
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import dagster as dg
import numpy as np
import pytest

from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import open_instance
from companion_assets.definitions import defs
from companion_assets.defs.maintenance.upkeep import UPKEEP_JOB, weekly_upkeep
from companion_assets.defs.resources import open_workspace, sync_turn
from companion_assets.stages.upkeep import Forgotten, compact_index, forget_vectors
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.chat_log import ChatLog
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import building_table, read_manifest
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.sizes import size_of, size_of_database
from tests.defs.conftest import sync
from tests.defs.daemon import put_run

OTHER = EmbedderSpec("ollama", "other:latest", "digest", 8, 512)


@pytest.fixture
def work(synced: DataPaths) -> Iterator[Workspace]:
    with open_workspace() as opened:
        yield opened


def save_often(work: Workspace, times: int) -> None:
    """As after so many saves of a note: a version of the index for each."""
    served = read_manifest(work.paths)
    chunks = list(work.catalog.chunks_of(["Projects/Cello.md"]))
    vectors = work.vectors.get_many(served.embedder.embedder_id, [sha for _, sha in chunks])
    rows = [(chunk, vectors[sha]) for chunk, sha in chunks]
    with open_writer(work.paths, served.embedder, lambda _: np.ones(served.embedder.dimensions, np.float32)) as writer:
        for _ in range(times):
            writer.replace_notes(rows, ["Projects/Cello.md"])
            writer.publish(served.run_id)
        work.catalog.write_version(writer.table, writer.version)


def answers(index: ChunkIndex) -> list[Any]:
    """What is found by words and by meaning, with its scores."""
    dimensions = index.manifest.embedder.dimensions
    question = np.random.default_rng(1).normal(size=dimensions).astype(np.float32)
    return [index.text_leg("wing crack", 5), index.text_leg("李梅", 5), index.vector_leg(question, 20)]


def found(index: ChunkIndex) -> list[Any]:
    """The same without the scores of the keyword half: rows that no keyword index covers yet alter them."""
    return [[(hit.chunk_id, hit.text, hit.similarity) for hit in hits] for hits in answers(index)]


def run_upkeep(paths: DataPaths) -> tuple[bool, dict[str, dict[str, Any]]]:
    """Whether all went well, and what each step says of itself."""
    with open_instance(paths) as instance:
        done = defs.resolve_job_def(UPKEEP_JOB).execute_in_process(instance=instance, raise_on_error=False)
        said = {
            event.step_key: {name: value.value for name, value in event.step_output_data.metadata.items()}
            for event in done.all_events
            if event.is_successful_output
        }
    return done.success, {str(step): metadata for step, metadata in said.items()}


def test_it_says_what_it_did_in_figures_a_person_can_read(synced: DataPaths, work: Workspace) -> None:
    save_often(work, 3)
    ChatLog(synced.companion_db).create_session("mine")
    before = found(ChunkIndex.open(synced))
    success, said = run_upkeep(synced)
    assert success
    assert found(ChunkIndex.open(synced)) == before
    assert set(said) == {"compact_index", "forget_vectors", "compact_databases", "prune_run_log"}
    assert said["compact_index"]["bytes_after"] == size_of(synced.index_dir)
    assert said["compact_index"]["freed"].endswith(f"MB of {said['compact_index']['bytes_before'] / 1e6:,.1f}")
    assert (said["forget_vectors"]["texts"], said["forget_vectors"]["vectors_of_other_embedders"]) == (0, 0)
    assert {"catalog", "vectors", "conversations"} <= set(said["compact_databases"])
    assert (said["prune_run_log"]["runs_deleted"], said["prune_run_log"]["runs_kept"]) == (0, 2)
    assert not any("left_as_it_is" in metadata for metadata in said.values())


def test_many_saves_later_the_index_is_as_small_as_a_fresh_one(synced: DataPaths, work: Workspace) -> None:
    compact_index(work, grace_minutes=0)
    fresh, before = size_of(synced.index_dir), answers(ChunkIndex.open(synced))
    save_often(work, 60)
    assert size_of(synced.index_dir) > 3 * fresh
    done = compact_index(work, grace_minutes=0)
    assert (done.after, done.left) == (size_of(synced.index_dir), "")
    assert done.after <= 1.3 * fresh
    assert answers(ChunkIndex.open(synced)) == before


def test_who_reads_meanwhile_goes_on_reading(synced: DataPaths, work: Workspace) -> None:
    save_often(work, 60)
    reader = ChunkIndex.open(synced)
    before, seen, over = found(reader), [], threading.Event()

    def read() -> None:
        while not over.is_set():
            seen.append(found(reader))

    other = threading.Thread(target=read)
    other.start()
    version = read_manifest(synced).version
    done = compact_index(work)
    over.set()
    other.join()
    assert done.left == ""
    assert read_manifest(synced).version > version
    assert seen
    assert all(one == before for one in [*seen, found(reader), found(ChunkIndex.open(synced))])


def test_without_an_index_there_is_nothing_to_do(paths: DataPaths) -> None:
    success, said = run_upkeep(paths)
    assert success
    assert said["compact_index"]["left_as_it_is"] == "nothing is indexed yet"
    assert not paths.index_dir.exists()


def test_an_index_that_is_being_built_is_left_alone(synced: DataPaths, work: Workspace) -> None:
    work.vectors.put_many(OTHER.embedder_id, [("sha", np.ones(8, np.float32))])
    with open_writer(synced, OTHER, lambda _: np.ones(8, np.float32)):
        pass
    table = building_table(synced)
    assert table is not None
    assert "being built" in compact_index(work, grace_minutes=0).left
    assert "being built" in forget_vectors(work).left
    assert building_table(synced) == table
    assert work.vectors.count(OTHER.embedder_id) == 0, "no chunk has that text"


def test_vectors_of_gone_texts_and_given_up_embedders_are_forgotten(
    synced: DataPaths, work: Workspace, synced_vault: Any
) -> None:
    served = read_manifest(synced).embedder.embedder_id
    needed = work.vectors.count(served)
    sha = next(iter(work.catalog.all_text_shas()))
    work.vectors.put_many(OTHER.embedder_id, [(sha, np.ones(8, np.float32))])
    work.vectors.put_many(served, [("of a text that is gone", np.ones(read_manifest(synced).embedder.dimensions))])
    assert forget_vectors(work) == Forgotten(texts=1, embedders=1)
    assert (work.vectors.count(served), work.vectors.count(OTHER.embedder_id)) == (needed, 0)
    (synced_vault / "Projects/Cello.md").unlink()
    sync(synced)
    assert forget_vectors(work).texts > 0
    assert 0 < work.vectors.count(served) < needed
    assert sync(synced, rebuild=True).counts["embeddings"]["embedded"] == 0


def test_a_lost_catalog_costs_no_vector(synced: DataPaths) -> None:
    for file in synced.root.glob("catalog.db*"):
        file.unlink()
    with open_workspace() as work:
        served = read_manifest(synced).embedder.embedder_id
        before = work.vectors.count(served)
        assert "sync first" in forget_vectors(work).left
        assert work.vectors.count(served) == before > 0


def test_space_that_is_free_inside_the_databases_is_given_back(synced: DataPaths, work: Workspace) -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 384)).astype(np.float32)
    work.vectors.put_many(OTHER.embedder_id, [(f"{i:064}", row) for i, row in enumerate(rows)])
    before = size_of_database(synced.vectors_db)
    success, said = run_upkeep(synced)
    assert success
    assert before > 4e6 > 1e6 > size_of_database(synced.vectors_db)
    assert said["compact_databases"]["bytes_before"] - said["compact_databases"]["bytes_after"] > 3e6


def test_a_step_that_fails_holds_up_none(synced: DataPaths) -> None:
    (synced.index_dir / "current.json").write_text("no manifest")
    success, said = run_upkeep(synced)
    assert not success
    assert set(said) == {"prune_run_log"}


def test_it_takes_its_turn_with_the_syncs(synced: DataPaths) -> None:
    with ExitStack() as held:
        held.enter_context(sync_turn(synced))
        upkeep = threading.Thread(target=run_upkeep, args=(synced,))
        upkeep.start()
        upkeep.join(timeout=3)
        assert upkeep.is_alive()
    upkeep.join(timeout=120)
    assert not upkeep.is_alive()


def sunday(instance: dg.DagsterInstance, at: dt.datetime) -> dg.RunRequest | dg.SkipReason:
    with dg.build_schedule_context(instance=instance, scheduled_execution_time=at) as context:
        answer = weekly_upkeep(context)
    assert isinstance(answer, dg.RunRequest | dg.SkipReason)
    return answer


def test_it_comes_once_a_week_and_once_after_a_long_sleep(synced: DataPaths) -> None:
    now = dt.datetime.now(dt.UTC)
    with open_instance(synced) as instance:
        request = sunday(instance, now - dt.timedelta(days=15))
        assert isinstance(request, dg.RunRequest)
        run_id = put_run(instance, dict(request.tags), dg.DagsterRunStatus.STARTED, UPKEEP_JOB)
        assert "already" in str(sunday(instance, now - dt.timedelta(days=8)))
        instance.report_run_canceled(instance.get_run_by_id(run_id))
        assert "since then" in str(sunday(instance, now - dt.timedelta(days=1)))
        assert isinstance(sunday(instance, now + dt.timedelta(days=6)), dg.RunRequest)


KILLED = """
import os, signal, sys
from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.definitions import defs
from companion_assets.stores import compaction, index_table, index_writer, vectors

owner, name, calls = sys.argv[1], sys.argv[2], iter(range(int(sys.argv[3])))
target = {"writer": index_writer.IndexWriter, "table": index_table, "cache": vectors.VectorCache, "os": os}[owner]
whole = getattr(target, name)
def deadly(*args, **options):
    if next(calls, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(*args, **options)
setattr(target, name, deadly)
with open_instance(data_paths()) as instance:
    defs.resolve_job_def("upkeep_job").execute_in_process(instance=instance)
"""


@pytest.mark.parametrize(
    "point",
    [("writer", "publish", "0"), ("table", "write_manifest", "0"), ("writer", "retire_others", "0"),
     ("cache", "forget_embedders", "0")],
    ids=lambda point: "-".join(point),
)  # fmt: skip
def test_killed_anywhere_nothing_is_lost(synced: DataPaths, work: Workspace, point: tuple[str, str, str]) -> None:
    save_often(work, 5)
    before = found(ChunkIndex.open(synced))
    killed = subprocess.run([sys.executable, "-c", KILLED, *point], env=dict(os.environ), check=False)
    assert killed.returncode == -9
    assert found(ChunkIndex.open(synced)) == before
    success, _ = run_upkeep(synced)
    assert success
    assert found(ChunkIndex.open(synced)) == before
    assert sync(synced).counts["embeddings"]["embedded"] == 0
