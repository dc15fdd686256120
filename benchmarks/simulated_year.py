"""A year of a vault in a few minutes: ten thousand edits, with syncs that are disturbed or die, against fresh builds.

    python -m benchmarks.simulated_year [--edits 10000] [--notes 200] [--seed 1]

Prints Markdown tables. Steps are drawn as in `tests.year`, where Hypothesis draws them, and the rules are the same:
readers never lose a note that is there; a moved note is never served under two paths; nothing is embedded twice; and
after every hundred edits the catalog, the index with its vectors, and what the search finds equal a fresh build of the
same vault. The first fault ends the year, with the steps that led to it.
"""

import argparse
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from companion_assets.contracts.paths import HOME_VARIABLE
from companion_assets.stores.index_table import read_manifest
from tests.year.history import Fault, History
from tests.year.interruptions import places
from tests.year.steps import Edit, Step, draw_step

EDITS_BETWEEN_CHECKS = 100
MONTHS = 12


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the year is: sums since its beginning, and the notes that have rows now."""

    edits: int
    syncs: int
    disturbed: int
    died: int
    checks: int
    notes: int
    compared: int
    embedded: int
    seconds: int


def standing(year: History, compared: int, started: float) -> Standing:
    """How far a year is."""
    return Standing(
        edits=sum(year.house.vault.lived.values()),
        syncs=sum(count for kind, count in year.lived.items() if kind.startswith("sync")),
        disturbed=year.disturbed,
        died=sum(year.deaths.values()),
        checks=year.lived["check"],
        notes=read_manifest(year.house.paths).notes,
        compared=compared,
        embedded=len(year.house.ledger.texts),
        seconds=round(time.perf_counter() - started),
    )


def some_steps(source: random.Random) -> Iterator[Step]:
    """Steps with a hundred edits among them."""
    edits = 0
    while edits < EDITS_BETWEEN_CHECKS:
        step = draw_step(source.randint)
        edits += isinstance(step, Edit)
        yield step


def live(year: History, edits: int, seed: int) -> Iterator[Standing]:
    """Live a year, with a check after every hundred edits.

    Yields:
        How far it is, after every check.

    Raises:
        Fault: Something was not as it should be.
    """
    source = random.Random(seed)
    started, compared = time.perf_counter(), 0
    for _ in range(0, edits, EDITS_BETWEEN_CHECKS):
        year.live(some_steps(source))
        year.check()
        compared += read_manifest(year.house.paths).chunks
        yield standing(year, compared, started)


def report(year: History, months: Sequence[Standing]) -> str:
    """Tables of what happened: by month, by kind of edit, and in how many places of the code."""
    heads = ("month", "edits", "syncs", "disturbed", "died", "checks", "notes", "rows compared", "embedded", "s")
    lines = [_row(heads), _row(["--:"] * len(heads))]
    lines += [_row([number, *astuple(month)]) for number, month in enumerate(months, start=1)]
    died, happened = len(year.deaths), len(year.lines)
    return "\n".join(
        [
            *lines,
            "",
            "Sums from the year's beginning; `notes` is how many have rows at the month's end.",
            "",
            f"Edits: {_counts(year.house.vault.lived)}.  ",
            f"Others: {_counts(year.lived)}.  ",
            f"Something happened in the middle of a sync before {happened} different lines of the product "
            f"(of {len(places()):,}), deaths before {died}.",
        ]
    )


def _counts(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))


def _row(cells: Sequence[object]) -> str:
    shown = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells)
    return f"| {' | '.join(shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        os.environ[HOME_VARIABLE] = str(Path(room) / "home")
        year = History(Path(room), options.notes)
        months: list[Standing] = []
        checks = options.edits // EDITS_BETWEEN_CHECKS
        try:
            for now in live(year, options.edits, options.seed):
                print(f"\r{now.edits:,} edits, {now.died:,} deaths, {now.seconds:.0f} s ", end="", file=sys.stderr)
                if now.checks * MONTHS // checks > len(months):
                    months.append(now)
        except Fault as fault:
            print(f"\nseed {options.seed}: {fault}\n", *year.steps[-30:], sep="\n", file=sys.stderr)
            sys.exit(1)
        print(file=sys.stderr)
        machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        print(f"{machine}, Python {platform.python_version()}, seed {options.seed}. Mismatches: 0.\n")
        print(report(year, months))


if __name__ == "__main__":
    main()
