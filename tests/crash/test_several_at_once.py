"""Several syncs at once, of everything and of single folders, while the person goes on writing (B54, B55)."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.crash import vaults
from tests.crash.compare import check, same_as_fresh
from tests.crash.faulty import Plan
from tests.crash.points import operations
from tests.crash.processes import KILLED, Job, sync
from tests.crash.situations import SMALL, USUAL, Situations, engine

PLAN = Plan(dimensions=USUAL, constants=SMALL)


def test_nothing_is_lost_or_done_twice(situations: Situations, tmp_path: Path) -> None:
    home, vault, embedded = tmp_path / "home", tmp_path / "vault", tmp_path / "embedded"
    vaults.copy(situations.indexed(), home)
    vaults.copy(situations.new, vault)
    slow = replace(PLAN, points=tuple(operations(home)), nth=0, slow=True, embedded=str(embedded))
    jobs = [
        Job(home, vault, slow, name="all"),
        Job(home, vault, slow, name="all again"),
        Job(home, vault, slow, name="fast", folders=("Journal",)),
        Job(home, vault, slow, name="new", folders=("Persons",)),
    ]
    with ThreadPoolExecutor(len(jobs)) as pool:
        running = [pool.submit(sync, job) for job in jobs]
        for notes in ({"Journal/Late.md": "One more line.\n"}, {"Persons/Ana.md": "# Ana\nTeaches physics.\n"}):
            time.sleep(0.3)
            vaults.write(vault, notes, age=5)
        ended = [job.result() for job in running]
    assert [job.status for job in ended] == [0] * len(jobs), ended
    last = sync(Job(home, vault, replace(PLAN, embedded=str(embedded))))
    assert last.status == 0, last.said
    same_as_fresh(home, vault, engine=engine(USUAL))
    texts = embedded.read_text().split()
    assert len(texts) == len(set(texts))


def test_one_that_waits_takes_over_from_one_that_is_killed(situations: Situations, tmp_path: Path) -> None:
    home, vault, heard = tmp_path / "home", tmp_path / "vault", tmp_path / "heard"
    vaults.copy(situations.indexed(), home)
    vaults.copy(situations.new, vault)
    doomed = replace(PLAN, points=tuple(operations(home)), nth=30, slow=True, heard=str(heard))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sync, Job(home, vault, doomed, name="first"))
        while not heard.exists() and not first.done():
            time.sleep(0.01)
        second = pool.submit(sync, Job(home, vault, PLAN, name="second"))
        assert first.result().status == KILLED, first.result().said
        assert second.result().status == 0, second.result().said
    check(home, vault, situations.fresh(situations.new, USUAL), engine=engine(USUAL))
