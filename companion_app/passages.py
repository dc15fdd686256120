"""A cited passage in its note, as the note stands on disk now, with some lines around it."""

import datetime as dt
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from companion_assets.contracts.errors import CompanionError, IndexMissing, VaultError
from companion_assets.contracts.records import Citation
from companion_assets.stages.decoding import decode_note
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.index import ChunkIndex

_CONTEXT_LINES = 8
_MOST_LINES = 400  # of one passage; a chunk has far fewer
_ANCHORS = 3
_SAME = 0.6  # share of a passage's lines that must be found again in the note


class PathRefused(CompanionError):
    """A path that no note can have."""


class PassageMissing(CompanionError):
    """There is no such note or passage."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the note. `cited` lines are the passage, the others its surroundings."""

    number: int
    text: str
    cited: bool


@dataclass(frozen=True, slots=True)
class PassageView:
    """What is shown of a passage.

    Attributes:
        first_line, last_line: 1-based, inclusive, where the passage stands now.
        state: `same`, `moved` (the note changed above it) or `changed` (it is gone; `text` is as it was cited).
        obsidian_url: Opens the note in Obsidian.
    """

    path: str
    title: str
    section: str
    date: dt.date | None
    first_line: int
    last_line: int
    lines: tuple[Line, ...]
    text: str
    state: str
    obsidian_url: str


@dataclass(frozen=True, slots=True)
class _Wanted:
    path: str
    title: str
    section: str
    date: dt.date | None
    first_line: int
    last_line: int
    text: str


class Passages:
    """Opens passages of the vault, and nothing else of the disk.

    Args:
        vault: The vault's folder, or None while there is none.
        index: The index that knows the chunks.
        catalog: What was read of each note; only notes in it are shown.
        inside_only: Refuse links that lead out of the vault (`security.vault_path_traversal_check`).
    """

    def __init__(
        self,
        vault: Path | None,
        index: Callable[[], ChunkIndex],
        catalog: Callable[[], CatalogView],
        *,
        inside_only: bool = True,
    ) -> None:
        self._vault = vault
        self._index = index
        self._catalog = catalog
        self._inside_only = inside_only

    def of_chunk(self, chunk_id: str, cited: Citation | None = None) -> PassageView:
        """The passage of a chunk.

        Args:
            chunk_id: From a hit or a citation.
            cited: The citation as it was stored; used when the note has changed and the chunk is gone.

        Raises:
            PassageMissing: No such chunk, or its note is gone.
            VaultError: The vault cannot be read.
        """
        return self._view(self._chunk(chunk_id) or _of_citation(cited, chunk_id))

    def of_lines(self, path: str, first: int, last: int) -> PassageView:
        """Lines of a note.

        Args:
            path: Relative to the vault, "/" between parts.
            first: 1-based, inclusive.
            last: The same; never before `first`.

        Raises:
            PathRefused: The path leads out of the vault or can be no note's.
            PassageMissing: No such note.
            VaultError: The vault cannot be read.
        """
        return self._view(_Wanted(path, PurePosixPath(path).stem, "", None, first, max(first, last), ""))

    def _chunk(self, chunk_id: str) -> _Wanted | None:
        try:
            chunk = self._index().get([chunk_id]).get(chunk_id)
        except IndexMissing:
            return None
        if chunk is None:
            return None
        lines = (chunk.first_line, chunk.last_line)
        return _Wanted(chunk.source_file, chunk.title, chunk.section, chunk.date, *lines, chunk.text)

    def _view(self, wanted: _Wanted) -> PassageView:
        lines = self._lines_of(wanted.path)
        first, state = _locate(lines, wanted)
        last = min(first + wanted.last_line - wanted.first_line, first + _MOST_LINES, len(lines))
        shown = range(max(1, first - _CONTEXT_LINES), min(len(lines), last + _CONTEXT_LINES) + 1)
        return PassageView(
            path=wanted.path,
            title=wanted.title,
            section=wanted.section,
            date=wanted.date,
            first_line=first,
            last_line=last,
            lines=tuple(Line(n, lines[n - 1], state != "changed" and first <= n <= last) for n in shown),
            text=wanted.text or "\n".join(lines[first - 1 : last]),
            state=state,
            obsidian_url=obsidian_url(self._vault, wanted.path) if self._vault else "",
        )

    def _lines_of(self, path: str) -> list[str]:
        file = self._file(path)
        try:
            text = decode_note(file.read_bytes()).text
        except OSError as fault:
            raise PassageMissing(f"the note {path} cannot be read: {fault.strerror}", "sync the vault") from fault
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def _file(self, path: str) -> Path:
        """The file of a note, checked before the disk is touched and again with all links followed."""
        parts = path.split("/")
        if "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in parts) or ":" in parts[0]:
            raise PathRefused("this path leads out of the vault", "give the note's path from the vault's root")
        if self._vault is None:
            raise VaultError("no vault is configured", "companion init --vault PATH")
        key = unicodedata.normalize("NFC", path)
        if self._catalog().note_status(key) is None:
            raise PassageMissing(f"there is no note {path}", "give the note's path from the vault's root, with .md")
        file = _spelled(self._vault, parts)
        if file is None:
            raise PassageMissing(f"the note {path} is gone", "sync the vault")
        if self._inside_only and not file.resolve().is_relative_to(self._vault.resolve()):
            raise PathRefused(f"{path} is a link that leads out of the vault", "copy the file into the vault")
        return file


