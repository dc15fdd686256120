"""Where the chunks of a note begin and end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from companion_assets.backends.protocols import Tokenizer
from companion_assets.contracts.records import Heading, Note
from companion_assets.contracts.settings import ChunkingRule
from companion_assets.stages.blocks import Block, Kind, fence_ids, read_blocks
from companion_assets.stages.chunk_context import context_line, own_name
from companion_assets.stages.packing import Piece, pack_units
from companion_assets.stages.property_lines import property_source
from companion_assets.stages.sections import Section, heading_ends, split_sections
from companion_assets.stages.sentences import trimmed
from companion_assets.stages.source_text import SourceText
from companion_assets.stages.units import Unit, block_units, refine_units

TINY_SECTION = 40
"""Tokens below which neighbouring sections share a chunk under `sliding_window`: two or three lines; our choice."""

_CONTEXT_SHARE = 4  # the context line may take a quarter of the window
_JOINT = 2  # tokens that may appear where context and text meet


@dataclass(frozen=True, slots=True)
class Cut:
    """The place of a chunk.

    Attributes:
        embed_text: What is embedded: context, header rows of a continued table, and the text less its own heading.
        tokens: Tokens of `embed_text`.
    """

    source: SourceText
    section: Section
    piece: Piece
    embed_text: str
    tokens: int

    @property
    def text(self) -> str:
        """What is shown and cited."""
        return self.source.text[self.piece.start : self.piece.end]


def body_source(note: Note) -> SourceText:
    """The lines of a note's body that go to the index; lines that are nothing but noise are left out."""
    written = zip(note.body.split("\n"), note.index_lines, strict=True)
    numbered = enumerate(written, start=note.body_line)
    return SourceText.of((number, kept) for number, (line, kept) in numbered if kept.strip() or not line.strip())


def cut_note(
    note: Note,
    body: SourceText,
    headings: Mapping[int, Heading],
    *,
    rule: ChunkingRule,
    tokenizer: Tokenizer,
    window: int,
) -> Iterator[Cut]:
    """The places of a note's chunks in order: first the properties, then section by section.

    Args:
        note: As the parser gave it.
        body: What `body_source` gave.
        headings: What `sections.heading_lines` gave for it.
        rule: Sizes are tokens of the text alone.
        tokenizer: The embedder's own.
        window: Tokens that context and text may have together.
    """
    cutter = _Cutter(own_name(note), rule, tokenizer, window)
    properties = property_source(note)
    if properties.lines:
        whole = Section.spanning(0, len(properties.lines))
        blocks = [Block(Kind.CODE, 0, whole.end - 1)]
        yield from cutter.cuts(properties, whole, block_units(properties, blocks, tokenizer))
    for section, units in _read_sections(body, headings, rule, tokenizer):
        yield from cutter.cuts(body, section, units)


def _read_sections(
    body: SourceText, headings: Mapping[int, Heading], rule: ChunkingRule, tokenizer: Tokenizer
) -> list[tuple[Section, list[Unit]]]:
    lines = body.lines
    ends = heading_ends(lines, headings)
    fences = fence_ids(lines, ends)
    by_section = rule.strategy == "section"
    section_tags = rule.section_tags if by_section else ()
    sections = split_sections(lines, headings, ends=ends, fences=fences, section_tags=section_tags)
    read = []
    for section in sections:
        blocks = read_blocks(lines, section.first, section.end, fences=fences, headings=ends)
        read.append((section, block_units(body, blocks, tokenizer)))
    return read if by_section else _share_tiny(read)


def _share_tiny(read: Sequence[tuple[Section, list[Unit]]]) -> list[tuple[Section, list[Unit]]]:
    """Put neighbouring tiny sections together as long as they lie under the same heading as the first of them."""
    shared: list[tuple[Section, list[Unit]]] = []
    open_path: tuple[str, ...] | None = None  # the heading above the sections being put together
    for section, units in read:
        tiny = sum(unit.tokens for unit in units) < TINY_SECTION
        if tiny and open_path is not None and section.path[: len(open_path)] == open_path:
            before, gathered = shared[-1]
            gathered += units
            joined = Section.spanning(before.first, section.end, _common(before.path, section.path))
            shared[-1] = joined, gathered
            continue
        shared.append((section, units))
        open_path = section.path[:-1] if tiny else None
    return shared


def _common(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


@dataclass(frozen=True, slots=True)
class _Cutter:
    name: str
    rule: ChunkingRule
    tokenizer: Tokenizer
    window: int

    def cuts(self, source: SourceText, section: Section, units: Sequence[Unit]) -> Iterator[Cut]:
        """The places of the chunks of one section."""
        context = context_line(self.name, section.path, section.tag, self.tokenizer, self.window // _CONTEXT_SHARE)
        room = self.window - self.tokenizer.count(context) - _JOINT
        budget = max(1, min(self.rule.chunk_size, room))
        overlap = min(self.rule.chunk_overlap, budget // 2)
        fine = refine_units(source, units, self.tokenizer, largest=budget, piece=budget - overlap)
        for piece in pack_units(source, fine, self.tokenizer, budget=budget, overlap=overlap):
            yield from self._fitting(source, section, piece, context)

    def _fitting(self, source: SourceText, section: Section, piece: Piece, context: str) -> Iterator[Cut]:
        """The cut of a piece, or smaller ones where the whole has more tokens than its parts have together."""
        embed_text = _embed_text(source, section, piece, context)
        tokens = self.tokenizer.count(embed_text)
        if tokens <= self.window or piece.end - piece.start < 2:
            yield Cut(source, section, piece, embed_text, tokens)
        elif piece.start < piece.core:
            yield from self._fitting(source, section, replace(piece, start=piece.core), context)
        else:
            for start, end in _halves(source.text, piece.start, piece.end):
                yield from self._fitting(source, section, Piece(start, start, end), context)


def _embed_text(source: SourceText, section: Section, piece: Piece, context: str) -> str:
    content = source.starts[section.content]
    begin = content if piece.start < content < piece.end else piece.start
    parts = [context, piece.header, source.text[begin : piece.end].strip()]
    return "\n".join(part for part in parts if part)


def _halves(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    middle = (start + end) // 2
    blank = text.rfind(" ", start + 1, middle)
    border = blank if blank > start else middle
    spans = (trimmed(text, start, border), trimmed(text, border, end))
    yield from (span for span in spans if span[0] < span[1])
