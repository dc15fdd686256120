"""Upkeep of what syncs leave behind: old versions of the index, vectors that nothing needs any more.

Each step may be killed anywhere and simply be run again. Nobody may sync meanwhile; readers notice nothing.
"""

from dataclasses import dataclass

from companion_assets.contracts.errors import IndexMissing
from companion_assets.contracts.manifests import IndexManifest
from companion_assets.stages.workspace import ENGINE, Workspace
from companion_assets.stores.index_table import building_table, read_manifest
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.sizes import size_of

_NOTHING_YET = "nothing is indexed yet"
_IN_BETWEEN = "another embedder's index is being built"
# Less than this share of the index's chunks in the catalog means that the catalog was lost and is being made anew.
_TRUSTED_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Compacted:
    """What became of the index, in bytes; `left` says why nothing was done."""

    before: int
    after: int
    left: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many vectors were forgotten: of texts that are gone, and of embedders given up; `left` says why none."""

    texts: int = 0
    embedders: int = 0
    left: str = ""


def compact_index(work: Workspace, *, grace_minutes: float = 10.0) -> Compacted:
    """Merge the small files that syncs have written and drop the versions that no reader can still be using.

    Args:
        work: A workspace; no engine is opened.
        grace_minutes: How long a reader may go on with the version it has.

    Raises:
        StoreError: The index is damaged, or another process writes it.
    """
    paths = work.paths
    before = size_of(paths.index_dir)
    served = _served(work)
    if served is None or building_table(paths):
        # While a table is being built, tending the served one would take the other for one that was given up.
        return Compacted(before, before, _NOTHING_YET if served is None else _IN_BETWEEN)
    with open_writer(paths, served.embedder, lambda text: work.embedder.embed_query(text)) as writer:
        if not writer.is_live or work.catalog.committed(writer.table) not in (None, writer.version):
            return Compacted(before, before, "a sync was broken off; the next one goes on with it")
        version = writer.version
        writer.optimise(force=True)
        if writer.version != version:
            writer.publish(served.run_id, notes=served.notes)
        work.catalog.write_version(writer.table, writer.version)
        writer.prune(grace_minutes, force=True)
        work.catalog.write_version(writer.table, writer.version)
    return Compacted(before, size_of(paths.index_dir))


def forget_vectors(work: Workspace) -> Forgotten:
    """Forget the vectors of texts that no chunk has, and those of embedders that are neither in force nor served.

    Should such a text come back, it is embedded again.

    Raises:
        StoreError: The catalog or the cache of vectors is damaged.
    """
    served = _served(work)
    if served is None:
        return Forgotten(left=_NOTHING_YET)
    _, known = work.catalog.published_totals(served.table)
    if known < _TRUSTED_SHARE * served.chunks:
        return Forgotten(left=f"the catalog knows only {known:,} of the index's {served.chunks:,} chunks; sync first")
    texts = work.vectors.prune(work.catalog.all_text_shas())
    if building_table(work.paths) or (work.engine and work.catalog.fact(ENGINE) != list(work.engine)):
        return Forgotten(texts, left=_IN_BETWEEN)
    return Forgotten(texts, work.vectors.forget_embedders([served.embedder.embedder_id]))


def _served(work: Workspace) -> IndexManifest | None:
    try:
        return read_manifest(work.paths)
    except IndexMissing:
        return None
