"""How long a search takes in a small and in a large index, beside LanceDB's own hybrid query on the same rows.

    python -m benchmarks.searching [--chunks 10000 200000]

Vaults are made out of the demo vault and indexed by the product's own steps; only the passages' vectors are made: those
of the demo vault, each with noise of its own. Questions are those of `tests/golden`, embedded by the embedded model;
they hold days, names, phrases and other languages. Both sides embed the question. LanceDB's is one hybrid query for the
hundred best rows of the same two indexes, with the words that ours looks up; ours also asks for whole notes, and for
what lies where the question points.
Writes `benchmarks/results/searching.md`.
"""

import argparse
import datetime as dt
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.made_vault import DEMO, make_vault, sync_by_steps, this_machine, write_results
from companion_assets.backends.factory import open_embedder
from companion_assets.backends.protocols import Embedder, Tokenizer, Vectors
from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.settings import SearchSettings, SecuritySettings, Settings, VaultSettings
from companion_assets.retrieval.search import DENSE_LEG, Search
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import connect, read_manifest
from companion_assets.stores.note_graph import NoteGraph
from companion_assets.stores.search_text import asked

QUESTIONS = Path("tests/golden/demo_vault.jsonl")
TODAY = dt.date(2026, 11, 1)
CHUNKS_A_NOTE = 3.1  # of the demo vault's notes, whole
NOISE = 0.35
HITS = 8


class MadeVectors:
    """The embedded model for questions; for passages, vectors of the demo vault with noise."""

    def __init__(self, real: Embedder, seen: Vectors) -> None:
        self._real = real
        self._seen = seen
        self._drawn = np.random.default_rng(0)

    @property
    def spec(self) -> EmbedderSpec:
        return self._real.spec

    @property
    def tokenizer(self) -> Tokenizer:
        return self._real.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = self._seen[self._drawn.integers(len(self._seen), size=len(texts))]
        rows = rows + NOISE / rows.shape[1] ** 0.5 * self._drawn.standard_normal(rows.shape, dtype=np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self._real.embed_query(text)

    def close(self) -> None:
        """Leaves the model to who opened it."""


def build(room: Path, chunks: int, embedder: MadeVectors) -> DataPaths:
    """An index of about so many chunks, made by the steps of a sync."""
    make_vault(room / "vault", round(chunks / CHUNKS_A_NOTE))
    paths = DataPaths(room / "home")
    vault = VaultSettings(path=room / "vault")
    work = Workspace(paths=paths, vault=vault, security=SecuritySettings(), open_embedder=lambda: embedder)
    sync_by_steps(work)
    work.close()
    return paths


def timed(ask: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    """Milliseconds of each question, after a first round that opens what is opened once."""
    for question in questions[:: max(len(questions) // 50, 1)]:  # of every language
        ask(question)
    taken = []
    for question in questions:
        started = time.perf_counter()
        ask(question)
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def row(name: str, ours: Sequence[float], theirs: Sequence[float]) -> str:
    """A line of the table."""
    (our50, our95), (their50, their95) = (np.quantile(taken, [0.5, 0.95]) for taken in (ours, theirs))
    return (
        f"| {name} | {our50:.1f} | {our95:.1f} | {their50:.1f} | {their95:.1f} | {our50 / their50:.2f} "
        f"| {our95 / their95:.2f} |"
    )


def measure(paths: DataPaths, embedder: Embedder, questions: Sequence[str]) -> tuple[int, list[float], list[float]]:
    """Chunks, and the times of our search and of LanceDB's own."""
    manifest = read_manifest(paths)
    search = Search(ChunkIndex.open(paths), embedder.embed_query, NoteGraph(paths.catalog_db), SearchSettings())
    table = connect(paths).open_table(manifest.table)
    table.checkout(manifest.version)

    def bare(question: str) -> object:
        query = table.search(query_type="hybrid", vector_column_name="vector", fts_columns="search_text")
        found = query.vector(embedder.embed_query(question)).text(asked(question) or question)
        return found.distance_type("cosine").limit(DENSE_LEG).select(["chunk_id", "text"]).to_list()

    ours = timed(lambda question: search.find(question, k=HITS, today=TODAY), questions)
    return manifest.chunks, ours, timed(bare, questions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 200_000])
    options = parser.parse_args()
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    questions = [entry["question"] for entry in rows]
    own = [entry["question"] for entry in rows if entry["language"] == "en"]
    lines = [
        f"Searches of {len(questions)} questions, {len(own)} of them in the vault's own language, {this_machine()}.",
        "",
        "| index | p50 ms | p95 ms | LanceDB p50 | LanceDB p95 | p50 ÷ | p95 ÷ |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    real = open_embedder(Settings().rag.embedding)
    texts = [
        " ".join(path.read_text(encoding="utf-8", errors="replace").split())[:900]
        for path in sorted(DEMO.rglob("*.md"))
    ]
    embedder = MadeVectors(real, real.embed_passages([text for text in texts if text]))
    for chunks in options.chunks:
        with tempfile.TemporaryDirectory() as room:
            paths = build(Path(room), chunks, embedder)
            for name, chosen in (("own language", own), ("all", questions)):
                count, ours, theirs = measure(paths, real, chosen)
                lines.append(row(f"{count:,} passages, {name}", ours, theirs))
                print(lines[-1], flush=True)
    write_results("searching", "\n".join(lines))


if __name__ == "__main__":
    main()
