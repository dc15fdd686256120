"""How long after a save a note is found, and what the running product costs when nothing happens.

    python -m benchmarks.living [--notes 212] [--saves 50] [--idle 60]

Starts `companion up` with the embedded embedder on a vault of its own, saves notes the way different editors do, and
looks every 20 ms, as a reader of the index, whether the new text is found. Writes `benchmarks/results/living.md`.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from unittest import mock

import psutil

from benchmarks.made_vault import make_vault, this_machine, write_results
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.ports import free_port
from companion_assets.daemon.running import running_services
from companion_assets.stores.index import ChunkIndex

_LOOK_SECONDS = 0.02
_PATIENCE_SECONDS = 60.0
_START_SECONDS = 300.0


def append(vault: Path, word: str) -> Path:
    note = vault / "Journal" / "2026-03-14.md"
    with note.open("a", encoding="utf-8") as file:
        file.write(f"\nThe word of the day is {word}.\n")
    return note


def truncate_and_write(vault: Path, word: str) -> Path:
    note = vault / "Inbox.md"
    text = note.read_text(encoding="utf-8")
    note.write_text("", encoding="utf-8")
    time.sleep(0.05)
    note.write_text(f"{text}\nRemember {word}.\n", encoding="utf-8")
    return note


def write_aside_and_replace(vault: Path, word: str) -> Path:
    note = vault / "Ideas.md"
    aside = note.with_name(".Ideas.md.tmp")
    aside.write_text(note.read_text(encoding="utf-8") + f"\nAn idea called {word}.\n", encoding="utf-8")
    aside.replace(note)
    return note


def delete_and_create(vault: Path, word: str) -> Path:
    note = vault / "Start here.md"
    text = note.read_text(encoding="utf-8")
    note.unlink()
    note.write_text(f"{text}\nBegin with {word}.\n", encoding="utf-8")
    return note


def create(vault: Path, word: str) -> Path:
    note = vault / "Projects" / f"{word}.md"
    note.write_text(f"# A new project\nIts name is {word}.\n", encoding="utf-8")
    return note


def rename(vault: Path, word: str) -> Path:
    old = next(iter(sorted((vault / "Recipes").glob("*.md"))))
    return old.rename(old.with_name(f"Recipe {word}.md"))


SAVES: tuple[Callable[[Path, str], Path], ...] = (
    append,
    truncate_and_write,
    write_aside_and_replace,
    delete_and_create,
    create,
    rename,
)


@contextmanager
def running(room: Path) -> Iterator[tuple[DataPaths, psutil.Process]]:
    """`companion up` over the room's vault, with its first index made."""
    names = {"COMPANION_HOME": str(room / "home"), "COMPANION_VAULT__PATH": str(room / "vault")}
    with mock.patch.dict(os.environ, names):
        subprocess.run([sys.executable, "-m", "companion_app", "index"], check=True, capture_output=True)
        command = [sys.executable, "-m", "companion_app", "up", "--port", str(free_port())]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        paths, deadline = data_paths(), time.monotonic() + _START_SECONDS
        while running_services(paths) is None:
            assert process.poll() is None, "companion up has ended"
            assert time.monotonic() < deadline, "companion up does not start"
            time.sleep(0.2)
        try:
            yield paths, psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def seconds_until_found(index: ChunkIndex, vault: Path, note: Path, word: str) -> float:
    """From the end of the save to the moment a reader finds the word under the note's path."""
    path = note.relative_to(vault).as_posix()
    saved = time.monotonic()
    while not any(word in f"{chunk.source_file} {chunk.text}" for chunk in index.neighbours(path)):
        assert time.monotonic() - saved < _PATIENCE_SECONDS, f"{word} was not found"
        time.sleep(_LOOK_SECONDS)
    return time.monotonic() - saved


def measure_saves(paths: DataPaths, vault: Path, saves: int) -> dict[str, list[float]]:
    index = ChunkIndex.open(paths)
    found: dict[str, list[float]] = {save.__name__: [] for save in SAVES}
    for number, save in enumerate(islice(cycle(SAVES), saves + len(SAVES))):
        word = f"zebrafinch{number}"
        seconds = seconds_until_found(index, vault, save(vault, word), word)
        if number >= len(SAVES):  # the first of each kind warms everything up
            found[save.__name__].append(seconds)
        time.sleep(1.0 + number % 7 / 7)  # not in step with anything
    return found


def measure_idle(supervisor: psutil.Process, seconds: float) -> list[str]:
    family = [supervisor, *supervisor.children(recursive=True)]
    before = [process.cpu_times() for process in family]
    time.sleep(seconds)
    lines, cores, memory = [], 0.0, 0.0
    for process, start in zip(family, before, strict=True):
        spent = process.cpu_times()
        core = (spent.user + spent.system - start.user - start.system) / seconds
        unique = process.memory_full_info().uss / 1e6
        cores, memory = cores + core, memory + unique
        lines.append(f"| {_name(process)} | {core:.1%} | {unique:.0f} |")
    return [*lines, f"| **all** | **{cores:.1%}** | **{memory:.0f}** |"]


def _name(process: psutil.Process) -> str:
    words = " ".join(process.cmdline()[1:])
    names = ("companion_app.serve", "companion_app up", "daemon.worker", "daemon.reaper", "dagster_webserver")
    known = next((name for name in (*names, "dagster._daemon", "dagster api grpc") if name in words), "")
    return known or words.rpartition("/")[2][:40]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=212)
    parser.add_argument("--saves", type=int, default=50)
    parser.add_argument("--idle", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        vault = Path(room) / "vault"
        make_vault(vault, options.notes)
        with running(Path(room)) as (paths, supervisor):
            time.sleep(20)
            idle = measure_idle(supervisor, options.idle)
            found = measure_saves(paths, vault, options.saves)
    everything = sorted(seconds for times in found.values() for seconds in times)
    lines = [
        f"Save → found, {options.notes:,} notes, {len(everything)} saves, {this_machine()}.",
        "",
        "| save | times | median s | worst s |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, times in found.items():
        words = name.replace("_", " ")
        lines.append(f"| {words} | {len(times)} | {statistics.median(times):.2f} | {max(times):.2f} |")
    p95 = statistics.quantiles(everything, n=20)[-1]
    lines.append(
        f"| **all** (95 of 100 within {p95:.2f} s) | {len(everything)} | {statistics.median(everything):.2f} "
        f"| {everything[-1]:.2f} |"
    )
    lines += [
        "",
        f"Idle for {options.idle:.0f} s:",
        "",
        "| process | of one core | memory of its own MB |",
        "| --- | ---: | ---: |",
        *idle,
    ]
    write_results("living", "\n".join(lines))


if __name__ == "__main__":
    main()
