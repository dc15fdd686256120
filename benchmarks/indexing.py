"""How long a first index takes beside the embedder alone, and how its memory grows with the vault.

    python -m benchmarks.indexing [--notes 1000 10000] [--characters 900]

Each size is indexed in a process of its own; the embedder is then timed alone on the same chunks, in the same process,
with the same threads, in one call. Writes `benchmarks/results/indexing.md`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.made_vault import make_vault, this_machine, write_results


def index_once(room: Path) -> dict[str, float]:
    """Index the vault of a room; peak memory is read before the embedder is timed alone."""
    os.environ["COMPANION_HOME"] = str(room / "home")
    os.environ["COMPANION_VAULT__PATH"] = str(room / "vault")
    from companion_assets.contracts.paths import data_paths
    from companion_assets.daemon.launching import run_sync
    from companion_assets.definitions import defs
    from companion_assets.defs.resources import open_workspace

    first = run_sync(data_paths(), defs, reason="benchmark")
    assert first.success, first.failure
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with open_workspace() as work:
        texts = {sha: chunk.embed_text for chunk, sha in work.catalog.chunks_of(sorted(work.catalog.paths()))}
        embedder = work.embedder
        started = time.perf_counter()
        assert len(embedder.embed_passages(list(texts.values()))) == len(texts)
        alone = time.perf_counter() - started
    return {
        "notes": first.counts["notes"]["notes"],
        "chunks": first.counts["chunks"]["chunks"],
        "wall": first.seconds,
        "alone": alone,
        "peak": peak,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--characters", type=int, default=900)
    parser.add_argument("--room", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.room:
        print(json.dumps(index_once(options.room)))
        return
    rows = []
    for size in options.notes:
        with tempfile.TemporaryDirectory() as room:
            make_vault(Path(room) / "vault", size, characters=options.characters)
            command = [sys.executable, "-m", "benchmarks.indexing", "--room", room]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows.append(json.loads(said.splitlines()[-1]))
    lines = [
        f"First index, {this_machine()}; notes of about {options.characters} characters.",
        "",
        "| notes | chunks | first index s | embedder alone s | index ÷ embedder | peak memory MB | ÷ first row's |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row['notes']:,} | {row['chunks']:,} | {row['wall']:.1f} | {row['alone']:.1f} "
        f"| {row['wall'] / row['alone']:.2f} | {row['peak']:.0f} | {row['peak'] / rows[0]['peak']:.2f} |"
        for row in rows
    ]
    write_results("indexing", "\n".join(lines))


if __name__ == "__main__":
    main()
