"""Packing units into chunks at borders that the text itself chooses, so that an edit moves only the borders near it.

Filling chunks one after the other from the top would shift every later border after an edit at the top. Here a
section that is too long is parted at the border whose content has the smallest hash, and each part again, until all
fit. A part that does not hold the edit has the same units as before, hence the same borders.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from companion_assets.backends.protocols import Tokenizer
from companion_assets.stages.blocks import Kind
from companion_assets.stages.sentences import sentence_spans
from companion_assets.stages.source_text import SourceText
from companion_assets.stages.units import Unit, line_spans

# A part has at least a third of a full chunk. Measured on notes of 60 paragraphs: an edit changes 1.7 chunks on
# average and more than 3 in one case of 200, chunks are two thirds full. Half: fuller, but 1 edit in 30 changes more.
_SMALLEST_SHARE = 3
_PROSE = frozenset({Kind.PARAGRAPH, Kind.LIST, Kind.QUOTE})


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters of a source that make a chunk.

    Attributes:
        start: Where its text begins, overlap included.
        core: Where its own text begins.
        header: Header rows of a table that began in an earlier chunk.
    """

    start: int
    core: int
    end: int
    header: str = ""


def pack_units(
    source: SourceText, units: Sequence[Unit], tokenizer: Tokenizer, *, budget: int, overlap: int
) -> list[Piece]:
    """Cut a section into pieces that begin, but for the first, with whole sentences of the piece before.

    Args:
        source: What the units are ranges of.
        units: Of one section, in order; none above `budget`.
        tokenizer: The embedder's own.
        budget: Most tokens of a piece.
        overlap: Most tokens that are repeated, part of `budget`.
    """
    if not units:
        return []
    if sum(unit.tokens for unit in units) <= budget:
        return [Piece(units[0].start, units[0].start, units[-1].end)]
    room = max((tokenizer.count(header) for header in {unit.header for unit in units if unit.header}), default=0)
    runs = _divide(source.text, units, max(1, budget - max(overlap, room)))
    pieces = []
    for position, run in enumerate(runs):
        before = runs[position - 1] if position else ()
        free = min(overlap, budget - sum(unit.tokens for unit in run))
        start = _overlap_start(source.text, before, run[0], free, tokenizer)
        pieces.append(Piece(start, run[0].start, run[-1].end, run[0].header))
    return pieces


def _divide(text: str, units: Sequence[Unit], target: int) -> list[Sequence[Unit]]:
    """Runs of units of at most `target` tokens (or a single unit), parted at content-chosen borders."""
    total = list(accumulate((unit.tokens for unit in units), initial=0))
    hashes = [_content_hash(text[unit.body : unit.end]) for unit in units]
    runs: list[Sequence[Unit]] = []
    waiting = [(0, len(units))]
    while waiting:
        first, end = waiting.pop()
        if end - first == 1 or total[end] - total[first] <= target:
            runs.append(units[first:end])
            continue
        border = _best_border(units, hashes, total, first, end, target)
        waiting += [(border, end), (first, border)]
    return runs


def _best_border(
    units: Sequence[Unit], hashes: Sequence[int], total: Sequence[int], first: int, end: int, target: int
) -> int:
    """The best unit before which to part the units `first` to `end - 1`.

    Neither side may be tiny. Among such borders structure decides (a heading before a paragraph before a sentence),
    then the hash; equal texts are parted in the middle.
    """
    size = total[end] - total[first]
    least = target // _SMALLEST_SHARE

    def left(border: int) -> int:
        return total[border] - total[first]

    def unbalance(border: int) -> int:
        return abs(2 * left(border) - size)

    def key(border: int) -> tuple[int, int, int]:
        return units[border].rank, hashes[border], unbalance(border)

    borders = range(first + 1, end)
    fitting = [border for border in borders if least <= left(border) <= size - least]
    return min(fitting, key=key) if fitting else min(borders, key=unbalance)


def _overlap_start(text: str, before: Sequence[Unit], first: Unit, room: int, tokenizer: Tokenizer) -> int:
    """Where a chunk begins if whole sentences of the one before it are put in front, up to `room` tokens.

    Headings, tables and code are not repeated, and never the whole of the chunk before.
    """
    start = first.start
    if not before or first.body > first.start or first.kind is Kind.HEADING:
        return start
    for unit in reversed(before):
        if unit.kind not in _PROSE:
            return start
        spans = line_spans if unit.kind is Kind.LIST else sentence_spans
        for begin, end in reversed(spans(text[unit.body : unit.end])):
            room -= tokenizer.count(text[unit.body + begin : unit.body + end])
            if room < 0 or unit.body + begin <= before[0].body:
                return start
            start = unit.body + begin
        if unit.body > unit.start:
            return start
    return start


def _content_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
