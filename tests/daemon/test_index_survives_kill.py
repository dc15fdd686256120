"""`companion index` is killed outright, again and again, while the vault changes; then one run makes it right (B87)."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.defs.knowledge.assets import LANCE_WRITER
from companion_assets.stores import index_table
from companion_assets.stores.index_table import matrix, read_manifest
from companion_assets.stores.progress import read_progress

INDEX = [sys.executable, "-m", "companion_app", "index"]
PHASES = ["reading", "chunking", "embedding", "publishing"]
WORDS = ("harbour", "varnish", "sardine", "cello", "fog", "letter", "winter", "bridge", "台北", "Frühstück", "cocina")
# Phase to wait for, and seconds to let pass after it: every step is hit at its start and somewhere inside.
MOMENTS = [("reading", 0.0), ("embedding", 0.4), ("publishing", 0.0), ("publishing", 0.15)]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "vault"
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    for number in range(150):
        write(root, number, seed=0)
    return root


def write(vault: Path, number: int, seed: int) -> None:
    """A note of two short sections, in one of four folders."""
    source = random.Random(number * 1000 + seed)
    note = vault / ("", "Journal", "Projects", "People")[number % 4] / f"Note {number}.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    sections = [f"## {source.choice(WORDS)}\n{' '.join(source.choices(WORDS, k=25))}.\n" for _ in range(2)]
    note.write_text(f"# Note {number}\n" + "\n".join(sections), encoding="utf-8")


def change(vault: Path, seed: int) -> None:
    """What a person does between two runs: writes, removes, renames."""
    source = random.Random(seed)
    for number in source.sample(range(150), 25):
        write(vault, number, seed)
    notes = sorted(vault.rglob("*.md"))
    for note in source.sample(notes, 5):
        note.unlink()
    (vault / "Journal").rename(vault / f"Journal {seed}")


def kill_at(paths: DataPaths, phase: str, delay: float) -> str:
    """Start an index run and kill it; returns the phase it was in."""
    with subprocess.Popen(INDEX, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        later, seen = PHASES[PHASES.index(phase) :], ""
        while process.poll() is None and seen not in later:
            time.sleep(0.002)
            now = read_progress(paths.progress_file)
            seen = now.phase if now and now.pid == process.pid else ""
        time.sleep(delay)
        process.kill()
    return seen


def rows(paths: DataPaths) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Every row of the published index but its ids: (path, text) → lines and vector; no row occurs twice."""
    manifest = read_manifest(paths)
    table = index_table.connect(paths).open_table(manifest.table)
    table.checkout(manifest.version)
    found = table.search().to_arrow()
    facts = found.select(["source_file", "chunk_index", "text", "first_line", "last_line", "section"]).to_pylist()
    vectors = matrix(found)
    result = {
        (fact["source_file"], fact["chunk_index"]): (*list(fact.values())[2:], vector.tobytes())
        for fact, vector in zip(facts, vectors, strict=True)
    }
    assert len(result) == len(facts)
    return result


def index(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([*INDEX, "--json", *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_after_any_kill_one_run_gives_what_a_fresh_index_gives(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = data_paths()
    hit = []
    for seed, (phase, delay) in enumerate(MOMENTS, start=1):
        hit.append(kill_at(paths, phase, delay))
        change(vault, seed)
    assert {"reading", "embedding", "publishing"} <= set(hit), "the kills came where they were meant to"
    index()
    with open_instance(paths) as instance:
        assert instance.event_log_storage.get_concurrency_info(LANCE_WRITER).claimed_slots == []
        killed = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
        assert len(killed) == len(MOMENTS)
        assert len(instance.get_runs()) == len(MOMENTS) + 1
    mended = rows(paths)

    monkeypatch.setenv("COMPANION_HOME", str(tmp_path / "fresh"))
    index()
    fresh = rows(data_paths())
    assert mended.keys() == fresh.keys()
    assert mended == fresh


def test_ctrl_c_ends_it_in_one_line_and_the_next_run_goes_on(vault: Path) -> None:
    with subprocess.Popen(INDEX, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not ((now := read_progress(data_paths().progress_file)) and now.phase == "embedding"):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert "error" not in said.lower()
    assert "companion" in said, "it tells how to go on"


@pytest.fixture
def two_at_once(vault: Path) -> Iterator[list[subprocess.Popen[str]]]:
    command = [*INDEX, "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    yield both
    for process in both:
        process.kill()
        process.wait()


def test_two_at_once_take_turns(vault: Path, two_at_once: list[subprocess.Popen[str]]) -> None:
    results = []
    for process in two_at_once:
        said, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint
        results.append(json.loads(said)["counts"])
    assert sum(result["notes"]["read"] for result in results) == 150
    published = rows(data_paths())
    assert len({path for path, _ in published}) == 150
    # Equal texts share a vector, so there may be fewer vectors than rows, but none was made twice.
    # The second to come finds all of them in the index and need not even look for their vectors.
    texts = [result["embeddings"]["texts"] for result in results]
    assert max(texts) == sum(result["embeddings"]["embedded"] for result in results)
