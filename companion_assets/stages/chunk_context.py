"""What a chunk knows about itself beside its text: tags, links, people, and the line of context it is embedded with."""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence

from companion_assets.backends.protocols import Tokenizer
from companion_assets.contracts.records import Link, Note
from companion_assets.stages.chunk_rules import tag_key
from companion_assets.stages.source_text import SourceText
from companion_assets.stages.tags import TAG_PATTERN, property_tags

PeopleResolver = Callable[[Sequence[Link]], tuple[str, ...]]
"""People that some links of a note lead to."""

_TAG = re.compile(TAG_PATTERN)


class NoteTags:
    """Which tags of a note stand where. The parser says what is a tag (not in code, not in comments)."""

    def __init__(self, note: Note, body: SourceText, *, headings: Container[int], section_tags: Iterable[str]) -> None:
        """Find the tags that are meant for the whole note.

        Those are the tags of the frontmatter, those on lines of nothing but tags at the head and at the foot of the
        note, and those seen nowhere in the text.

        Args:
            note: As the parser gave it.
            body: Its lines that go to the index.
            headings: Positions of headings; they may stand above such a line.
            section_tags: Are meant for their section, wherever they stand.
        """
        self._written = {tag_key(tag): tag for tag in note.tags}
        placed = set(self.inline(body.text))
        wide = {tag_key(tag) for tag in property_tags(note.properties)}
        own = {tag_key(tag) for tag in section_tags}
        for order in (range(len(body.lines)), reversed(range(len(body.lines)))):
            for at in order:
                words = body.lines[at].split()
                if not words or at in headings:
                    continue
                keys = {tag_key(word) for word in words}
                if not all(word.startswith("#") for word in words) or not keys <= self._written.keys() or keys & own:
                    break
                wide |= keys
        self._wide = [key for key in self._written if key in wide or key not in placed]

    def inline(self, text: str) -> tuple[str, ...]:
        """Keys of the tags that stand in this text."""
        keys = (tag_key(match["tag"]) for match in _TAG.finditer(text))
        return tuple(dict.fromkeys(key for key in keys if key in self._written))

    def of_chunk(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Tags of the note as a whole and those of a chunk, each once, in the note's writing."""
        return tuple(self._written[key] for key in dict.fromkeys([*self._wide, *keys]) if key in self._written)


class NoteLinks:
    """The links of a note by line; on a line that is cut into several chunks, by their place in it."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._by_line: dict[int, list[Link]] = defaultdict(list)
        for link in links:
            self._by_line[link.line].append(link)
        self._columns: dict[int, list[int]] = {}

    def within(self, source: SourceText, start: int, end: int) -> list[Link]:
        """Links between two offsets of the source."""
        found: list[Link] = []
        for at in range(source.position(start), source.position(end - 1) + 1):
            number = source.numbers[at]
            if links := self._by_line.get(number):
                places = self._places(number, source.lines[at])
                low, high = start - source.starts[at], end - source.starts[at]
                found += [link for link, place in zip(links, places, strict=True) if low <= place < high]
        return found

    def _places(self, number: int, line: str) -> list[int]:
        """Columns of the links of a line. One not written like its target is put behind the one before."""
        if number not in self._columns:
            columns: list[int] = []
            for link in self._by_line[number]:
                after = columns[-1] + 1 if columns else 0
                columns.append(max(line.find(link.target, after), min(after, len(line) - 1), 0))
            self._columns[number] = columns
        return self._columns[number]


def link_paths(links: Iterable[Link]) -> tuple[str, ...]:
    """Where the links lead: the resolved path, or the target as written."""
    return tuple(dict.fromkeys(path for link in links if (path := link.resolved or link.target)))


def wikilink_targets(links: Iterable[Link]) -> tuple[str, ...]:
    """Targets of wikilinks to notes; pictures and other embedded things are not what a text is about."""
    about = (link for link in links if link.kind != "markdown" and not link.embed)
    return tuple(dict.fromkeys(link.target for link in about if link.target))


def own_name(note: Note) -> str:
    """What a note calls itself in its own text: its `title` property, its first big heading, or its first alias."""
    title = note.properties.get("title")
    headings = (heading.text for heading in note.headings if heading.level == 1)
    return title if isinstance(title, str) else next(headings, next(iter(note.aliases), ""))


def context_line(name: str, path: Sequence[str], tag: str, tokenizer: Tokenizer, most: int) -> str:
    """The line a chunk is embedded with: the note's own name, headings, section tag.

    Nothing that comes from the file's name, neither title nor day: a renamed note keeps its vectors. The search finds
    file names by their words (see `docs/adr/0008-names-are-not-embedded.md`).

    Args:
        name: As `own_name` gave it. A heading that begins with it stands for it.
        path: Headings above the chunk, outermost first.
        tag: The section tag, or "".
        tokenizer: The embedder's own.
        most: Tokens it may have. Outer headings are dropped first, then it is cut.
    """
    parts = [*path, *([tag.lstrip("#")] if tag else [])]
    if name and not (parts and _begins_with(parts[0], name)):
        parts = [name, *parts]
    while len(parts) > 2 and tokenizer.count(_joined(parts)) > most:
        del parts[1]
    line = _joined(parts)
    return line if tokenizer.count(line) <= most else _cut(line, most, tokenizer)


def _begins_with(heading: str, name: str) -> bool:
    words = name.casefold().split()
    return heading.casefold().split()[: len(words)] == words


def _joined(parts: Iterable[str]) -> str:
    return " > ".join(part for part in parts if part)


def _cut(line: str, most: int, tokenizer: Tokenizer) -> str:
    spans = tokenizer.spans(line[: 16 * most])
    return line[: spans[most - 1][1]] if len(spans) >= most > 0 else line[: 16 * most]
