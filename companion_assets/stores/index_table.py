"""The LanceDB side of the index: schema, rows, names, and where the `live` pointer lies.

    index.lance/
      e1f0…_18a….lance     a table per embedder identity and rebuild, named by the time of its making
      current.json         the manifest: which table at which version is served
      retired/<table>      marks a table that is no longer served; its file time says since when

LanceDB is imported on first use: it takes more than a second.
"""

import datetime as dt
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from companion_assets.contracts.errors import IndexMissing, StoreError
from companion_assets.contracts.manifests import IndexManifest
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.records import Chunk
from companion_assets.stores.predicates import tag_keys
from companion_assets.stores.search_text import indexed

if TYPE_CHECKING:
    from lancedb.db import DBConnection
    from lancedb.index import FTS

Vector = npt.NDArray[np.float32]

SEARCH_COLUMN = "search_text"
NOTE_COLUMN = "note_text"  # the search text of all chunks of a note, in the row of its first one
FTS_INDEX = "search_text_idx"
WORD_INDEXES = {SEARCH_COLUMN: FTS_INDEX, NOTE_COLUMN: "note_text_idx"}
LIVE_TAG = "live"
_REMOVED = ".removed"
_HALF_MANIFEST = ".current-"
CHUNK_COLUMNS = (
    "chunk_id", "source_file", "source_directory", "title", "section", "date", "tags", "chunk_index", "modified_at",
    "rule_applied", "text", "first_line", "last_line", "heading_path", "links", "people", "aliases", "token_count",
    "sensitive", "source_kind",
)  # fmt: skip

_TEXTS = pa.list_(pa.string())
_TYPES: dict[str, pa.DataType] = {
    "date": pa.date32(), "tags": _TEXTS, "chunk_index": pa.int32(), "modified_at": pa.timestamp("us", "UTC"),
    "first_line": pa.int32(), "last_line": pa.int32(), "heading_path": _TEXTS, "links": _TEXTS, "people": _TEXTS,
    "aliases": _TEXTS, "token_count": pa.int32(), "sensitive": pa.bool_(),
}  # fmt: skip


def connect(paths: DataPaths) -> "DBConnection":
    """The database that holds the tables.

    Raises:
        StoreError: Its folder cannot be made.
    """
    os.environ.setdefault("LANCEDB_LOG", "off")  # faults are raised; it would say them on the terminal as well
    import lancedb

    try:
        paths.index_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise StoreError(
            f"the index cannot be opened: {paths.index_dir} is no folder or cannot be made ({fault.strerror})",
            "`companion reindex` makes it anew.",
        ) from fault
    return lancedb.connect(paths.index_dir)


@contextmanager
def faults(paths: DataPaths) -> Iterator[None]:
    """Turn LanceDB's faults, which are bare `RuntimeError`s or `ValueError`s, into a `StoreError` with a way out."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as fault:
        if "os error 28" in str(fault):
            raise StoreError(
                f"the index in {paths.index_dir} cannot be written: the disk is full",
                "Free some space and run the command again.",
            ) from fault
        reason = str(fault).split(", /", maxsplit=1)[0]  # the rest is a place in LanceDB's own source
        raise StoreError(
            f"the index in {paths.index_dir} cannot be used: {reason}",
            "Check that the disk is not full; then `companion reindex` builds it again from vectors already made.",
        ) from fault


def table_names(paths: DataPaths, embedder_id: str = "") -> list[str]:
    """Tables of an embedder, or all, the oldest first."""
    return sorted(folder.stem for folder in paths.index_dir.glob(f"{embedder_id}*.lance"))


def building_table(paths: DataPaths) -> str | None:
    """The youngest table that is not served and not retired: a change of embedder fills it."""
    try:
        served = read_manifest(paths).table
    except StoreError:
        return None
    names = [name for name in table_names(paths) if name != served and not retired_file(paths, name).exists()]
    return max(names, key=lambda name: name.rpartition("_")[2], default=None)


def new_table_name(embedder_id: str) -> str:
    """A name that was never used: open readers and the catalog's marks must not mistake a new table for an old one."""
    return f"{embedder_id}_{time.time_ns():016x}"


def schema(dimensions: int) -> pa.Schema:
    """Columns of a table: those of `Chunk` (without `embed_text`), what is searched, and the vector."""
    columns = [pa.field(name, _TYPES.get(name, pa.string()), nullable=name == "date") for name in CHUNK_COLUMNS]
    return pa.schema(
        [
            *columns,
            pa.field("embedder_id", pa.string(), nullable=False),
            pa.field("tag_keys", _TEXTS, nullable=False),
            pa.field(SEARCH_COLUMN, pa.string(), nullable=False),
            pa.field(NOTE_COLUMN, pa.string(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimensions), nullable=False),
        ]
    )


