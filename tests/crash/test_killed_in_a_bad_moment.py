"""Kills whose trouble would come later: with the next change of mind, or only in a large vault."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.paths import data_paths
from companion_assets.stores.catalog_view import MIGRATIONS
from companion_assets.stores.database import open_database
from companion_assets.stores.index import ChunkIndex
from tests.crash import vaults
from tests.crash.compare import check, same_as_fresh
from tests.crash.faulty import Plan, Point
from tests.crash.pictures import published, stored_vectors
from tests.crash.points import operations
from tests.crash.processes import KILLED, Job, sync
from tests.crash.situations import OTHER, SMALL, UPKEEP, USUAL, Death, Situations, engine

USUAL_PLAN = Plan(dimensions=USUAL, constants=SMALL)
OTHER_PLAN = Plan(dimensions=OTHER, constants=SMALL)
MERGED = Point("lancedb.merge:LanceMergeInsertBuilder.execute", "after")
CUT = Point("companion_assets.stores.catalog:Catalog.put_chunks", "after")
READ = Point("companion_assets.stores.catalog:Catalog.put_notes", "after")
REMOVED_FILE = Point("os:unlink", "after", ".lance")

Killing = Callable[[Plan, Point, int], None]


@pytest.fixture
def home(situations: Situations, tmp_path: Path) -> Path:
    """The indexed data root, to be killed in."""
    vaults.copy(situations.indexed(), tmp_path / "home")
    vaults.copy(situations.old, tmp_path / "vault")
    return tmp_path / "home"


@pytest.fixture
def vault(home: Path) -> Path:
    return home.with_name("vault")


@pytest.fixture
def kill(home: Path, vault: Path) -> Killing:
    def killed(plan: Plan, point: Point, nth: int) -> None:
        ended = sync(Job(home, vault, replace(plan, points=(point,), nth=nth)))
        assert ended.status == KILLED, f"the point was not reached; status {ended.status}\n{ended.said}"

    return killed


def synced(home: Path, vault: Path, plan: Plan) -> None:
    ended = sync(Job(home, vault, plan))
    assert ended.status == 0, ended.said


def test_a_large_folder_that_was_renamed_is_no_mass_loss_after_a_kill(tmp_path: Path, situations: Situations) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    vaults.write(vault, {f"Old name/{number}.md": f"Note {number}.\n" for number in range(60)} | {"Other.md": "One.\n"})
    synced(home, vault, USUAL_PLAN)
    (vault / "Old name").rename(vault / "New name")
    ended = sync(Job(home, vault, replace(USUAL_PLAN, points=(READ,), nth=30)))
    assert ended.status == KILLED
    synced(home, vault, USUAL_PLAN)
    same_as_fresh(home, vault, engine=engine(USUAL))


@pytest.mark.parametrize(("point", "nth"), [(CUT, 2), (MERGED, 3)], ids=str)
def test_a_change_of_embedder_taken_back_after_a_kill_leaves_the_old_index(
    home: Path, vault: Path, kill: Killing, situations: Situations, point: Point, nth: int
) -> None:
    kill(OTHER_PLAN, point, nth)
    synced(home, vault, USUAL_PLAN)
    check(home, vault, situations.fresh(situations.old, USUAL), engine=engine(USUAL))


def test_a_change_of_embedder_killed_again_and_again_is_resumed_and_the_old_one_answers(
    home: Path, vault: Path, kill: Killing, situations: Situations, tmp_path: Path
) -> None:
    before = published(data_paths(home))
    embedded = tmp_path / "embedded"
    plan = replace(OTHER_PLAN, embedded=str(embedded))
    put = Point("companion_assets.stores.vectors:VectorCache.put_many", "after")
    for point, nth in [(put, 2), (put, 2), (MERGED, 2), (MERGED, 2)]:
        kill(plan, point, nth)
        assert published(data_paths(home)) == before
    synced(home, vault, plan)
    check(home, vault, situations.fresh(situations.old, OTHER), engine=engine(OTHER))
    texts = embedded.read_text().split()
    assert len(texts) == len(set(texts)) == len({sha for kind, sha in stored_vectors(data_paths(home)) if kind == ID})


ID = HashEmbedder(OTHER).spec.embedder_id


def test_a_table_that_was_half_removed_is_not_taken_for_a_whole_one(
    home: Path, vault: Path, kill: Killing, situations: Situations
) -> None:
    synced(home, vault, OTHER_PLAN)
    vaults.write(vault, {"One more.md": "Something to publish.\n"})
    kill(replace(OTHER_PLAN, constants=SMALL + UPKEEP), REMOVED_FILE, 3)
    (vault / "One more.md").unlink()
    synced(home, vault, USUAL_PLAN)
    check(home, vault, situations.fresh(situations.old, USUAL), engine=engine(USUAL))


def test_a_catalog_of_an_older_schema_is_brought_up_to_date_although_killed_at_it(
    home: Path, vault: Path, kill: Killing, situations: Situations
) -> None:
    made_older(data_paths(home).catalog_db)
    kill(USUAL_PLAN, Point("sqlalchemy.engine.base:Connection.exec_driver_sql", "before", "INSERT INTO migrations"), 1)
    synced(home, vault, USUAL_PLAN)
    check(home, vault, situations.fresh(situations.old, USUAL), engine=engine(USUAL))


def made_older(catalog: Path) -> None:
    """Give the catalog the schema of its first version, with all rows."""
    newer = catalog.rename(catalog.with_name("newer.db"))
    open_database(catalog, MIGRATIONS[:1], canonical=False).close()
    with closing(sqlite3.connect(catalog)) as older:
        older.execute("ATTACH ? AS newer", (str(newer),))
        for table in ("notes", "chunks"):
            columns = ", ".join(row[1] for row in older.execute(f"PRAGMA table_info({table})"))
            older.execute(f"INSERT INTO {table} SELECT {columns} FROM newer.{table}")
        older.commit()
    newer.unlink()


def test_who_looks_all_the_time_sees_the_old_index_and_then_the_new_one(situations: Situations, tmp_path: Path) -> None:
    """The sync stops for a moment after each of its steps, so that every state in between is seen."""
    situation = situations.get("changes")
    death = Death(situations, situation, situation.plan, tmp_path / "room")
    reader = ChunkIndex.open(death.paths)
    ids = published(death.paths).keys() | situations.fresh(situation.vault, USUAL).rows.keys()
    old = reader.get(ids)
    looks = []
    plan = replace(situation.plan, points=tuple(operations(death.home)), nth=0, slow=True)
    with ThreadPoolExecutor(1) as pool:
        syncing = pool.submit(sync, Job(death.home, death.vault, plan))
        while not syncing.done():
            looks += [reader.get(ids), ChunkIndex.open(death.paths).get(ids)]
        assert syncing.result().status == 0, syncing.result().said
    new = reader.get(ids)
    assert len(looks) > 10
    assert new != old
    assert [look for look in looks if look not in (old, new)] == []
    check(death.home, death.vault, situations.fresh(situation.vault, USUAL), engine=engine(USUAL))
