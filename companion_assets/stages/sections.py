"""The sections of a note: what lies under one heading or under one section tag of a journal."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from companion_assets.contracts.records import Heading
from companion_assets.stages.blocks import LIST_ITEM, indentation
from companion_assets.stages.chunk_rules import tag_key, tag_lineage

_TAG_LINE = re.compile(
    r"\s*(?P<item>(?:[-*+]|\d{1,9}[.)])\s+(?:\[.\]\s+)?)?(?P<bold>(?:[*_]{1,3}|==)?)"
    r"#(?P<tag>[^\s#,.:;!?*()\[\]{}\"'`=]+)(?:[*_]{1,3}|==)?:?(?P<rest>.*)"
)
_ATX = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)\s*")


@dataclass(frozen=True, slots=True)
class Section:
    """Lines `first` to `end - 1` (positions) that speak about one thing.

    Attributes:
        own_first, own_end: The section without the empty ones that were joined to it.
        content: Position of the first line after its own heading.
        path: Headings above it, outermost first, its own last.
        tag: The section tag as configured (`#work`), or "".
    """

    first: int
    end: int
    own_first: int
    own_end: int
    content: int
    path: tuple[str, ...] = ()
    tag: str = ""

    @classmethod
    def spanning(cls, first: int, end: int, path: tuple[str, ...] = ()) -> "Section":
        """A section without a heading of its own."""
        return cls(first, end, first, end, first, path)

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The section tag without "#"; empty where there is none."""
        return (self.tag.lstrip("#"),) if self.tag else ()


@dataclass(frozen=True, slots=True)
class _TagLine:
    name: str
    alone: bool
    item_indent: int | None


def heading_lines(index: Mapping[int, int], headings: Iterable[Heading]) -> dict[int, Heading]:
    """Position of a heading's first line → heading, in order. Headings on lines that were left out are dropped.

    Args:
        index: Line number in the file → position.
        headings: Of the note, as the parser gave them.
    """
    found = {index[heading.line]: heading for heading in headings if heading.line in index}
    return dict(sorted(found.items()))


def heading_ends(lines: Sequence[str], headings: Mapping[int, Heading]) -> dict[int, int]:
    """Position of a heading's first line → position of its last: a setext heading includes its underline."""
    ends = {}
    for position in headings:
        following = range(position + 1, min(position + 4, len(lines)))
        setext = not _ATX.match(lines[position])
        ends[position] = next((at for at in following if setext and _UNDERLINE.fullmatch(lines[at])), position)
    return ends


def split_sections(
    lines: Sequence[str],
    headings: Mapping[int, Heading],
    *,
    ends: Mapping[int, int],
    fences: Sequence[int],
    section_tags: Sequence[str],
) -> list[Section]:
    """Cut a note at its headings and at the lines that start with a section tag.

    A tag line holds until the next tag line or heading; a tag in front of a list item's text holds for that item; a
    tag at the start of a heading holds for everything under the heading. Sections without content join the next one,
    at the end of the note the one before.

    Args:
        lines: Of the whole note.
        headings: What `heading_lines` gave.
        ends: What `heading_ends` gave.
        fences: What `blocks.fence_ids` gave; a tag in code opens nothing.
        section_tags: With or without "#", compared without regard to case; nested tags count. Empty: headings only.
    """
    scanner = _Scanner(lines, headings, fences, {tag_key(tag): f"#{tag.lstrip('#')}" for tag in section_tags})
    borders = [section for at in range(len(lines)) if (section := scanner.border(at, ends)) is not None]
    if not lines:
        return []
    if not borders or borders[0].first > 0:
        borders.insert(0, Section.spanning(0, 0))
    stops = [section.first for section in borders[1:]] + [len(lines)]
    sections = [replace(section, end=stop, own_end=stop) for section, stop in zip(borders, stops, strict=True)]
    return _join_empty(lines, sections, scanner)


class _Scanner:
    """Walks down the lines and remembers under which headings and tags it is."""

    def __init__(
        self, lines: Sequence[str], headings: Mapping[int, Heading], fences: Sequence[int], tags: Mapping[str, str]
    ) -> None:
        self._lines = lines
        self._headings = headings
        self._fences = fences
        self._tags = tags
        self._above: list[Heading] = []
        self._heading_tag: tuple[str, int] = ("", 0)
        self._item_indent: int | None = None

    def border(self, at: int, ends: Mapping[int, int]) -> Section | None:
        """The section that begins at this line, its end still open."""
        if at in self._headings:
            self._enter(self._headings[at])
            self._item_indent = None
            return self._section(at, ends[at] + 1, self._heading_tag[0])
        if not self._tags or self._fences[at]:
            return None
        if (mark := self.tag_line(at)) is not None:
            self._item_indent = mark.item_indent
            return self._section(at, at, mark.name)
        if self._item_indent is not None and self._leaves_item(at, self._item_indent):
            self._item_indent = None
            return self._section(at, at, self._heading_tag[0])
        return None

    def tag_line(self, at: int) -> _TagLine | None:
        """The section tag at the start of this line, if there is one."""
        match = _TAG_LINE.match(self._lines[at]) if "#" in self._lines[at] else None
        if match is None or not (name := self._configured(match)):
            return None
        alone = not match["rest"].strip()
        indent = indentation(self._lines[at])
        if match["item"] is None:
            return _TagLine(name, alone, None)
        return _TagLine(name, alone, indent if not alone or self._has_children(at, indent) else None)

    def _section(self, first: int, content: int, tag: str) -> Section:
        return Section(first, 0, first, 0, content, tuple(heading.text for heading in self._above), tag)

    def _enter(self, heading: Heading) -> None:
        while self._above and self._above[-1].level >= heading.level:
            self._above.pop()
        self._above.append(heading)
        match = _TAG_LINE.match(heading.text) if self._tags else None
        if match and (name := self._configured(match)):
            self._heading_tag = (name, heading.level)
        elif heading.level <= self._heading_tag[1]:
            self._heading_tag = ("", 0)

    def _configured(self, match: re.Match[str]) -> str:
        tag = match["tag"].rstrip("_") if match["bold"] else match["tag"]
        return next((self._tags[key] for key in tag_lineage(tag) if key in self._tags), "")

    def _has_children(self, at: int, indent: int) -> bool:
        following = next((line for line in self._lines[at + 1 : at + 4] if line.strip()), "")
        return indentation(following) > indent

    def _leaves_item(self, at: int, indent: int) -> bool:
        line = self._lines[at]
        if not line.strip() or indentation(line) > indent:
            return False
        return LIST_ITEM.match(line) is not None or not self._lines[at - 1].strip()


def _join_empty(lines: Sequence[str], sections: Sequence[Section], scanner: _Scanner) -> list[Section]:
    """Join sections without content to the next one; at the end of the note to the one before."""
    joined: list[Section] = []
    start: int | None = None
    for section in sections:
        start = section.first if start is None else start
        if _has_content(lines, section, scanner):
            joined.append(replace(section, first=start))
            start = None
    if start is None:
        return joined
    if joined:
        joined[-1] = replace(joined[-1], end=len(lines))
        return joined
    return [Section.spanning(start, len(lines))] if any(line.strip() for line in lines) else []


def _has_content(lines: Sequence[str], section: Section, scanner: _Scanner) -> bool:
    first = section.content
    if section.tag and first == section.first:  # a tag line, not a heading
        mark = scanner.tag_line(first)
        first += 1 if mark is not None and mark.alone else 0
    return any(lines[at].strip() for at in range(first, section.end))
