"""A sync is killed outright; one sync later the index is what a fresh build gives, row by row (B87)."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from tests.crash.points import KILLS, Killed
from tests.crash.situations import Death, Situations


@dataclass(frozen=True, slots=True)
class Case:
    """One point in one situation. `undone`: the person takes all changes back before the next sync."""

    kill: Killed
    situation: str
    undone: bool

    def __str__(self) -> str:
        return f"{self.situation}{', undone' if self.undone else ''}; {self.kill}"


def cases() -> Iterator[Case]:
    """Every point in its situations; every other one, of those with changes, has them taken back."""
    for position, kill in enumerate(KILLS):
        for situation in kill.situations:
            yield Case(kill, situation, undone=situation != "first" and position % 2 == 1)


CASES = list(cases())


@pytest.fixture(scope="module")
def deaths(situations: Situations, request: pytest.FixtureRequest) -> Iterator[Mapping[Case, Future[None]]]:
    """The deaths of the tests that were asked for, two at a time."""
    wanted = [item.callspec.params.get("case") for item in request.session.items if hasattr(item, "callspec")]
    chosen = [case for case in CASES if case in wanted]
    for name in {case.situation for case in chosen}:
        # What all of them need, made before two of them ask for it at once.
        situations.fresh(situations.get(name).vault, situations.get(name).plan.dimensions)
    with ThreadPoolExecutor(2) as pool:
        yield {case: pool.submit(die, situations, case) for case in chosen}


def die(situations: Situations, case: Case) -> None:
    situation = situations.get(case.situation)
    plan = replace(situation.plan, points=(case.kill.point,), nth=case.kill.nth)
    room = situations.room / f"death-{CASES.index(case)}"
    Death(situations, situation, plan, room, undone=case.undone).run()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_next_sync_gives_what_a_fresh_index_gives(deaths: Mapping[Case, Future[None]], case: Case) -> None:
    deaths[case].result()


def test_every_stage_is_killed_at_several_points() -> None:
    stages = {kill.stage for kill in KILLS}
    assert stages == {
        "open", "read", "removal", "chunk", "progress", "embed", "merge", "optimise", "publish", "prune",
    }  # fmt: skip
    assert len({kill.point for kill in KILLS}) >= 40
