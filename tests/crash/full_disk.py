"""Syncs on a disk of a few megabytes that gets full in the middle. Run in a mount namespace of its own by the test.

Prints a line for every complaint.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from companion_assets.contracts.paths import data_paths
from tests.crash.compare import check
from tests.crash.faulty import Plan, Point
from tests.crash.pictures import published
from tests.crash.processes import Job, start_server, sync
from tests.crash.situations import SMALL, USUAL, Situations, engine

PLAN = Plan(dimensions=USUAL, constants=SMALL, act="fill")
# What lies on the small disk: the whole data root, with Dagster's run log, or only the index.
FILLED = [
    ("", Point("companion_assets.stores.catalog:Catalog.put_notes")),
    ("index.lance", Point("lancedb.merge:LanceMergeInsertBuilder.execute")),
    ("index.lance", Point("companion_assets.stores.index_table:write_manifest")),
]
SIZE = "24m"


def main(room: Path) -> None:
    """Fill the disk at every point, once each."""
    start_server()
    situations = Situations(room)
    for folder, point in FILLED:
        home = room / "home"
        with small_disk(situations.indexed(), home, folder):
            for complaint in filled_at(point, folder, situations, home):
                sys.stdout.write(f"{folder} {point}: {complaint}\n")
        shutil.rmtree(home)


@contextmanager
def small_disk(source: Path, home: Path, folder: str) -> Iterator[None]:
    """A copy of a data root that lies, or has a folder, on a small disk."""
    disk = home / folder
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)], check=True)
    shutil.copytree(source, home, dirs_exist_ok=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def filled_at(point: Point, folder: str, situations: Situations, home: Path) -> Iterator[str]:
    """One disk that gets full, and is given room again."""
    vault = situations.new
    before = published(data_paths(home))
    ended = sync(Job(home, vault, replace(PLAN, points=(point,), filled=folder), command="index"))
    filler = home / folder / "filler"
    if not filler.exists():
        yield f"was not reached: {ended.said}"
        return
    if ended.status != 1:
        yield f"ended with status {ended.status}"
    told = ended.said[ended.said.find("error:") :].splitlines()
    if [line[:6] for line in told] != ["error:", "hint: "] or "full" not in ended.said:
        yield f"is not told in plain words: {ended.said}"
    if published(data_paths(home)) != before:
        yield "something is served that is not whole"
    filler.unlink()
    ended = sync(Job(home, vault, replace(PLAN, points=())))
    if ended.status:
        yield f"the next sync fails: {ended.said}"
        return
    try:
        check(home, vault, situations.fresh(vault, USUAL), engine=engine(USUAL))
    except AssertionError as fault:
        yield str(fault)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