def obsidian_url(vault: Path, path: str) -> str:
    """Opens a note in Obsidian, which knows a vault by the name of its folder."""
    return f"obsidian://open?vault={quote(vault.name, safe='')}&file={quote(path.removesuffix('.md'), safe='')}"


def _of_citation(cited: Citation | None, chunk_id: str) -> _Wanted:
    if cited is None:
        raise PassageMissing(f"there is no passage {chunk_id}", "the note has changed since; search again")
    lines = (cited.first_line, cited.last_line)
    return _Wanted(cited.path, cited.title, cited.section, None, *lines, cited.text)


def _spelled(vault: Path, parts: Sequence[str]) -> Path | None:
    """The file as the disk spells its name; macOS and old archives keep accents decomposed."""
    direct = vault.joinpath(*parts)
    if direct.is_file():
        return direct
    found = vault
    for part in parts:
        wanted = unicodedata.normalize("NFC", part)
        try:
            names = [entry for entry in found.iterdir() if unicodedata.normalize("NFC", entry.name) == wanted]
        except OSError:
            return None
        if not names:
            return None
        found = names[0]
    return found if found.is_file() else None


def _locate(lines: Sequence[str], wanted: _Wanted) -> tuple[int, str]:
    """Where the passage begins now, and whether it is the same, moved or changed."""
    height = wanted.last_line - wanted.first_line + 1
    stated = min(wanted.first_line, len(lines))
    pieces = [piece for line in wanted.text.splitlines() if (piece := line.strip())]
    if not pieces or _found(pieces, lines[stated - 1 : stated - 1 + height]) >= _SAME:
        return stated, "same"
    # Whole windows are compared only where the passage's first or longest lines stand: a long note costs one pass.
    anchors = {pieces[0], *sorted(pieces, key=len)[-_ANCHORS:]}
    starts = [number for number, line in enumerate(lines) if any(anchor in line for anchor in anchors)]
    best = max(starts, key=lambda start: _found(pieces, lines[start : start + height]), default=None)
    if best is not None and _found(pieces, lines[best : best + height]) >= _SAME:
        return best + 1, "moved"
    return stated, "changed"


def _found(pieces: Sequence[str], lines: Sequence[str]) -> float:
    text = "\n".join(lines)
    return sum(piece in text for piece in pieces) / len(pieces)
