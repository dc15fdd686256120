"""Units: what chunks are packed from. Whole blocks where they fit, finer ranges of the text where they do not."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from companion_assets.backends.protocols import Tokenizer
from companion_assets.stages.blocks import LIST_ITEM, Block, Kind, fence_ids, indentation, is_table_rule
from companion_assets.stages.sentences import sentence_spans, trimmed
from companion_assets.stages.source_text import SourceText

Span = tuple[int, int]
Cut = Callable[[str], list[Span]]

_INTRODUCES = re.compile(r"[:：]\s*[*_]*\s*$")
_INTRODUCED = frozenset({Kind.LIST, Kind.TABLE, Kind.CODE, Kind.QUOTE})
_NESTING = 6
_WORST_RANK = 99
_WINDOW_CHARACTERS = 8192
_CHARACTERS_A_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Unit:
    """Characters `start` to `end` of a source.

    Attributes:
        body: Where the text behind the headings at its start begins; `start` if there is none.
        tokens: Size of its text alone, see `size_of`.
        rank: How deep in a block the border before it lies: 0 is the best place to cut, higher is worse.
        leads: A heading, or a line that introduces what follows: not to be parted from the next unit.
        header: Header rows to repeat when a chunk begins with this unit of a table.
    """

    start: int
    end: int
    body: int
    kind: Kind
    tokens: int
    rank: int
    leads: bool = False
    header: str = ""


def block_units(source: SourceText, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[Unit]:
    """One unit for each block, whatever its size."""
    units = []
    for position, block in enumerate(blocks):
        start, end = source.span(block.first, block.last)
        text = source.text[start:end]
        following = blocks[position + 1].kind if position + 1 < len(blocks) else None
        previous = blocks[position - 1].kind if position else None
        heading = block.kind is Kind.HEADING
        introduces = block.kind is Kind.PARAGRAPH and following in _INTRODUCED and bool(_INTRODUCES.search(text[-16:]))
        rank = 0 if heading or previous is Kind.RULE else 1
        rank = _WORST_RANK if block.kind is Kind.RULE else rank
        body = end if heading else start
        units.append(Unit(start, end, body, block.kind, size_of(text, tokenizer), rank, heading or introduces))
    return units


def refine_units(
    source: SourceText, units: Iterable[Unit], tokenizer: Tokenizer, *, largest: int, piece: int
) -> list[Unit]:
    """Units none of which has more than `largest` tokens.

    A list is cut at its items, a table at its rows, code at its blank lines, prose at its sentences; what is still too
    long at its lines, then between words, at last between tokens, into pieces of `piece` tokens.
    """
    refined: list[Unit] = []
    for unit in units:
        if unit.tokens <= largest:
            refined.append(unit)
            continue
        cutter = _Cutter(source.text, tokenizer, largest, piece)
        parts = list(cutter.parts(unit, _CUTS[unit.kind], unit.rank))
        refined += _table_parts(source.text, parts, tokenizer, largest) if unit.kind is Kind.TABLE else parts
    return _joined(refined, largest)


def size_of(text: str, tokenizer: Tokenizer) -> int:
    """Tokens of `text`, but at least one for 16 characters: 100 kB of an unknown word are one token, yet no chunk."""
    return max(tokenizer.count(text), len(text) // _CHARACTERS_A_TOKEN)


def cut_long(text: str, limit: int, tokenizer: Tokenizer) -> Iterator[Span]:
    """Spans of at most `limit` tokens, cut between words where there are any, else between tokens."""
    window = max(_WINDOW_CHARACTERS, 8 * limit)
    start = 0
    while start < len(text):
        tokens = tokenizer.spans(text[start : start + window])
        at_end = start + window >= len(text)
        taken, base = 0, start
        while taken < len(tokens):
            if len(tokens) - taken <= limit:
                # The rest of the window is continued in the next one, unless it is all there is or nothing was cut yet.
                if at_end or start == base:
                    yield start, min(base + window, len(text))
                    start = min(base + window, len(text))
                break
            taken = _word_border(text, tokens, base, taken, limit)
            stop = base + tokens[taken][0]
            yield start, stop
            start = stop
        if not tokens:
            start = min(base + window, len(text))


def _word_border(text: str, tokens: Sequence[Span], base: int, taken: int, limit: int) -> int:
    """Index of the token that begins the next piece: the last behind white space in the second half of the piece."""
    for index in range(taken + limit, taken + limit // 2, -1):
        at = base + tokens[index][0]
        if text[at].isspace() or text[at - 1].isspace():
            return index
    return taken + limit


@dataclass(frozen=True, slots=True)
class _Cutter:
    text: str
    tokenizer: Tokenizer
    largest: int
    piece: int

    def parts(self, unit: Unit, cuts: Sequence[Cut], rank: int = 2) -> Iterator[Unit]:
        """The unit, or its parts by the first of `cuts`, each cut further by the other ones if it must be."""
        if unit.tokens <= self.largest:
            yield unit
            return
        text = self.text[unit.start : unit.end]
        spans = cuts[0](text) if cuts else self._pieces(text)
        for position, (start, end) in enumerate(spans):
            tokens = size_of(text[start:end], self.tokenizer) if len(spans) > 1 else unit.tokens
            begin = unit.start + start
            part = Unit(begin, unit.start + end, begin, unit.kind, tokens, unit.rank if position == 0 else rank)
            if cuts:
                yield from self.parts(part, cuts[1:], rank + 1)
            else:
                yield part

    def _pieces(self, text: str) -> list[Span]:
        spans = (trimmed(text, start, end) for start, end in cut_long(text, self.piece, self.tokenizer))
        return [(start, end) for start, end in spans if start < end]


def _table_parts(text: str, parts: Sequence[Unit], tokenizer: Tokenizer, largest: int) -> list[Unit]:
    """Mark the header of a table, to be repeated with every chunk that begins with a later row."""
    if len(parts) < 3 or not is_table_rule(text[parts[1].start : parts[1].end]):
        return list(parts)
    header = text[parts[0].start : parts[1].end]
    if tokenizer.count(header) > largest // 4:
        return list(parts)
    top = [replace(part, leads=True) for part in parts[:2]]
    return top + [replace(part, header=header) for part in parts[2:]]


def _joined(units: Iterable[Unit], largest: int) -> list[Unit]:
    """Join headings and introducing lines to what they lead to, where both fit together."""
    joined: list[Unit] = []
    for unit in units:
        before = joined[-1] if joined else None
        if before is None or not before.leads or before.tokens + unit.tokens > largest:
            joined.append(unit)
            continue
        body = before.body if before.body < before.end else unit.body
        whole = replace(unit, start=before.start, body=body, tokens=before.tokens + unit.tokens, rank=before.rank)
        joined[-1] = replace(whole, header=before.header)
    return joined


def line_spans(text: str) -> list[Span]:
    """Spans of the lines that are not blank."""
    spans = []
    start = 0
    for line in text.split("\n"):
        if line.strip():
            spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _item_spans(text: str) -> list[Span]:
    """Spans of the outermost list items behind the first line: a list by its items, an item by those below it."""
    lines = text.split("\n")
    fences = fence_ids(lines)
    items = [at for at in range(1, len(lines)) if not fences[at] and LIST_ITEM.match(lines[at])]
    outermost = min((indentation(lines[at]) for at in items), default=0)
    borders = {at for at in items if indentation(lines[at]) <= outermost}
    return _grouped(lines, lambda at: at in borders)


def _paragraph_spans(text: str) -> list[Span]:
    """Spans of the groups of lines between blank lines."""
    lines = text.split("\n")
    return _grouped(lines, lambda at: at > 0 and not lines[at - 1].strip() and bool(lines[at].strip()))


def _grouped(lines: Sequence[str], begins: Callable[[int], bool]) -> list[Span]:
    spans: list[Span] = []
    start = offset = stop = 0
    for at, line in enumerate(lines):
        if begins(at):
            spans.append((start, stop))
            start = offset
        offset += len(line) + 1
        stop = offset - 1 if line.strip() else stop
    return [*spans, (start, stop)]


_PROSE = (sentence_spans, line_spans)
_CUTS: dict[Kind, tuple[Cut, ...]] = {
    Kind.HEADING: _PROSE,
    Kind.PARAGRAPH: _PROSE,
    Kind.LIST: (_item_spans,) * _NESTING + _PROSE,
    Kind.TABLE: (line_spans,),
    Kind.CODE: (_paragraph_spans, line_spans),
    Kind.QUOTE: (line_spans, sentence_spans),
    Kind.RULE: (),
}
