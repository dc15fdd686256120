"""Cutting a note into chunks: pieces that speak about one thing, small enough to be embedded whole."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Mapping

from companion_assets.backends.protocols import Tokenizer
from companion_assets.contracts.records import Chunk, Note
from companion_assets.contracts.settings import ChunkingRule
from companion_assets.stages.chunk_context import (
    NoteLinks,
    NoteTags,
    PeopleResolver,
    link_paths,
    wikilink_targets,
)
from companion_assets.stages.chunk_rules import SensitivePredicate, rule_for, tag_key
from companion_assets.stages.cutting import Cut, body_source, cut_note
from companion_assets.stages.sections import heading_lines
from companion_assets.stages.tags import unique_tags


def chunk_note(
    note: Note,
    *,
    rules: Mapping[str, ChunkingRule],
    tokenizer: Tokenizer,
    max_tokens: int,
    passage_overhead: int,
    modified_at: dt.datetime,
    sensitive: SensitivePredicate,
    resolve: PeopleResolver | None = None,
) -> list[Chunk]:
    """The chunks of a note, in order. A note without text has none.

    Args:
        note: As the parser gave it.
        rules: Glob → rule; the most specific one is applied.
        tokenizer: The embedder's own.
        max_tokens: The embedder's window; no chunk with its context goes beyond it, whatever `chunk_size` says.
        passage_overhead: Tokens that the passage prefix and the special tokens take.
        modified_at: The file's mtime.
        sensitive: Says of a chunk's tags whether they mark it as sensitive.
        resolve: Which people the links of a chunk lead to; None while the note graph is not known.
    """
    pattern, rule = rule_for(note.path, rules)
    body = body_source(note)
    headings = heading_lines(body.index, note.headings)
    cuts = cut_note(note, body, headings, rule=rule, tokenizer=tokenizer, window=max_tokens - passage_overhead)
    tags = NoteTags(note, body, headings=headings, section_tags=rule.section_tags)
    links, repeats, chunks = NoteLinks(note.links), Counter[str](), list[Chunk]()
    for position, cut in enumerate(cuts):
        own_tags = unique_tags([*tags.of_chunk(_tags_in(cut, tags)), *cut.section.tag_names])
        inside = links.within(cut.source, cut.piece.start, cut.piece.end)
        chunk = Chunk(
            chunk_id=_chunk_id(note.path, cut.text, repeats[cut.text]),
            source_file=note.path,
            source_directory=note.folder,
            title=note.title,
            section=cut.section.tag or " > ".join(cut.section.path),
            date=note.date,
            tags=unique_tags([*own_tags, *wikilink_targets(inside)]),
            chunk_index=position,
            modified_at=modified_at,
            rule_applied=pattern,
            text=cut.text,
            first_line=cut.source.number(cut.piece.start),
            last_line=cut.source.number(cut.piece.end - 1),
            heading_path=cut.section.path,
            links=link_paths(inside),
            people=resolve(inside) if resolve else (),
            aliases=note.aliases,
            embed_text=cut.embed_text,
            token_count=cut.tokens + passage_overhead,
            sensitive=sensitive(own_tags),
        )
        chunks.append(chunk)
        repeats[cut.text] += 1
    return chunks


def _tags_in(cut: Cut, tags: NoteTags) -> tuple[str, ...]:
    """Keys of the tags of a chunk: of its section, of the headings above it, and in its text.

    Under a section tag, empty sections that were joined to it do not count.
    """
    section, source, piece = cut.section, cut.source, cut.piece
    start, end = piece.start, piece.end
    if section.tag:
        start = max(start, source.starts[section.own_first])
        end = min(end, source.starts[section.own_end])
    section_keys = map(tag_key, section.tag_names)
    return (*section_keys, *tags.inline("\n".join(section.path)), *tags.inline(source.text[start:end]))


def _chunk_id(path: str, text: str, repeat: int) -> str:
    blob = f"{path}\0{repeat}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(blob, digest_size=16).hexdigest()
