"""Whether a data root is what a fresh build of the same vault would be: every row, every word, nothing left over."""

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from companion_assets.backends.factory import open_embedder
from companion_assets.backends.fakes import HashEmbedder
from companion_assets.backends.protocols import Embedder
from companion_assets.contracts.paths import HOME_VARIABLE, DataPaths, data_paths
from companion_assets.contracts.settings import Settings
from companion_assets.stages import sync
from companion_assets.stages.drift import measure_drift
from companion_assets.stages.publishing import open_publisher
from companion_assets.stages.workspace import Workspace
from companion_assets.stores import index_table
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import SMALL_TAIL
from companion_assets.stores.progress import read_progress
from companion_assets.stores.settings_file import load_settings
from tests.crash.pictures import Picture, Rows, open_file, picture, published, served

__all__ = ["check", "do_steps", "fresh_build", "published", "same_as_fresh"]

_SHOWN = 5


def same_as_fresh(
    home: Path, vault: Path, *, embedder: Embedder | None = None, engine: tuple[str, str] | None = None
) -> None:
    """Check that a synced data root equals a fresh build of the vault, and that nothing is half done or left over.

    The fresh build takes about 0.1 s and 1 ms a note with an embedder without a model; a real one borrows the
    vectors of the data root.

    Args:
        home: The data root. Nothing may be working on it.
        vault: Must be as it was at the last sync.
        embedder: The one that should be in force; None is the one of the published index.
        engine: Its provider and model as the settings of the syncs named them; None does not ask.

    Raises:
        AssertionError: With what differs.
    """
    with tempfile.TemporaryDirectory() as folder:
        fresh = fresh_build(Path(folder) / "home", vault, like=data_paths(home), embedder=embedder)
        check(home, vault, picture(fresh), engine=engine)


def fresh_build(home: Path, vault: Path, *, like: DataPaths, embedder: Embedder | None = None) -> DataPaths:
    """Index a vault into a new data root, with the settings of another one."""
    paths = data_paths(home)
    paths.root.mkdir(mode=0o700)
    opened = embedder or _embedder_of(like)
    if not isinstance(opened, HashEmbedder):
        _copy_database(like.vectors_db, paths.vectors_db)
    work = _workspace(paths, vault, _settings(like), opened)
    try:
        do_steps(work)
    finally:
        work.close()
    return paths


def do_steps(work: Workspace, folders: Sequence[str] = ()) -> None:
    """What a run of the sync job does, for some folders or for all."""
    chosen = folders or sorted({*work.folders(), *work.catalog.folders()})
    for step in (sync.read_folder, sync.chunk_folder, sync.embed_folder):
        for folder in chosen:
            step(work, folder)
    with open_publisher(work) as publisher:
        for folder in chosen:
            publisher.publish_folder(work, folder)
        verdict = publisher.finish()
    assert verdict.faults == {}, verdict.faults


def check(home: Path, vault: Path, fresh: Picture, *, engine: tuple[str, str] | None = None) -> None:
    """Check that a data root shows the same picture, and that nothing is half done or left over.

    Raises:
        AssertionError: With what differs.
    """
    paths = data_paths(home)
    found = picture(paths)
    wrong = [
        *([f"embedder {found.embedder}, not {fresh.embedder}"] if found.embedder != fresh.embedder else []),
        *_differences("index", found.rows, fresh.rows),
        *_differences("catalog", found.notes, fresh.notes),
        *_differences("chunks", found.chunks, fresh.chunks),
        *_differences("names and links", found.graph, fresh.graph),
        *(f"vector of {sha} differs" for sha, vector in found.vectors.items() if fresh.vectors[sha] != vector),
        *half_done(paths),
        *(f"{folder} still needs a sync" for folder in _dirty(paths, vault, engine)),
        *left_over(paths),
        *(_unfindable(paths, found.rows) if found.rows else []),
    ]
    assert wrong == [], "\n".join(wrong[:40])


