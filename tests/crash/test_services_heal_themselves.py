"""`companion up`: its worker is killed in mid-sync, then all of it at once; nobody lifts a finger, and all is well."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import dagster as dg
import psutil
import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.launching import launch_sync
from companion_assets.defs.knowledge.assets import LANCE_WRITER
from tests.crash import vaults
from tests.crash.compare import same_as_fresh
from tests.crash.faulty import Plan, Point
from tests.crash.pictures import published
from tests.crash.processes import settings_of
from tests.crash.situations import SMALL, USUAL, Situations, engine
from tests.daemon.running import Up, processes_of

MERGED = Point("lancedb.merge:LanceMergeInsertBuilder.execute", "after")
SECONDS = 120


@pytest.fixture
def struck(tmp_path: Path) -> Path:
    """Made by the process that kills itself; none does so while it is there."""
    return tmp_path / "struck"


@pytest.fixture
def start(
    situations: Situations, struck: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Up]]:
    """Starts the services on a vault, armed: whoever merges for the second time is killed."""
    vaults.copy(situations.old, tmp_path / "vault")
    plan = Plan((MERGED,), nth=2, once=str(struck), dimensions=USUAL, constants=SMALL)
    variables = {**plan.environment(), **settings_of(USUAL), "COMPANION_VAULT__PATH": str(tmp_path / "vault")}
    for name, value in {**variables, "COMPANION_MODEL__INFERENCE__BACKEND": "none"}.items():
        monkeypatch.setenv(name, value)
    yield lambda: Up(data_paths())
    for process in processes_of(data_paths().root):
        process.kill()


def test_they_heal_themselves(situations: Situations, start: Callable[[], Up], struck: Path, tmp_path: Path) -> None:
    paths, vault = data_paths(), tmp_path / "vault"
    start()
    launch_sync(paths, reason="test")
    wait_until(struck.exists)
    before = situations.fresh(situations.old, USUAL).rows
    wait_until(lambda: published(paths) == before)
    wait_until(lambda: bool(runs(paths, dg.DagsterRunStatus.FAILURE)))

    # The power goes while the watcher's own sync of what the person has just changed is in the middle.
    struck.unlink()
    vaults.change(vault)
    wait_until(struck.exists)
    cut_power(paths)
    assert published(paths) == before

    again = start()
    whole = situations.fresh(situations.new, USUAL).rows.keys()
    # A run that was about to start when the power went is given two minutes to show up, and holds up nothing.
    wait_until(lambda: not runs(paths, dg.DagsterRunStatus.STARTED) and published(paths).keys() == whole)
    again.process.terminate()
    assert again.process.wait(30) == 0
    same_as_fresh(paths.root, vault, engine=engine(USUAL))
    with open_instance(paths) as instance:
        pool = instance.event_log_storage.get_concurrency_info(LANCE_WRITER)
        assert (pool.claimed_slots, pool.pending_steps) == ([], [])


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.5)  # looking costs something, and the services need the processor


def runs(paths: DataPaths, *statuses: dg.DagsterRunStatus) -> list[dg.DagsterRun]:
    """Those of the run log with one of these statuses."""
    with open_instance(paths) as instance:
        return list(instance.get_runs(dg.RunsFilter(statuses=statuses)))


def cut_power(paths: DataPaths) -> None:
    """Every process at once, those too that would tidy up after others."""
    while doomed := processes_of(paths.root):
        for process in doomed:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(doomed, timeout=10)
