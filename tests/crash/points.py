"""The points at which a sync is killed: at least one before, inside and after every step that changes something."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.crash.faulty import Point

_CATALOG = "companion_assets.stores.catalog:Catalog"
_SECOND_HALF = "companion_assets.stores.catalog_publishing:CatalogPublishing"
_VECTORS = "companion_assets.stores.vectors:VectorCache"
_TABLE = "companion_assets.stores.index_table"
_WRITER = "companion_assets.stores.index_writer:IndexWriter"
_EMBEDDER = "companion_assets.backends.fakes:HashEmbedder"
_SQL = "sqlalchemy.engine.base:Connection.exec_driver_sql"
_LANCE = "lancedb.table:LanceTable"


@dataclass(frozen=True, slots=True)
class Killed:
    """One point, the number of times it is passed before, and the situations in which it is tried."""

    stage: str
    point: Point
    nth: int
    situations: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.stage}: {self.point}{f' {self.nth}×' if self.nth > 1 else ''}"


def _at(stage: str, where: str, when: str, nth: int, situations: str, *, text: str = "", watched: str = "") -> Killed:
    assert when in ("before", "within", "after")
    return Killed(stage, Point(where, when, text, watched), nth, tuple(situations.split()))  # type: ignore[arg-type]


KILLS = [
    _at("open", _SQL, "before", 2, "first", text="INSERT INTO migrations"),
    _at("open", _SQL, "after", 3, "first", text="INSERT INTO migrations"),
    _at("read", "companion_assets.stages.vault:read_note", "before", 5, "changes"),
    _at("read", "companion_assets.stages.markdown:parse_note", "after", 4, "first"),
    _at("read", _SQL, "after", 2, "changes", text="INSERT INTO notes"),
    _at("read", f"{_CATALOG}.put_notes", "after", 3, "changes embedder"),
    _at("read", f"{_CATALOG}.touch", "after", 1, "changes"),
    _at("removal", f"{_CATALOG}.mark_gone", "before", 1, "changes"),
    _at("removal", _SQL, "after", 1, "changes", text="UPDATE notes SET gone = 1"),
    _at("removal", f"{_CATALOG}.mark_gone", "after", 1, "changes embedder"),
    _at("chunk", "companion_assets.stages.cutter:Cutter.cut", "after", 4, "changes embedder"),
    _at("chunk", _SQL, "after", 2, "changes", text="DELETE FROM chunks"),
    _at("chunk", _SQL, "after", 3, "first changes", text="INSERT INTO chunks"),
    _at("chunk", f"{_CATALOG}.put_chunks", "after", 2, "changes embedder"),
    _at("progress", "pathlib:Path.write_text", "within", 7, "changes", text="progress.json"),
    _at("embed", f"{_EMBEDDER}.embed_passages", "before", 2, "first"),
    _at("embed", f"{_EMBEDDER}.embed_passages", "after", 3, "changes embedder"),
    _at("embed", _SQL, "after", 2, "first embedder", text="INSERT OR REPLACE INTO vectors"),
    _at("embed", f"{_VECTORS}.put_many", "after", 2, "first changes embedder"),
    _at("merge", "lancedb.db:LanceDBConnection.create_table", "within", 1, "first embedder", watched="index.lance/*/*"),
    _at("merge", "lancedb.db:LanceDBConnection.create_table", "after", 1, "first embedder"),
    _at(
        "merge", "lancedb.merge:LanceMergeInsertBuilder.execute", "within", 2, "changes embedder",
        watched="index.lance/*/data/*",
    ),
    _at("merge", "lancedb.merge:LanceMergeInsertBuilder.execute", "before", 2, "changes"),
    _at("merge", "lancedb.merge:LanceMergeInsertBuilder.execute", "after", 2, "first changes embedder"),
    _at("merge", _SQL, "after", 2, "first changes", text="UPDATE notes SET indexed_key"),
    _at("merge", f"{_SECOND_HALF}.mark_published", "after", 2, "changes embedder"),
    _at("removal", f"{_SECOND_HALF}.mark_published", "before", 2, "changes"),
    _at("removal", _SQL, "after", 2, "changes", text="DELETE FROM notes WHERE gone"),
    _at("removal", f"{_SECOND_HALF}.mark_published", "after", 3, "changes embedder"),
    _at("optimise", f"{_LANCE}.create_index", "within", 1, "first embedder", watched="index.lance/*/_indices/*/*"),
    _at("optimise", f"{_LANCE}.create_index", "after", 1, "first embedder"),
    _at("optimise", f"{_LANCE}.optimize", "within", 1, "changes", watched="index.lance/*/data/*"),
    _at("optimise", f"{_LANCE}.optimize", "after", 1, "changes"),
    _at("publish", f"{_WRITER}.publish", "before", 1, "first embedder"),
    _at("publish", "lancedb.table:Tags.create", "after", 1, "first embedder"),
    _at("publish", "lancedb.table:Tags.update", "after", 1, "changes"),
    _at("publish", f"{_TABLE}:write_manifest", "before", 1, "changes"),
    _at("publish", "pathlib:Path.replace", "before", 1, "changes embedder", text="current.json"),
    _at("publish", "pathlib:Path.replace", "after", 1, "first changes embedder", text="current.json"),
    _at("publish", f"{_WRITER}.publish", "after", 1, "embedder"),
    _at("prune", f"{_LANCE}.optimize", "within", 2, "upkeep", watched="index.lance/*/data/*"),
    _at("prune", f"{_LANCE}.optimize", "after", 2, "upkeep"),
    _at("prune", f"{_WRITER}.publish", "after", 2, "upkeep"),
    _at("prune", f"{_LANCE}.optimize", "after", 3, "upkeep"),
    _at("prune", "os:unlink", "after", 3, "upkeep", text=".lance"),
    _at("prune", "shutil:rmtree", "after", 1, "upkeep", text="index.lance"),
]  # fmt: skip


def operations(home: Path) -> Iterator[Point]:
    """Everything after which a data root is another: each transaction, each commit of LanceDB, each change of files.

    To be counted together: the n-th of them, for every n, is every state that a kill can leave behind, but for those
    inside a transaction or a commit, which nobody sees.
    """
    yield Point("companion_assets.stores.database:Database.write", "after")
    yield Point("lancedb.db:LanceDBConnection.create_table", "after")
    yield Point("lancedb.merge:LanceMergeInsertBuilder.execute", "after")
    for name in ("optimize", "create_index"):
        yield Point(f"{_LANCE}.{name}", "after")
    for name in ("create", "update"):
        yield Point(f"lancedb.table:Tags.{name}", "after")
    for name in ("pathlib:Path.replace", "pathlib:Path.unlink", "pathlib:Path.touch", "shutil:rmtree", "os:utime"):
        yield Point(name, "after", str(home / "index.lance"))
