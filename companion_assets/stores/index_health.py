"""Whether an index table is what it should be: the figures behind the blocking checks."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.stores.index_table import FTS_INDEX

if TYPE_CHECKING:
    from lancedb.table import Table


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """What the blocking checks look at.

    Attributes:
        rows: Chunks.
        chunks_by_note: Path → number of its chunks.
        zero_vectors: Rows whose vector is zero (the schema admits no missing one).
        duplicate_ids: Chunk ids that occur more than once.
        foreign_rows: Rows of another embedder than the table's.
        unindexed_rows: Rows the keyword index does not cover (they are scanned instead).
    """

    rows: int
    chunks_by_note: dict[str, int]
    zero_vectors: int
    duplicate_ids: int
    foreign_rows: int
    dimensions: int
    unindexed_rows: int


def measure_health(table: "Table", embedder: EmbedderSpec) -> IndexHealth:
    """Read every row of a table, about 0.2 s for 20,000 chunks."""
    rows = table.search().select(["chunk_id", "source_file", "embedder_id", "vector"]).to_arrow()
    ids = Counter(rows.column("chunk_id").to_pylist())
    flat = rows.column("vector").combine_chunks().flatten().to_numpy()
    covered = any(index.name == FTS_INDEX for index in table.list_indices())
    words = table.index_stats(FTS_INDEX) if covered else None
    return IndexHealth(
        rows=rows.num_rows,
        chunks_by_note=dict(Counter(rows.column("source_file").to_pylist())),
        zero_vectors=int((~flat.reshape(-1, embedder.dimensions).any(axis=1)).sum()),
        duplicate_ids=sum(number > 1 for number in ids.values()),
        foreign_rows=sum(value != embedder.embedder_id for value in rows.column("embedder_id").to_pylist()),
        dimensions=table.schema.field("vector").type.list_size,
        unindexed_rows=words.num_unindexed_rows if words else rows.num_rows,
    )
