"""A note's text to a `Note`, by Obsidian's rules. Pure and total: any text gives a note.

The parts: `frontmatter` (properties), `markdown_blocks` and `markdown_structure` (block structure by markdown-it),
`inline_text` (links, tags, block ids), `tags`, `links`, `note_date`, `index_text`.
"""

import dataclasses
import hashlib
import re
import unicodedata

from companion_assets.contracts.records import FrontmatterState, Note, NoteFile, NoteStatus
from companion_assets.stages.frontmatter import read_frontmatter
from companion_assets.stages.index_text import index_lines
from companion_assets.stages.links import property_links
from companion_assets.stages.markdown_structure import read_structure
from companion_assets.stages.note_date import note_date
from companion_assets.stages.tags import property_aliases, property_tags, unique_tags
from companion_assets.stores.link_resolver import LinkResolver

_LINE_END = re.compile(r"\r\n?")


def parse_note(text: str, file: NoteFile, *, sha: str | None = None) -> Note:
    """Read a note's text.

    Args:
        text: The whole file; any line ends, a byte order mark is ignored.
        file: Where it stands.
        sha: Hash of the file's bytes; by default that of the text.
    """
    lines_as_lf = _LINE_END.sub("\n", text.removeprefix("\ufeff"))
    front = read_frontmatter(lines_as_lf)
    structure = read_structure(front.body, front.body_line)
    title = note_title(file.path)
    return Note(
        path=file.path,
        title=title,
        folder=file.folder,
        sha=sha if sha is not None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        body=front.body,
        body_line=front.body_line,
        index_lines=index_lines(front.body.split("\n"), structure, drawing="excalidraw-plugin" in front.properties),
        frontmatter=front.state,
        frontmatter_lines=tuple(lines_as_lf.split("\n")[: front.body_line - 1]),
        properties=front.properties,
        tags=unique_tags(property_tags(front.properties) + structure.tags),
        aliases=property_aliases(front.properties),
        headings=tuple(structure.headings),
        links=tuple(property_links(front.properties, front.source) + structure.links),
        blocks=tuple(dict.fromkeys(structure.blocks)),
        tasks=tuple(structure.tasks),
        date=note_date(title, front.properties),
        status=NoteStatus.PARTIAL if front.state is FrontmatterState.INVALID else NoteStatus.OK,
        reason=front.reason,
    )


def note_title(path: str) -> str:
    """Obsidian's name of the note at `path`: the file name without its last ending, composed (NFC)."""
    name = unicodedata.normalize("NFC", path.rpartition("/")[2])
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name


def resolve_links(note: Note, resolver: LinkResolver) -> Note:
    """The note with each link's `resolved` filled in from the names in the vault."""
    links = tuple(dataclasses.replace(link, resolved=resolver.resolve(link, note.path)) for link in note.links)
    return dataclasses.replace(note, links=links)
