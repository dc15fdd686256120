"""What stands in the body of a note, with lines of the file: one walk over the block tokens."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from companion_assets.contracts.records import Heading, Link, Task
from companion_assets.stages.inline_text import scan_inline
from companion_assets.stages.markdown_blocks import parse_blocks

_TASK = re.compile(r"\[(.)\][ \t]+(.*?)(?:(?:^|\s)\^[A-Za-z0-9-]+)?\s*")  # a block id is not part of the text
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of code; `lines` are 0-based positions in the body, `language` the first word of its info."""

    lines: range
    language: str = ""


@dataclass(slots=True)
class Structure:
    """What the walk found.

    Attributes:
        tags: In order, repeats included.
        code: Fenced and indented code and math blocks.
        hidden: Ranges of body lines (0-based) inside %% comment blocks.
        cuts: Body line (0-based) → pieces of it, in order, that are comments.
    """

    headings: list[Heading] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    code: list[Fence] = field(default_factory=list)
    hidden: list[range] = field(default_factory=list)
    cuts: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))


def read_structure(body: str, body_line: int) -> Structure:
    """Read the body of a note.

    Args:
        body: Text with LF line ends.
        body_line: 1-based line of the file on which it starts.
    """
    walk = _Walk(body.split("\n"), body_line)
    for token in parse_blocks(body):
        walk.visit(token)
    return walk.structure


class _Walk:
    def __init__(self, lines: Sequence[str], body_line: int) -> None:
        self.structure = Structure()
        self._lines = lines
        self._body_line = body_line
        self._comment_depth = 0
        self._heading: int | None = None  # level of the heading whose text comes next
        self._item_starts = False  # the next text is the first of a list item
        self._in_table = False

    def visit(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._inline(token)
        elif kind in ("fence", "code_block", "math_block"):
            language = token.info.split(maxsplit=1)[0].lower() if token.info.strip() else ""
            self.structure.code.append(Fence(range(*_lines_of(token)), language))
        elif kind == "html_block":
            self._html(token)
        elif kind == "comment_open":
            self._comment_depth += 1
            self.structure.hidden.append(range(*_lines_of(token)))
        elif kind == "comment_close":
            self._end_comment(token)
        elif kind == "heading_open" and token.level == 0:  # inside a quote or list it parts no section
            self._heading = int(token.tag[1:])
        elif kind in ("table_open", "table_close"):
            self._in_table = kind == "table_open"
        self._item_starts = kind == "list_item_open" or (self._item_starts and kind == "paragraph_open")

    def _inline(self, token: Token) -> None:
        start = _lines_of(token)[0]
        facts = scan_inline(token.content, self._body_line + start)
        self.structure.links += facts.links
        self.structure.tags += facts.tags
        self._cut(start, token.content, facts.hidden)
        level, self._heading = self._heading, None
        if self._comment_depth:
            return
        if not self._in_table:
            self.structure.blocks += facts.blocks
        if level and token.content:
            text = token.content.replace("\n", " ")
            self.structure.headings.append(Heading(level, text, self._body_line + start))
        elif self._item_starts:
            self._task(token.content, start)

    def _task(self, content: str, start: int) -> None:
        first = content.partition("\n")[0]
        if self._lines[start][-1:].isspace():
            first += " "  # an empty task is one only with a space behind its box, which markdown-it strips
        if found := _TASK.fullmatch(first):
            self.structure.tasks.append(Task(found[1], found[2], self._body_line + start))

    def _cut(self, start: int, text: str, hidden: Iterable[tuple[int, int]]) -> None:
        """Note the hidden spans of a text that starts on body line `start`, line by line."""
        line, position = start, 0
        for begin, end in sorted(hidden):
            if begin < position:
                continue  # inside the one before
            line += text.count("\n", position, begin)
            for offset, piece in enumerate(text[begin:end].split("\n")):
                self.structure.cuts[line + offset].append(piece)
            line, position = line + text.count("\n", begin, end), end

    def _end_comment(self, token: Token) -> None:
        self._comment_depth -= 1
        if token.content and not self._comment_depth:  # text behind the closing mark is shown
            comment = self.structure.hidden[-1]
            self.structure.hidden[-1] = range(comment.start, comment.stop - 1)
            last = comment.stop - 1
            self.structure.cuts[last].append(self._lines[last].rpartition(token.content)[0])

    def _html(self, token: Token) -> None:
        start, end = _lines_of(token)
        text = "\n".join(self._lines[start:end])
        self._cut(start, text, (comment.span() for comment in _HTML_COMMENT.finditer(text)))


def _lines_of(token: Token) -> tuple[int, int]:
    start, end = token.map or (0, 0)
    return start, end