def to_arrow(rows: Iterable[tuple[Chunk, Vector]], embedder_id: str, dimensions: int) -> pa.Table:
    """Rows for the table. Of several chunks with one id the first is kept.

    Raises:
        StoreError: A vector has another length, is not finite or is zero.
    """
    unique: dict[str, tuple[Chunk, Vector]] = {}
    for chunk, vector in rows:
        unique.setdefault(chunk.chunk_id, (chunk, vector))
    for chunk, vector in unique.values():
        if len(vector) != dimensions or not np.isfinite(vector).all() or not vector.any():
            raise StoreError(
                f"the vector of {chunk.source_file} (lines {chunk.first_line}–{chunk.last_line}) cannot be indexed: "
                f"it has {len(vector)} of {dimensions} dimensions, or is zero or not finite",
                "Run `companion index` again; it embeds the passage anew.",
            )
    chunks = [chunk for chunk, _ in unique.values()]
    columns: dict[str, Any] = {name: [_plain(getattr(chunk, name)) for chunk in chunks] for name in CHUNK_COLUMNS}
    columns["embedder_id"] = [embedder_id] * len(chunks)
    columns["tag_keys"] = [_plain(tag_keys(chunk.tags)) for chunk in chunks]
    columns[SEARCH_COLUMN] = texts = [indexed(searchable(chunk)) for chunk in chunks]
    columns[NOTE_COLUMN] = _whole_notes(chunks, texts)
    flat = np.concatenate([vector for _, vector in unique.values()]) if unique else np.empty(0)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), dimensions)
    return pa.table(columns, schema=schema(dimensions))


def to_chunk(row: dict[str, Any]) -> Chunk:
    """The chunk of a row. Its `embed_text` is empty: the index does not keep it."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items() if name in CHUNK_COLUMNS
    }
    return Chunk(**values, embed_text="")


def matrix(rows: pa.Table) -> Vector:
    """The vectors of rows read from a table: float32[n, d]."""
    dimensions: int = rows.schema.field("vector").type.list_size
    flat = rows.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, dtype=np.float32).reshape(-1, dimensions)


def cosines(rows: pa.Table, vector: Vector) -> list[float]:
    """Of rows read from a table, to one vector."""
    vectors = matrix(rows)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    return [float(cosine) for cosine in (vectors @ vector) / norms]


def _whole_notes(chunks: Sequence[Chunk], texts: Sequence[str]) -> list[str]:
    """For the first chunk of each note what all its chunks say, for the others nothing, which no word index counts."""
    places: dict[str, list[int]] = {}
    for place, chunk in enumerate(chunks):
        places.setdefault(chunk.source_file, []).append(place)
    whole = [""] * len(chunks)
    for own in places.values():
        own.sort(key=lambda place: chunks[place].chunk_index)
        whole[own[0]] = " ".join(texts[place] for place in own)
    return whole


def searchable(chunk: Chunk) -> str:
    """What the keyword half looks at: title, aliases, headings, tags, people and text, as one field.

    Source: a field of the names beside one of the text, their BM25 added with any weight, is worse on the development
    vault (MRR 0.582 as one field; 0.573, 0.553 and 0.530 with 0.1, 0.3 and 0.5 of the names on top; names and text
    apart 0.565 at best), and no better than noise on the demo vault (0.803; 0.822, 0.794, 0.795; apart 0.775).
    """
    named = dict.fromkeys([*chunk.tags, *chunk.people])  # who is linked is among the tags already
    return "\n".join([chunk.title, *chunk.aliases, *chunk.heading_path, *named, chunk.text])


def word_index(column: str) -> "FTS":
    """How a search column is indexed: it holds terms already. LanceDB's own stemmers know one language an index."""
    from lancedb.index import FTS

    return FTS(
        base_tokenizer="whitespace",
        with_position=column == SEARCH_COLUMN,  # for phrases; a quarter more on disk
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )


def read_manifest(paths: DataPaths) -> IndexManifest:
    """What is served now.

    Raises:
        IndexMissing: Nothing has been published.
        StoreError: The manifest is damaged.
    """
    file = manifest_file(paths)
    try:
        return IndexManifest.from_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError as fault:
        raise IndexMissing("no notes have been indexed yet", "Run `companion index`.") from fault
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "it is damaged"
        hint = "`companion reindex` makes the index anew; vectors are kept elsewhere."
        raise StoreError(f"{file} cannot be read: {reason}", hint) from fault


def write_manifest(paths: DataPaths, manifest: IndexManifest) -> None:
    """Move the pointer in one step; a reader finds the old manifest or the new one."""
    target = manifest_file(paths)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_HALF_MANIFEST)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(manifest.to_json())
        stream.flush()
        os.fsync(stream.fileno())
    Path(name).replace(target)


def manifest_file(paths: DataPaths) -> Path:
    """Where the `live` pointer lies."""
    return paths.index_dir / "current.json"


def retired_file(paths: DataPaths, table: str) -> Path:
    """The mark of a table that is no longer served."""
    return paths.index_dir / "retired" / table


def remove_retired(paths: DataPaths, *, older_than: float) -> None:
    """Remove the tables that were retired before a moment (Unix time), and what a killed removal has left.

    A table is renamed before it is removed: half of one must not be taken for a whole one.
    """
    room = paths.index_dir / "retired"
    for mark in sorted(room.glob("e*")):
        if mark.suffix == _REMOVED:
            continue
        table = paths.index_dir / f"{mark.name}.lance"
        with suppress(OSError):
            if mark.stat().st_mtime <= older_than:
                if table.exists():
                    table.rename(mark.with_suffix(_REMOVED))
                mark.unlink()
    for leftover in [*room.glob(f"*{_REMOVED}"), *paths.index_dir.glob(f"{_HALF_MANIFEST}*")]:
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """Values Arrow can hold: UTF-8 has no lone surrogates, and dates carry no subclass."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dt.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=dt.UTC)
    return value
