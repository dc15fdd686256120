"""The steps that bring one folder up to date: read, chunk, embed; `stages.publishing` is the fourth.

Each compares what it wants with what is stored and does the difference, so that any step may be killed anywhere and
simply be run again, and an unchanged folder costs a listing and a few queries.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from companion_assets.contracts.errors import EmbeddingFailed
from companion_assets.contracts.records import Chunk, Note, NoteFile, NoteStatus
from companion_assets.stages.cutter import Cutter
from companion_assets.stages.vault import SETTLE_SECONDS, read_note, wait_until_written
from companion_assets.stages.workspace import PARSER_VERSION, Workspace
from companion_assets.stores.vectors import Vector

T = TypeVar("T")

_NOTES_A_COMMIT = 200
_UNSURE = -1  # a size no file has: the note is read once more at the next look
TEXTS_A_BATCH = 64


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What a step did, for one folder or summed over several. Counts, and what went wrong by note."""

    counts: dict[str, int] = field(default_factory=dict)
    problems: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: "FolderReport") -> "FolderReport":
        keys = {**self.counts, **other.counts}
        summed = {key: self.counts.get(key, 0) + other.counts.get(key, 0) for key in keys}
        return FolderReport(summed, self.problems + other.problems)


def read_folder(work: Workspace, folder: str, *, rebuild: bool = False, confirm_removals: bool = False) -> FolderReport:
    """Read the notes of a folder that changed; mark those that vanished.

    Args:
        work: The run's workspace.
        folder: Top-level folder, or `_root`.
        rebuild: Read every note again, and let it be cut again, whatever the catalog says.
        confirm_removals: Let notes go even if so many vanished at once that the guard would hold them.

    Raises:
        VaultError: The vault as a whole cannot be read; nothing is marked as gone then.
    """
    difference = work.difference()
    files = work.folders().get(folder, [])
    wanted = files if rebuild else difference.changed.get(folder, [])
    counts = {"notes": len(files), "read": 0, "unchanged": len(files) - len(wanted), "removed": 0}
    problems: list[tuple[str, str]] = []
    shas: set[str] = set()
    for batch in batches(work.progress.over(wanted, "reading", folder), _NOTES_A_COMMIT):
        read = list(_read(work, batch))
        known = {} if rebuild else work.catalog.shas((note.path for _, note in read), PARSER_VERSION)
        changed = [(file, note) for file, note in read if not note.sha or known.get(note.path) != note.sha]
        work.catalog.touch([file for file, note in read if note.sha and known.get(note.path) == note.sha])
        counts["read"] += work.catalog.put_notes(changed, PARSER_VERSION, work.run_id)
        if rebuild:
            work.catalog.forget_chunks(note.path for _, note in read)
        problems += [(note.path, note.reason) for _, note in changed if note.status is not NoteStatus.OK]
        shas.update(note.sha for _, note in read if note.sha)
    # Where a note went is known once it was read there: it may have come from any folder.
    if gone := difference.arrived(shas) + difference.removable(folder, confirmed=confirm_removals):
        work.catalog.mark_gone(gone)
        counts["removed"] = len(gone)
    if confirm_removals and difference.held:
        work.catalog.hold_removals(None)
    return FolderReport(counts, tuple(problems))


def _read(work: Workspace, files: Iterable[NoteFile]) -> Iterator[tuple[NoteFile, Note]]:
    """The files with what is in them. One that is gone by now is left as it was: the next look will tell."""
    for file in _written(work, files):
        note = read_note(work.root, file)
        if note.sha or os.path.lexists(work.root / file.raw_path):
            yield file, note


def _written(work: Workspace, files: Iterable[NoteFile]) -> Iterator[NoteFile]:
    """The files, once they are written: one that had text and is empty now is given a moment."""
    emptied = work.difference().emptied
    for file in files:
        settled = wait_until_written(work.root, file) if file.path in emptied else file
        if settled is not None:  # else it is gone, and is missed at the next look
            yield replace(settled, size=_UNSURE) if _may_change_unseen(settled) else settled


def _may_change_unseen(file: NoteFile) -> bool:
    """Its file system keeps no fractions of seconds, and the file is so young that its next save may look the same."""
    return file.mtime_ns % 1_000_000_000 == 0 and 0 <= time.time() - file.mtime_ns / 1e9 < SETTLE_SECONDS


def chunk_folder(work: Workspace, folder: str) -> FolderReport:
    """Cut the notes of a folder whose text or chunking rule changed."""
    counts = {"notes": 0, "chunks": 0}
    cutter = Cutter(work)
    pending = work.catalog.notes_to_chunk(folder, cutter.signature, cutter.rules_signature)
    for batch in batches(pending, _NOTES_A_COMMIT):
        work.progress.report("chunking", counts["notes"], 0, folder)
        cut = [(note.path, key, cutter.cut(note, modified_at)) for note, key, modified_at in batch]
        counts["chunks"] += work.catalog.put_chunks(cut)
        counts["notes"] += len(cut)
    work.catalog.chunked_by(folder, cutter.rules_signature)
    return FolderReport(counts)


def embed_folder(work: Workspace, folder: str) -> FolderReport:
    """Embed the texts of those notes of a folder that the index does not hold, where they have no vector yet.

    A text that cannot be embedded, not even alone, is reported and left out; the others are not held up.
    """
    pending = work.catalog.notes_to_embed(folder, work.embedder.spec.embedder_id)
    total = FolderReport({"texts": 0, "embedded": 0, "reused": 0, "failed": 0})
    expected = sum(work.catalog.count_chunks(pending).values())
    for paths in batches(pending, _NOTES_A_COMMIT):
        for batch in batches(work.catalog.chunks_of(paths), TEXTS_A_BATCH):
            work.progress.report("embedding", total.counts["texts"], expected, folder)
            total += embed_chunks(work, batch)
    if expected:
        work.progress.report("embedding", expected, expected, folder)
    return total


def embed_chunks(work: Workspace, chunks: Sequence[tuple[Chunk, str]]) -> FolderReport:
    """Embed chunks (each with the hash of its text) that have no vector yet."""
    embedder_id = work.embedder.spec.embedder_id
    texts = {sha: chunk.embed_text for chunk, sha in chunks}
    missing = work.vectors.missing(embedder_id, texts)
    vectors, failures = _embed(work, [(sha, texts[sha]) for sha in missing])
    work.vectors.put_many(embedder_id, vectors)
    counts = {"texts": len(texts), "embedded": len(vectors), "reused": len(texts) - len(missing)}
    problems = tuple((chunk.source_file, failures[sha]) for chunk, sha in chunks if sha in failures)
    return FolderReport({**counts, "failed": len(failures)}, problems)


def _embed(work: Workspace, batch: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, Vector]], dict[str, str]]:
    """Vectors by hash, and hash → reason of what failed."""
    if not batch:
        return [], {}
    try:
        vectors = work.embedder.embed_passages([text for _, text in batch])
    except EmbeddingFailed as fault:
        failures = {batch[position][0]: reason for position, reason in fault.failures.items()}
        good = [pair for position, pair in enumerate(batch) if position not in fault.failures]
        vectors = work.embedder.embed_passages([text for _, text in good])
        return list(zip((sha for sha, _ in good), vectors, strict=True)), failures
    return list(zip((sha for sha, _ in batch), vectors, strict=True)), {}


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
