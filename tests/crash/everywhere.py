"""Kills a sync after every single thing it does, in every situation: some four hundred deaths, two minutes when idle.

    python -m tests.crash.everywhere [SITUATION …]

By hand, for whoever changes the pipeline; the tests kill at named points only. Prints a line for each death that was
not survived, and how many there were.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.crash.points import operations
from tests.crash.processes import Job, start_server, sync
from tests.crash.situations import Death, Situations

SITUATIONS = ("first", "changes", "embedder", "upkeep")


def main(names: Sequence[str]) -> int:
    """Die everywhere; returns how many deaths were not survived."""
    start_server()
    with tempfile.TemporaryDirectory() as folder:
        situations = Situations(Path(folder))
        lost = 0
        for name in names or SITUATIONS:
            started = time.monotonic()
            with ThreadPoolExecutor(2) as pool:
                complaints = list(pool.map(lambda death: _complaint(*death), _deaths(situations, name)))
            wrong = [complaint for complaint in complaints if complaint]
            sys.stdout.write("".join(f"{complaint}\n" for complaint in wrong))
            seconds = time.monotonic() - started
            sys.stdout.write(f"{name}: {len(complaints)} deaths, {len(wrong)} not survived, {seconds:.0f} s\n")
            lost += len(wrong)
    return lost


def _deaths(situations: Situations, name: str) -> Iterator[tuple[str, Death]]:
    """One for everything that a sync does, and, where there are changes, another with them taken back."""
    situation = situations.get(name)
    alive = Death(situations, situation, situation.plan, situations.room / f"{name}-alive")
    heard = alive.room / "heard"
    plan = replace(situation.plan, points=tuple(operations(alive.home)), nth=0, heard=str(heard))
    ended = sync(Job(alive.home, alive.vault, plan))
    assert ended.status == 0, ended.said
    for number, point in enumerate(heard.read_text().splitlines(), start=1):
        for undone in (False, True) if situation.home else (False,):
            label = f"{name}{', undone' if undone else ''}, {number}: {point}"
            room = situations.room / f"{name}-{number}-{undone}"
            death = Death(situations, situation, situation.plan, room, undone=undone)
            death.plan = replace(situation.plan, points=tuple(operations(death.home)), nth=number)
            yield label, death


def _complaint(label: str, death: Death) -> str:
    try:
        death.run()
    except AssertionError as fault:
        return f"{label}: {fault}"
    return ""


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
