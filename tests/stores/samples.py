"""Small notes, chunks and vectors for the tests of this room; also imported by the processes they start."""

import datetime as dt
import hashlib
from typing import Any

import numpy as np

from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.records import Chunk, Note, NoteFile

DIMENSIONS = 8
SPEC = EmbedderSpec("embedded", "test-model:latest", "digest-a", DIMENSIONS, 512)
OTHER_SPEC = EmbedderSpec("ollama", "other-model:latest", "digest-b", DIMENSIONS * 2, 512)


def vector(text: str, dimensions: int = DIMENSIONS) -> np.ndarray:
    """A unit vector that depends on the text only."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    drawn = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    return drawn / np.linalg.norm(drawn)


def chunk(path: str, text: str, position: int = 0, **changes: Any) -> Chunk:
    """A chunk of a note; its id depends on path, text and position."""
    title = path.rsplit("/", 1)[-1].removesuffix(".md")
    values: dict[str, Any] = {
        "chunk_id": hashlib.sha256(f"{path}\0{text}\0{position}".encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "source_file": path,
        "source_directory": path.split("/", 1)[0] if "/" in path else "_root",
        "title": title,
        "section": "",
        "date": None,
        "tags": (),
        "chunk_index": position,
        "modified_at": dt.datetime(2026, 3, 4, 5, 6, 7, tzinfo=dt.UTC),
        "rule_applied": "default",
        "text": text,
        "first_line": 1 + position,
        "last_line": 1 + position,
        "heading_path": (),
        "links": (),
        "people": (),
        "aliases": (),
        "embed_text": f"{title}\n{text}",
        "token_count": len(text.split()),
        "sensitive": False,
        **changes,
    }
    return Chunk(**values)


def rows(*chunks: Chunk, dimensions: int = DIMENSIONS) -> list[tuple[Chunk, np.ndarray]]:
    """Chunks with the vector of their text."""
    return [(one, vector(one.text, dimensions)) for one in chunks]


def note_file(path: str, *, mtime_ns: int = 1_700_000_000_000_000_000, size: int = 10) -> NoteFile:
    """A file as a listing shows it."""
    return NoteFile(path, path, path.split("/", 1)[0] if "/" in path else "_root", mtime_ns, size)


def note(path: str, body: str = "text", **changes: Any) -> Note:
    """A parsed note."""
    values: dict[str, Any] = {
        "path": path,
        "title": path.rsplit("/", 1)[-1].removesuffix(".md"),
        "folder": path.split("/", 1)[0] if "/" in path else "_root",
        "sha": hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest(),
        "body": body,
        "body_line": 1,
        "index_lines": tuple(body.split("\n")),
        **changes,
    }
    return Note(**values)


def question(text: str) -> np.ndarray:
    """Stands for an embedder's `embed_query`."""
    return vector(f"question: {text}")
