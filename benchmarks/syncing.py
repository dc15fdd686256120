"""What a sync costs when little or nothing changed, and what many small syncs leave on disk.

    python -m benchmarks.syncing [--notes 10000] [--repeats 7] [--small 200]

    no change     a whole sync (Dagster run and all) of the vault, less the same sync of a vault with one note in each
                  of the same folders, against a bare walk (scandir and stat) through the vault
    one change    files read, texts embedded, rows written, counted where it is done
    many syncs    size of the index after single-note syncs and upkeep, against an index built anew

Vectors come from a hash here: the embedder is the business of `benchmarks/indexing.py`. Writes
`benchmarks/results/syncing.md`.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.made_vault import make_vault, sync_by_steps, this_machine, write_results
from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.paths import data_paths


def walk(root: Path) -> int:
    """The least that looking at a vault can cost: every entry seen, every file's time and size asked for."""
    folders, files = [str(root)], 0
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    files += 1
    return files


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts files opened to be read, texts embedded and rows merged."""
    from companion_assets.stages import sync, vault
    from companion_assets.stores.index_writer import IndexWriter

    counts: Counter[str] = Counter()

    def counting(name: str, original: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            result = original(*arguments, **named)
            counts[name] += size(result, *arguments)
            return result

        return call

    embed = counting("texts embedded", HashEmbedder.embed_passages, lambda result, *_: len(result))
    read = counting("files read", vault.read_note, lambda *_: 1)
    merge = counting("rows written", IndexWriter.replace_notes, lambda result, *_: result.inserted + result.updated)
    with (
        mock.patch.object(HashEmbedder, "embed_passages", embed),
        mock.patch.object(sync, "read_note", read),
        mock.patch.object(IndexWriter, "replace_notes", merge),
    ):
        yield counts


@contextmanager
def living_in(room: Path) -> Iterator[None]:
    """Work on the vault and the data root of a room."""
    names = {"COMPANION_HOME": str(room / "home"), "COMPANION_VAULT__PATH": str(room / "vault")}
    with mock.patch.dict(os.environ, names):
        os.environ.pop("DAGSTER_HOME", None)
        yield


def sync_seconds() -> float:
    from companion_assets.daemon.launching import run_sync
    from companion_assets.definitions import defs

    result = run_sync(data_paths(), defs, reason="benchmark")
    assert result.success, result.failure
    return result.seconds


def sync_steps() -> None:
    """A sync without a Dagster run, as the assets do it."""
    from companion_assets.defs.resources import open_workspace

    with open_workspace() as work:
        sync_by_steps(work)


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    def once() -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    return statistics.median(once() for _ in range(repeats))


def index_bytes() -> int:
    return sum(file.stat().st_size for file in data_paths().index_dir.rglob("*") if file.is_file())


def no_change(big: Path, small: Path, repeats: int) -> list[str]:
    whole, fixed, steps, walks = [], [], [], []
    for room in (big, small):
        with living_in(room):
            sync_seconds()
    with living_in(big), counted() as counts:
        version = data_paths().index_dir.joinpath("current.json").read_text(encoding="utf-8")
        for _ in range(repeats):
            walks.append(median_seconds(lambda: walk(big / "vault"), 3))
            whole.append(sync_seconds())
            steps.append(median_seconds(sync_steps, 1))
            with living_in(small):
                fixed.append(sync_seconds())
        assert version == data_paths().index_dir.joinpath("current.json").read_text(encoding="utf-8")
    bare, run, start, own = (statistics.median(times) for times in (walks, whole, fixed, steps))
    return [
        "| what | seconds | ÷ walk |",
        "| --- | ---: | ---: |",
        f"| walk of {walk(big / 'vault'):,} files | {bare:.3f} | 1 |",
        f"| sync without a change | {run:.3f} | |",
        f"| the same of a vault with a note a folder (start-up) | {start:.3f} | |",
        f"| sync, less start-up | {run - start:.3f} | {(run - start) / bare:.1f} |",
        f"| its steps alone, without a run | {own:.3f} | {own / bare:.1f} |",
        "",
        f"Texts embedded: {counts['texts embedded']}, files read: {counts['files read']}, new index versions: 0.",
    ]


def one_change(big: Path) -> list[str]:
    with living_in(big):
        note = sorted((big / "vault").rglob("*.md"))[1234]
        note.write_text(note.read_text(encoding="utf-8", errors="replace") + "\n\n# New\nA new paragraph.\n")
        with counted() as counts:
            sync_seconds()
    done = ", ".join(f"{counts[name]} {name}" for name in ("files read", "texts embedded", "rows written"))
    return [f"One note of the vault changed: {done}."]


def many_syncs(room: Path, syncs: int) -> list[str]:
    from companion_assets.stores.index_writer import open_writer

    embedder = HashEmbedder()
    with living_in(room):
        sync_steps()
        notes = sorted((room / "vault").rglob("*.md"))
        for number in range(syncs):
            with notes[number % len(notes)].open("a", encoding="utf-8") as note:
                note.write(f"\n\nAnother line, number {number}.\n")
            sync_steps()
        piled = index_bytes()
        with open_writer(data_paths(), embedder.spec, embedder.embed_query) as writer:
            writer.optimise(force=True)
            writer.publish()
            writer.prune(grace_minutes=0, force=True)
        kept = index_bytes()
    with tempfile.TemporaryDirectory() as fresh, living_in(Path(fresh)):
        (Path(fresh) / "vault").symlink_to(room / "vault")
        sync_steps()
        anew = index_bytes()
    return [
        f"| index after {syncs} single-note syncs | MB | ÷ built anew |",
        "| --- | ---: | ---: |",
        f"| before upkeep | {piled / 1e6:.1f} | {piled / anew:.2f} |",
        f"| after upkeep | {kept / 1e6:.1f} | {kept / anew:.2f} |",
        f"| built anew | {anew / 1e6:.1f} | 1 |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--small", type=int, default=200)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as room,
        mock.patch("companion_assets.defs.warm_embedder.open_embedder", return_value=HashEmbedder()),
    ):
        big, small, third = (Path(room) / name for name in ("big", "small", "third"))
        make_vault(big / "vault", options.notes, characters=900)
        for folder in (entry for entry in (big / "vault").iterdir() if entry.is_dir()):
            (small / "vault" / folder.name).mkdir(parents=True)
            (small / "vault" / folder.name / "note.md").write_text("A note.", encoding="utf-8")
        (small / "vault" / "loose.md").write_text("A loose note.", encoding="utf-8")
        make_vault(third / "vault", 1000)
        lines = [f"Syncs of {options.notes:,} notes, {this_machine()}.", ""]
        lines += [*no_change(big, small, options.repeats), "", *one_change(big), "", *many_syncs(third, options.small)]
    write_results("syncing", "\n".join(lines))


if __name__ == "__main__":
    main()
