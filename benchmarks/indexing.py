"""How long a first index takes beside the embedder alone, and what a sync costs when nothing changed.

    python -m benchmarks.indexing [--notes 1000] [--vault DIR]

Prints a Markdown table. The notes are those of `--vault` or of the demo vault, repeated with small changes until there
are enough. The embedder is timed within the run, and again alone on the same chunks in the same process.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from companion_assets.backends.protocols import Vectors


class Stopwatch:
    """Sums the wall time spent in a method of a class."""

    def __init__(self, owner: type, method: str) -> None:
        self.seconds = 0.0
        original = getattr(owner, method)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start

        setattr(owner, method, timed)


def make_vault(source: Path, target: Path, size: int) -> None:
    """Notes of `source`, in its folders, repeated until there are `size`; repeated ones differ in their sentences."""
    notes = sorted(source.rglob("*.md"))
    for number in range(size):
        repeat, position = divmod(number, len(notes))
        note = notes[position]
        text = note.read_text(encoding="utf-8", errors="replace")
        copy = target / note.relative_to(source).with_stem(f"{note.stem} {repeat}" if repeat else note.stem)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text.replace(". ", f" {repeat}. ") if repeat else text, encoding="utf-8")


def raw_seconds(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> float:
    """The embedder alone, on all texts in one call."""
    start = time.perf_counter()
    assert len(embed(texts)) == len(texts)
    return time.perf_counter() - start


def measure(room: Path) -> None:
    os.environ["COMPANION_HOME"] = str(room / "home")
    os.environ["COMPANION_VAULT__PATH"] = str(room / "vault")
    from companion_assets.backends.onnx_embedder import OnnxEmbedder
    from companion_assets.contracts.paths import data_paths
    from companion_assets.daemon.launching import run_sync
    from companion_assets.definitions import defs
    from companion_assets.defs.resources import open_workspace

    inside = Stopwatch(OnnxEmbedder, "embed_passages")
    first = run_sync(data_paths(), defs, reason="benchmark")
    embedding = inside.seconds
    again = run_sync(data_paths(), defs, reason="benchmark")
    assert first.success, first.failure
    assert again.counts["embeddings"]["embedded"] == 0
    with open_workspace() as work:
        texts = [
            text
            for folder in work.catalog.folders()
            for _, text in work.catalog.texts(folder, work.catalog.text_shas(folder))
        ]
        raw = raw_seconds(work.embedder.embed_passages, texts)

    notes, chunks = first.counts["notes"]["notes"], first.counts["chunks"]["chunks"]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{machine}, Python {platform.python_version()}\n")
    print("| notes | chunks | wall s | embedding share | wall ÷ embedder alone | sync without a change s |")
    print("| --- | --- | --- | --- | --- | --- |")
    print(
        f"| {notes:,} | {chunks:,} | {first.seconds:.1f} | {embedding / first.seconds:.0%} "
        f"| {first.seconds / raw:.2f} | {again.seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--vault", type=Path, default=Path(str(files("companion_app.demo") / "vault")))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        make_vault(options.vault, Path(room) / "vault", options.notes)
        measure(Path(room))


if __name__ == "__main__":
    main()
