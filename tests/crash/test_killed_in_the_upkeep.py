"""The weekly upkeep is killed: readers notice nothing, and the next upkeep and the next sync find all in order."""

from dataclasses import replace
from pathlib import Path

import pytest

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.paths import data_paths
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import table_names
from tests.crash import vaults
from tests.crash.compare import same_as_fresh
from tests.crash.faulty import Plan, Point
from tests.crash.pictures import published, stored_vectors
from tests.crash.processes import KILLED, Job, sync
from tests.crash.situations import OTHER, SMALL, UPKEEP, Situations, engine

SQL = "sqlalchemy.engine.base:Connection.exec_driver_sql"
PLAN = Plan(
    dimensions=OTHER,
    constants=(
        *SMALL,
        *UPKEEP,
        ("companion_assets.stages.upkeep:compact_index.__kwdefaults__", {"grace_minutes": 0.0}),
    ),
)


@pytest.fixture(scope="module")
def room(situations: Situations, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root that needs upkeep: an embedder given up, a note gone, versions piled up."""
    room = tmp_path_factory.mktemp("upkeep")
    vaults.copy(situations.migrated(), room / "home")
    vaults.copy(situations.old, room / "vault")
    (room / "vault/Journal/2026-05-14.md").unlink()
    ended = sync(Job(room / "home", room / "vault", replace(PLAN, constants=SMALL)))
    assert ended.status == 0, ended.said
    return room


@pytest.mark.parametrize(
    "point",
    [
        Point("lancedb.table:LanceTable.optimize", "within", watched="index.lance/*/data/*"),
        Point("lancedb.table:LanceTable.optimize", "after"),
        Point("os:unlink", "after", "txn"),
        Point(SQL, "after", "DELETE FROM vectors WHERE text_sha"),
        Point("companion_assets.stores.compaction:_checkpoint", "after"),
    ],
    ids=str,
)
def test_the_upkeep_is_killed(room: Path, tmp_path: Path, point: Point) -> None:
    home, vault = tmp_path / "home", room / "vault"
    vaults.copy(room / "home", home)
    paths = data_paths(home)
    rows = published(paths)
    reader = ChunkIndex.open(paths)
    shown = reader.get(rows)
    ended = sync(Job(home, vault, replace(PLAN, points=(point,)), upkeep=True))
    assert ended.status == KILLED, ended.said
    assert published(paths) == rows
    assert reader.get(rows) == shown

    ended = sync(Job(home, vault, PLAN, upkeep=True))
    assert ended.status == 0, ended.said
    embedded = tmp_path / "embedded"
    ended = sync(Job(home, vault, replace(PLAN, embedded=str(embedded))))
    assert ended.status == 0, ended.said
    assert not embedded.exists()
    same_as_fresh(home, vault, engine=engine(OTHER))
    assert reader.get(rows) == shown
    assert len(table_names(paths)) == 1
    assert {kind for kind, _ in stored_vectors(paths)} == {HashEmbedder(OTHER).spec.embedder_id}
