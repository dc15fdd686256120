"""Why the vector cache is SQLite: key look-ups and single upserts among 100,000 vectors, in SQLite and in LanceDB.

    python benchmarks/vector_cache.py [ROWS]

Prints a table of milliseconds per operation, bytes and files on disk. Takes about two minutes.
"""

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import BTree

from companion_assets.stores.vectors import VectorCache

DIMENSIONS = 384
OPERATIONS = 1_000
BATCH = 10_000
SCHEMA = pa.schema([("text_sha", pa.string()), ("vector", pa.list_(pa.float32(), DIMENSIONS))])


class Sqlite:
    name = "SQLite (VectorCache)"

    def __init__(self, folder: Path) -> None:
        self._cache = VectorCache(folder / "vectors.db")

    def fill(self, shas: list[str], vectors: np.ndarray) -> None:
        self._cache.put_many("e1", list(zip(shas, vectors, strict=True)))

    def ready(self) -> None:
        pass

    def get(self, shas: list[str]) -> int:
        return len(self._cache.get_many("e1", shas))

    def put(self, sha: str, vector: np.ndarray) -> None:
        self._cache.put_many("e1", [(sha, vector)])


class Lance:
    name = "LanceDB (BTREE on the key)"

    def __init__(self, folder: Path) -> None:
        self._table = lancedb.connect(folder).create_table("vectors", schema=SCHEMA)

    def fill(self, shas: list[str], vectors: np.ndarray) -> None:
        self._table.add(_rows(shas, vectors))

    def ready(self) -> None:
        self._table.create_index("text_sha", config=BTree())

    def get(self, shas: list[str]) -> int:
        listed = ", ".join(f"'{sha}'" for sha in shas)
        return self._table.search().where(f"text_sha IN ({listed})").limit(len(shas)).to_arrow().num_rows

    def put(self, sha: str, vector: np.ndarray) -> None:
        merge = self._table.merge_insert("text_sha").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(_rows([sha], vector[None]))


def _rows(shas: list[str], vectors: np.ndarray) -> pa.Table:
    flat = pa.array(vectors.astype(np.float32).ravel())
    return pa.table([pa.array(shas), pa.FixedSizeListArray.from_arrays(flat, DIMENSIONS)], schema=SCHEMA)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(store: Sqlite | Lance, folder: Path, rows: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    shas = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(rows)]
    drawn = [shas[i] for i in rng.integers(0, rows, OPERATIONS)]
    batches = [shas[i : i + BATCH] for i in range(0, rows, BATCH)]
    vectors = rng.normal(size=(BATCH, DIMENSIONS)).astype(np.float32)
    figures = {"fill, s": sum(_seconds(lambda b=batch: store.fill(b, vectors[: len(b)])) for batch in batches)}
    figures["fill, s"] += _seconds(store.ready)
    figures["MB after filling"] = _megabytes(folder)
    assert store.get(drawn) == len(set(drawn))
    figures["1,000 keys in one look-up, ms"] = 1e3 * _seconds(lambda: store.get(drawn))
    one_by_one = _seconds(lambda: [store.get([sha]) for sha in drawn])
    figures["one key, ms"] = 1e3 * one_by_one / OPERATIONS
    upserts = _seconds(lambda: [store.put(sha, vectors[i]) for i, sha in enumerate(drawn)])
    figures["one upsert, ms"] = 1e3 * upserts / OPERATIONS
    figures["one key after the upserts, ms"] = 1e3 * _seconds(lambda: [store.get([sha]) for sha in drawn[:100]]) / 100
    figures["MB after the upserts"] = _megabytes(folder)
    figures["files after the upserts"] = sum(file.is_file() for file in folder.rglob("*"))
    return figures


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    table = {}
    for kind in (Sqlite, Lance):
        with tempfile.TemporaryDirectory() as name:
            table[kind.name] = measure(kind(Path(name)), Path(name), rows)
    print(f"{rows:,} vectors of {DIMENSIONS} floats; lancedb {version('lancedb')}, Python {sys.version.split()[0]}\n")
    print("| | " + " | ".join(table) + " |")
    print("| --- |" + " ---: |" * len(table))
    for figure in next(iter(table.values())):
        print(f"| {figure} | " + " | ".join(f"{figures[figure]:,.2f}" for figures in table.values()) + " |")


if __name__ == "__main__":
    main()
