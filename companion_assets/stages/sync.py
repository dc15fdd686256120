"""The steps that bring one folder up to date: read, chunk, embed; `stages.publishing` is the fourth.

Each compares what it wants with what is stored and does the difference, so that any step may be killed anywhere and
simply be run again, and an unchanged folder costs a listing and a few queries.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from companion_assets.contracts.errors import EmbeddingFailed
from companion_assets.contracts.records import NoteStatus
from companion_assets.stages.cutter import Cutter
from companion_assets.stages.vault import read_note
from companion_assets.stages.workspace import PARSER_VERSION, Workspace
from companion_assets.stores.vectors import Vector

REBUILD_TAG = "companion/rebuild"
CONFIRM_TAG = "companion/confirm-removals"

T = TypeVar("T")

_NOTES_A_COMMIT = 200
_TEXTS_A_BATCH = 64


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What a step did, for one folder or summed over several. Counts, and what went wrong by note."""

    counts: dict[str, int] = field(default_factory=dict)
    problems: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: "FolderReport") -> "FolderReport":
        keys = {**self.counts, **other.counts}
        summed = {key: self.counts.get(key, 0) + other.counts.get(key, 0) for key in keys}
        return FolderReport(summed, self.problems + other.problems)


def read_folder(work: Workspace, folder: str, *, rebuild: bool = False) -> FolderReport:
    """Read the notes of a folder that changed; mark those that vanished.

    Args:
        work: The run's workspace.
        folder: Top-level folder, or `_root`.
        rebuild: Read every note again, whatever the catalog says.

    Raises:
        VaultError: The vault as a whole cannot be read; nothing is marked as gone then.
    """
    scan = work.scan()
    files = work.folders().get(folder, [])
    delta = work.catalog.diff_files(folder, files, PARSER_VERSION)
    wanted = files if rebuild else delta.changed
    known = {} if rebuild else work.catalog.shas(folder, PARSER_VERSION)
    counts = {"notes": len(files), "read": 0, "unchanged": len(files) - len(wanted), "removed": 0}
    problems: list[tuple[str, str]] = []
    for batch in batches(work.progress.over(wanted, "reading", folder), _NOTES_A_COMMIT):
        read = [(file, read_note(work.root, file)) for file in batch]
        changed = [(file, note) for file, note in read if not note.sha or known.get(note.path) != note.sha]
        work.catalog.touch([file for file, note in read if note.sha and known.get(note.path) == note.sha])
        counts["read"] += work.catalog.put_notes(changed, PARSER_VERSION, work.run_id)
        problems += [(note.path, note.reason) for _, note in changed if note.status is not NoteStatus.OK]
    # Not everything that is missing from a listing is gone: a folder may be unreadable, a note moved to a cloud.
    if gone := sorted(scan.gone(delta.vanished)):
        work.catalog.mark_gone(gone)
        counts["removed"] = len(gone)
    return FolderReport(counts, tuple(problems))


def chunk_folder(work: Workspace, folder: str) -> FolderReport:
    """Cut the notes of a folder whose text or chunking rule changed."""
    counts = {"notes": 0, "chunks": 0}
    cutter = Cutter(work)
    pending = work.catalog.notes_to_chunk(folder, cutter.signature)
    for batch in batches(pending, _NOTES_A_COMMIT):
        work.progress.report("chunking", counts["notes"], 0, folder)
        cut = [(note.path, key, cutter.cut(note)) for note, key in batch]
        counts["chunks"] += work.catalog.put_chunks(cut)
        counts["notes"] += len(cut)
    return FolderReport(counts)


def embed_folder(work: Workspace, folder: str) -> FolderReport:
    """Embed the texts of a folder that have no vector yet under the embedder in force.

    A text that cannot be embedded, not even alone, is reported and left out; the others are not held up.
    """
    embedder_id = work.embedder.spec.embedder_id
    shas = work.catalog.text_shas(folder)
    missing = work.vectors.missing(embedder_id, shas)
    counts = {"texts": len(shas), "embedded": 0, "reused": len(shas) - len(missing), "failed": 0}
    reasons: dict[str, str] = {}
    texts = work.progress.over(list(work.catalog.texts(folder, missing)), "embedding", folder)
    for batch in batches(texts, _TEXTS_A_BATCH):
        vectors, failures = _embed(work, batch)
        work.vectors.put_many(embedder_id, vectors)
        counts["embedded"] += len(vectors)
        counts["failed"] += len(failures)
        reasons |= failures
    paths = work.catalog.notes_of_texts(folder, reasons)
    return FolderReport(counts, tuple((paths.get(sha, sha), reason) for sha, reason in reasons.items()))


def _embed(work: Workspace, batch: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, Vector]], dict[str, str]]:
    """Vectors by hash, and hash → reason of what failed."""
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
