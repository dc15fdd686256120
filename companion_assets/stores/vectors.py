"""Vectors by (embedder, hash of the embedded text): a text is embedded once, whatever happens to the index.

SQLite, not LanceDB: the cache is asked for keys, never for neighbours (`benchmarks/vector_cache.py` has the
figures). Rebuildable, but at the price of embedding the vault again.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from companion_assets.contracts.errors import StoreError
from companion_assets.stores.database import open_database

Vector = npt.NDArray[np.float32]

# CROSS JOIN keeps SQLite from turning the loops round, which made 40,000 look-ups take minutes.
_WANTED = "json_each(?) w CROSS JOIN vectors v ON v.embedder_id = ? AND v.text_sha = w.value"

_LITTLE_ENDIAN = np.dtype("<f4")


def _create(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE spaces (embedder_id TEXT PRIMARY KEY, dimensions INTEGER NOT NULL)")
    connection.exec_driver_sql(
        "CREATE TABLE vectors ("
        " embedder_id TEXT NOT NULL REFERENCES spaces ON DELETE CASCADE,"
        " text_sha TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedder_id, text_sha))"
    )


MIGRATIONS = (_create,)


class VectorCache:
    """The vectors of `vectors.db`.

    Args:
        path: The file, created if missing.

    Raises:
        StoreError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._database = open_database(path, MIGRATIONS, canonical=False)

    def get_many(self, embedder_id: str, text_shas: Iterable[str]) -> dict[str, Vector]:
        """The vectors that are there, by hash: float32[d] each."""
        with self._database.read() as connection:
            rows = connection.exec_driver_sql(
                f"SELECT w.value, v.vector FROM {_WANTED}", (json.dumps(list(text_shas)), embedder_id)
            )
            return {sha: np.frombuffer(blob, _LITTLE_ENDIAN).astype(np.float32) for sha, blob in rows}

    def missing(self, embedder_id: str, text_shas: Iterable[str]) -> list[str]:
        """The hashes without a vector, each once, in the order given."""
        wanted = list(dict.fromkeys(text_shas))
        with self._database.read() as connection:
            rows = connection.exec_driver_sql(f"SELECT w.value FROM {_WANTED}", (json.dumps(wanted), embedder_id))
            known = {sha for (sha,) in rows}
        return [sha for sha in wanted if sha not in known]

    def put_many(self, embedder_id: str, vectors: Mapping[str, Vector] | Sequence[tuple[str, Vector]]) -> None:
        """Store vectors by hash, all or none.

        Raises:
            StoreError: A vector is not finite, is zero, or has another length than this embedder's others.
        """
        pairs = list(vectors.items()) if isinstance(vectors, Mapping) else list(vectors)
        if not pairs:
            return
        matrix = _checked(pairs)
        with self._database.write() as connection:
            connection.exec_driver_sql("INSERT OR IGNORE INTO spaces VALUES (?, ?)", (embedder_id, matrix.shape[1]))
            query = "SELECT dimensions FROM spaces WHERE embedder_id = ?"
            known = connection.exec_driver_sql(query, (embedder_id,)).scalar_one()
            if known != matrix.shape[1]:
                raise StoreError(f"vectors of {embedder_id} have {known} dimensions, not {matrix.shape[1]}")
            rows = [(embedder_id, sha, row.tobytes()) for (sha, _), row in zip(pairs, matrix, strict=True)]
            connection.exec_driver_sql("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def count(self, embedder_id: str) -> int:
        """How many texts have a vector of this embedder."""
        with self._database.read() as connection:
            query = "SELECT count(*) FROM vectors WHERE embedder_id = ?"
            return int(connection.exec_driver_sql(query, (embedder_id,)).scalar_one())

    def latest_embedder(self) -> str:
        """Id of the embedder that made the vector stored last; "" if there is none."""
        with self._database.read() as connection:
            query = "SELECT embedder_id FROM vectors ORDER BY rowid DESC LIMIT 1"
            return str(connection.exec_driver_sql(query).scalar() or "")

    def prune(self, keep: Iterable[str]) -> int:
        """Forget the vectors, of every embedder, whose text is not in `keep`; returns how many."""
        with self._database.write() as connection:
            query = "DELETE FROM vectors WHERE text_sha NOT IN (SELECT value FROM json_each(?))"
            return connection.exec_driver_sql(query, (json.dumps(list(keep)),)).rowcount

    def forget_embedders(self, keep: Iterable[str]) -> int:
        """Forget all vectors of the embedders that are not in `keep`; returns how many vectors that were."""
        others = "embedder_id NOT IN (SELECT value FROM json_each(?))"
        with self._database.write() as connection:
            among = (json.dumps(list(keep)),)
            vectors = connection.exec_driver_sql(f"DELETE FROM vectors WHERE {others}", among).rowcount
            connection.exec_driver_sql(f"DELETE FROM spaces WHERE {others}", among)
        return vectors

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._database.close()


def _checked(pairs: Sequence[tuple[str, Vector]]) -> Vector:
    lengths = {len(vector) for _, vector in pairs}
    if len(lengths) != 1:
        raise StoreError(f"vectors of different lengths in one batch: {sorted(lengths)}")
    matrix = np.stack([np.asarray(vector, dtype=_LITTLE_ENDIAN) for _, vector in pairs])
    bad = ~np.isfinite(matrix).all(axis=1) | ~matrix.any(axis=1)
    if bad.any():
        shas = ", ".join(pairs[i][0][:12] for i in np.flatnonzero(bad)[:3])
        raise StoreError(f"{int(bad.sum())} of {len(pairs)} vectors are zero or not finite (texts {shas})")
    return matrix
