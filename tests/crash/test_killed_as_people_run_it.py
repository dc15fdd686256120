"""`companion index` with the real embedder and Dagster's run log, killed in one place after the other."""

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.defs.knowledge.assets import LANCE_WRITER
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS
from tests.crash import vaults
from tests.crash.compare import check, same_as_fresh
from tests.crash.faulty import Plan, Point
from tests.crash.pictures import stored_vectors
from tests.crash.processes import KILLED, Job, sync
from tests.crash.situations import SMALL, USUAL, Situations, engine

VECTORS = "companion_assets.stores.vectors:VectorCache"
REGISTER = "dagster._core.instance.instance:DagsterInstance.add_dynamic_partitions"
MERGE = "lancedb.merge:LanceMergeInsertBuilder.execute"


def test_kills_in_a_row_of_the_real_thing_cost_nothing_twice(tmp_path: Path) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    vaults.write(vault, vaults.NOTES)
    real = Plan(constants=SMALL)
    for place, nth in ((f"{VECTORS}.put_many", 2), (MERGE, 3)):
        ended = sync(Job(home, vault, replace(real, points=(Point(place, "after"),), nth=nth), command="index"))
        assert ended.status == KILLED, ended.said
    stored = stored_vectors(data_paths())
    vaults.change(vault)
    ended = sync(Job(home, vault, real, command="index"))
    assert ended.status == 0, ended.said
    same_as_fresh(home, vault)
    made = stored_vectors(data_paths()) - stored
    assert f"{len(made)} passages embedded" in ended.said
    check_run_log(deaths=2)


def check_run_log(deaths: int) -> None:
    """The runs that died are marked as failed, and hold nothing."""
    with open_instance(data_paths()) as instance:
        statuses = [run.status for run in instance.get_runs()]
        assert statuses == [dg.DagsterRunStatus.SUCCESS] + [dg.DagsterRunStatus.FAILURE] * deaths
        pool = instance.event_log_storage.get_concurrency_info(LANCE_WRITER)
        assert (pool.claimed_slots, pool.pending_steps) == ([], [])


@pytest.mark.parametrize(
    "point",
    [
        Point(REGISTER, "after"),
        Point("dagster._core.instance.instance:DagsterInstance.create_run_for_job", "after"),
        Point(MERGE, "after"),
    ],
    ids=str,
)
def test_the_run_log_and_the_folders_are_right_after_a_kill(
    situations: Situations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: Point
) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    vaults.copy(situations.old, vault)
    plan = Plan(dimensions=USUAL, constants=SMALL)
    assert sync(Job(home, vault, replace(plan, points=(point,)), command="index")).status == KILLED
    ended = sync(Job(home, vault, plan, command="index"))
    assert ended.status == 0, ended.said
    check(home, vault, situations.fresh(situations.old, USUAL), engine=engine(USUAL))
    with open_instance(data_paths()) as instance:
        folders = {path.split("/")[0] if "/" in path else "_root" for path in vaults.NOTES}
        assert set(instance.get_dynamic_partitions(VAULT_FOLDERS)) == folders


def test_a_lost_run_log_leaves_no_folder_out(situations: Situations, tmp_path: Path) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    vaults.copy(situations.indexed(), home)
    vaults.copy(situations.new, vault)
    assert not data_paths(home).dagster_home.exists()
    ended = sync(Job(home, vault, Plan(dimensions=USUAL, constants=SMALL), command="index"))
    assert ended.status == 0, ended.said
    check(home, vault, situations.fresh(situations.new, USUAL), engine=engine(USUAL))
