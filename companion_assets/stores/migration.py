"""How far a change of embedder has come: which texts of the vault already have a vector of the new one."""

from dataclasses import dataclass

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.index_table import building_table
from companion_assets.stores.vectors import VectorCache


@dataclass(frozen=True, slots=True)
class Migrated:
    """Texts of the vault, each counted once.

    Attributes:
        done: Those with a vector of the new embedder.
    """

    done: int
    total: int


def measure_migration(paths: DataPaths, catalog: CatalogView, served: str) -> Migrated:
    """Count the texts that are embedded anew; reads the hashes of all texts.

    Args:
        paths: The data root.
        catalog: Of the same data root.
        served: Id of the embedder whose index is served.
    """
    texts = catalog.all_text_shas()
    if not paths.vectors_db.exists():
        return Migrated(0, len(texts))
    vectors = VectorCache(paths.vectors_db)
    try:
        # The one whose table is being filled; before there is a table, the one that made the latest vectors.
        table = building_table(paths)
        coming = table.rpartition("_")[0] if table else vectors.latest_embedder()
        done = 0 if coming in ("", served) else len(texts) - len(vectors.missing(coming, texts))
        return Migrated(done, len(texts))
    finally:
        vectors.close()
