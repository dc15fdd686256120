"""What a data root knows of a vault, in a form in which two data roots can be compared."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from companion_assets.contracts.errors import IndexMissing
from companion_assets.contracts.manifests import EmbedderSpec, IndexManifest
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores import index_table
from companion_assets.stores.catalog_rows import NOTE_COLUMNS, chunk_from_payload
from companion_assets.stores.note_graph_rows import GRAPH_TABLES

# When and by which run a note was read, not what it says.
_STAMPS = {"run_id", "updated_at", "checked_at"}
_NOTE_FACTS = [name for name in NOTE_COLUMNS if name not in _STAMPS]

Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Picture:
    """One data root.

    Attributes:
        rows: Chunk id → columns of the published table; the vector as bytes.
        notes: Path → columns of the catalog, and the key its chunks were cut by.
        chunks: Path and position → chunk id, hash of the text, and the chunk as it is stored.
        graph: Every row of the names, links, tags and folders of the notes.
        vectors: Hash of a text of the vault → its vector of the served embedder.
    """

    embedder: EmbedderSpec | None
    rows: Rows
    notes: Rows
    chunks: Rows
    graph: Rows
    vectors: Mapping[str, bytes]


def picture(paths: DataPaths) -> Picture:
    """The picture of a data root as it is now."""
    manifest = served(paths)
    notes, chunks = _catalog(paths)
    vectors = _vectors(paths, manifest.embedder.embedder_id) if manifest else {}
    wanted = {row["text_sha"] for row in chunks.values()}
    return Picture(
        embedder=manifest.embedder if manifest else None,
        rows=published(paths),
        notes=notes,
        chunks=chunks,
        graph=_graph(paths),
        vectors={sha: vector for sha, vector in vectors.items() if sha in wanted},
    )


def served(paths: DataPaths) -> IndexManifest | None:
    """The manifest; None if nothing is published."""
    try:
        return index_table.read_manifest(paths)
    except IndexMissing:
        return None


def published(paths: DataPaths) -> Rows:
    """The rows that readers see; none if nothing is published. No chunk id may occur twice."""
    manifest = served(paths)
    if manifest is None:
        return {}
    table = index_table.connect(paths).open_table(manifest.table)
    table.checkout(manifest.version)
    return _by_id(table.search().to_arrow())


def _by_id(found: Any) -> Rows:
    vectors = index_table.matrix(found)
    facts = found.drop_columns(["vector"]).to_pylist()
    rows = {fact["chunk_id"]: {**fact, "vector": row.tobytes()} for fact, row in zip(facts, vectors, strict=True)}
    assert len(rows) == len(facts), "a chunk id occurs twice"
    return rows


def stored_vectors(paths: DataPaths) -> set[tuple[str, str]]:
    """Embedder and hash of every text that has a vector."""
    if not paths.vectors_db.exists():
        return set()
    with closing(open_file(paths.vectors_db)) as vectors:
        if not vectors.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchall():
            return set()
        return {tuple(row) for row in vectors.execute("SELECT embedder_id, text_sha FROM vectors")}


def _catalog(paths: DataPaths) -> tuple[Rows, Rows]:
    with closing(open_file(paths.catalog_db)) as catalog:
        facts = ", ".join([*_NOTE_FACTS, "chunked_key", "gone"])
        notes = [dict(row) for row in catalog.execute(f"SELECT {facts} FROM notes")]
        chunks = [dict(row) for row in catalog.execute("SELECT path, position, text_sha, payload FROM chunks")]
    for row in chunks:
        row.update(asdict(chunk_from_payload(row.pop("payload"))))
    return {row["path"]: row for row in notes}, {f"{row['path']}#{row['position']}": row for row in chunks}


def _graph(paths: DataPaths) -> Rows:
    with closing(open_file(paths.catalog_db)) as catalog:
        found = [(table, dict(row)) for table in GRAPH_TABLES for row in catalog.execute(f"SELECT * FROM {table}")]
    return {" | ".join([table, *map(str, row.values())]): row for table, row in found}


def _vectors(paths: DataPaths, embedder_id: str) -> dict[str, bytes]:
    with closing(open_file(paths.vectors_db)) as vectors:
        return dict(vectors.execute("SELECT text_sha, vector FROM vectors WHERE embedder_id = ?", (embedder_id,)))


def open_file(file: Path) -> sqlite3.Connection:
    """A database, past all that the product puts around it."""
    connection = sqlite3.connect(file)
    connection.row_factory = sqlite3.Row
    return connection