def half_done(paths: DataPaths) -> list[str]:
    """What a sync that came to its end would not have left behind."""
    wrong = []
    manifest = served(paths)
    with closing(open_file(paths.catalog_db)) as catalog:
        gone = [row["path"] for row in catalog.execute("SELECT path FROM notes WHERE gone")]
        keys = catalog.execute("SELECT path, status, chunked_key, indexed_key FROM notes WHERE NOT gone").fetchall()
        held = catalog.execute("SELECT value FROM facts WHERE name = 'held_removals'").fetchall()
    wrong += [f"tombstone of {path}" for path in gone]
    table = manifest.table if manifest else ""
    wrong += [
        f"{row['path']} is pending: {row['chunked_key']} → {row['indexed_key']}"
        for row in keys
        if row["indexed_key"] != f"{row['chunked_key']}@{table}"
    ]
    wrong += [f"removals are held: {row['value']}" for row in held]
    if manifest:
        newest = index_table.connect(paths).open_table(manifest.table)
        if newest.version != manifest.version:
            wrong.append(f"version {newest.version} is written, {manifest.version} is served")
        if (tags := newest.tags.list()).keys() != {"live"} or tags["live"]["version"] != manifest.version:
            wrong.append(f"tags {tags}, served {manifest.version}")
        if (unindexed := ChunkIndex.open(paths).health().unindexed_rows) > SMALL_TAIL:
            wrong.append(f"{unindexed} rows are in no word index")
    return wrong


def left_over(paths: DataPaths) -> list[str]:
    """Locks that are still held, and files that only a process that lives may have."""
    wrong = []
    for name in ("index.lock", "sync.lock"):
        try:
            with FileLock(paths.locks_dir / name, timeout=0):
                pass
        except Timeout:
            wrong.append(f"{name} is held")
    if read_progress(paths.progress_file):
        wrong.append("progress is still shown")
    return wrong


def _settings(paths: DataPaths) -> Settings:
    return load_settings(env={**os.environ, HOME_VARIABLE: str(paths.root)}).settings


def _workspace(paths: DataPaths, vault: Path, settings: Settings, embedder: Embedder | None) -> Workspace:
    def opened() -> Embedder:
        assert embedder is not None, "nothing is to be embedded"
        return embedder

    return Workspace(
        paths=paths,
        vault=settings.vault.model_copy(update={"path": vault}),
        security=settings.security,
        open_embedder=opened,
    )


def _dirty(paths: DataPaths, vault: Path, engine: tuple[str, str] | None) -> list[str]:
    """Folders for which the sensor would ask for another run."""
    work = _workspace(paths, vault, _settings(paths), None)
    work.engine = engine
    try:
        return sorted(measure_drift(work, settle_seconds=0).dirty)
    finally:
        work.close()


def _embedder_of(paths: DataPaths) -> Embedder:
    manifest = served(paths)
    if manifest is not None and manifest.embedder.provider == "fake":
        return HashEmbedder(manifest.embedder.dimensions, manifest.embedder.max_tokens)
    return open_embedder(_settings(paths).rag.embedding)


def _copy_database(source: Path, target: Path) -> None:
    if source.exists():
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)


def _differences(what: str, found: Rows, fresh: Rows) -> Iterator[str]:
    for key in sorted(found.keys() - fresh.keys())[:_SHOWN]:
        yield f"{what}: {key} should not be there: {_short(found[key])}"
    for key in sorted(fresh.keys() - found.keys())[:_SHOWN]:
        yield f"{what}: {key} is missing: {_short(fresh[key])}"
    for key in sorted(found.keys() & fresh.keys()):
        for name, value in fresh[key].items():
            if found[key][name] != value:
                yield f"{what}: {key}: {name} is {found[key][name]!r:.200}, not {value!r:.200}"


def _short(row: Mapping[str, Any]) -> str:
    return json.dumps({name: row[name] for name in ("path", "source_file", "text") if name in row})[:200]


def _unfindable(paths: DataPaths, rows: Rows) -> Iterator[str]:
    """Rows that the word search does not find by a word of theirs: the word index must cover all of them."""
    index = ChunkIndex.open(paths)
    by_word: dict[str, set[str]] = {}
    for key, row in rows.items():
        for word in set(row[index_table.SEARCH_COLUMN].split()):
            if word.isalpha() and word.isascii() and len(word) > 2:
                by_word.setdefault(word, set()).add(key)
    covered: set[str] = set()
    for word, keys in sorted(by_word.items(), key=lambda item: -len(item[1])):
        if keys <= covered:
            continue
        hits = {hit.chunk_id for hit in index.text_leg(word, len(rows) + 10)}
        lost = {rows[key]["source_file"] for key in keys} - index.note_leg(word, len(rows)).keys()
        yield from (f"“{word}” does not find the note {path}" for path in sorted(lost)[:_SHOWN])
        covered |= keys
        yield from (f"“{word}” does not find {key}" for key in sorted(keys - hits)[:_SHOWN])
        yield from (f"“{word}” finds {key}, which has no such word" for key in sorted(hits - rows.keys())[:_SHOWN])
