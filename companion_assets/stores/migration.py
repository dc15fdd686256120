"""How far a change of embedder has come: which texts of the vault already have a vector of the new one."""

from dataclasses import dataclass

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.database import open_database
from companion_assets.stores.index_table import building_table
from companion_assets.stores.vectors import MIGRATIONS, VectorCache


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
    coming = _coming(paths) if paths.vectors_db.exists() else ""
    if coming in ("", served):
        return Migrated(0, len(texts))
    vectors = VectorCache(paths.vectors_db)
    try:
        return Migrated(len(texts) - len(vectors.missing(coming, texts)), len(texts))
    finally:
        vectors.close()


def _coming(paths: DataPaths) -> str:
    """Id of the embedder whose table is being filled; before there is one, of the one that made the latest vectors."""
    if table := building_table(paths):
        return table.rpartition("_")[0]
    database = open_database(paths.vectors_db, MIGRATIONS, canonical=False)
    try:
        with database.read() as connection:
            latest = "SELECT embedder_id FROM vectors ORDER BY rowid DESC LIMIT 1"
            return str(connection.exec_driver_sql(latest).scalar() or "")
    finally:
        database.close()
