"""The blocks of a Markdown text: paragraphs, lists, tables, code, quotes, each a range of whole lines."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

LIST_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d{1,9}[.)])(?:\s+|$)")
_FENCE = re.compile(r"(?P<prefix>[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_TABLE_RULE_CHARACTERS = frozenset("|:- \t")


class Kind(StrEnum):
    """What a block is made of; this decides where it may be cut."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `first` to `last` (positions, both included). No blank line at either end."""

    kind: Kind
    first: int
    last: int


def fence_ids(lines: Sequence[str], breaks: Mapping[int, int] | None = None) -> list[int]:
    """For each line the number of the fenced code block that it belongs to, 0 for none.

    Args:
        lines: Of a whole text, or of one block.
        breaks: Positions of headings (by the parser's word): an open fence ends there.
    """
    ids = [0] * len(lines)
    fence, current, opened = "", 0, 0
    for position, line in enumerate(lines):
        if breaks and position in breaks:
            fence, current = "", 0
            continue
        match = _FENCE.match(line)
        if current:
            ids[position] = current
            if match and match["fence"].startswith(fence) and not match["info"].strip():
                fence, current = "", 0
        elif match and not ("`" in match["fence"] and "`" in match["info"]):
            opened += 1
            fence, current = match["fence"], opened
            ids[position] = current
    return ids


def read_blocks(
    lines: Sequence[str], first: int, end: int, *, fences: Sequence[int], headings: Mapping[int, int]
) -> list[Block]:
    """The blocks of a part of a text, in order.

    Args:
        lines: The whole text.
        first: Position of the part's first line.
        end: Position behind its last line.
        fences: What `fence_ids` gave for all lines.
        headings: Position of a heading's first line → position of its last (a setext heading has more than one).
    """
    reader = _Reader(lines, end, fences, headings)
    blocks = []
    position = first
    while position < end:
        if not lines[position].strip():
            position += 1
            continue
        kind = reader.kind(position)
        last = end_line = reader.last_line(kind, position)
        while not lines[last].strip():  # code that is never closed ends in blank lines
            last -= 1
        blocks.append(Block(kind, position, last))
        position = end_line + 1
    return blocks


def indentation(line: str) -> int:
    """Columns of white space at the start of a line; a tab counts as four."""
    expanded = line[: len(line) - len(line.lstrip())].expandtabs(4)
    return len(expanded)


@dataclass(frozen=True, slots=True)
class _Reader:
    lines: Sequence[str]
    end: int
    fences: Sequence[int]
    headings: Mapping[int, int]

    def kind(self, at: int) -> Kind:
        """What begins at this line."""
        line = self.lines[at]
        if at in self.headings:
            return Kind.HEADING
        if self.fences[at]:
            # A fence behind a list marker is part of the item.
            return Kind.LIST if LIST_ITEM.match(line) and not self._in_fence_of(at - 1, at) else Kind.CODE
        if is_rule(line):
            return Kind.RULE
        if LIST_ITEM.match(line):
            return Kind.LIST
        if line.lstrip().startswith(">"):
            return Kind.QUOTE
        return Kind.TABLE if self._opens_table(at) else Kind.PARAGRAPH

    def last_line(self, kind: Kind, first: int) -> int:
        """Position of the last line of the block of this kind that begins at `first`."""
        match kind:
            case Kind.HEADING:
                return min(self.headings[first], self.end - 1)
            case Kind.RULE:
                return first
            case Kind.LIST:
                return self._list_end(first)
        at = first + 1
        while at < self.end and self._continues(kind, first, at):
            at += 1
        return at - 1

    def _continues(self, kind: Kind, first: int, at: int) -> bool:
        if kind is Kind.CODE:
            return self._in_fence_of(first, at)
        if at in self.headings or self.fences[at] or not self.lines[at].strip():
            return False
        if kind is Kind.TABLE:
            return "|" in self.lines[at]
        if kind is Kind.QUOTE:
            return self.lines[at].lstrip().startswith(">")
        return self.kind(at) is Kind.PARAGRAPH

    def _list_end(self, first: int) -> int:
        """A list goes on over blank lines as long as items or indented lines follow."""
        last, blank = first, False
        for at in range(first + 1, self.end):
            line = self.lines[at]
            if at in self.headings:
                break
            if self.fences[at]:
                # Code inside an item is indented at its opening line, whatever its other lines do.
                if not (self._in_fence_of(last, at) or indentation(line) > 0 or LIST_ITEM.match(line)):
                    break
            elif not line.strip():
                blank = True
                continue
            elif indentation(line) == 0 and self._ends_list(at, blank):
                break
            last, blank = at, False
        return last

    def _ends_list(self, at: int, after_blank: bool) -> bool:
        kind = self.kind(at)
        return kind is not Kind.LIST and (after_blank or kind is not Kind.PARAGRAPH)

    def _in_fence_of(self, before: int, at: int) -> bool:
        return before >= 0 and self.fences[before] != 0 and self.fences[before] == self.fences[at]

    def _opens_table(self, at: int) -> bool:
        return "|" in self.lines[at] and at + 1 < self.end and is_table_rule(self.lines[at + 1])


def is_rule(line: str) -> bool:
    """True for a thematic break: three or more of the same `-`, `*` or `_`."""
    marks = "".join(line.split())
    return len(marks) >= 3 and marks[0] in "-*_" and not marks.strip(marks[0])


def is_table_rule(line: str) -> bool:
    """True for the line under the header of a table."""
    return "-" in line and "|" in line and _TABLE_RULE_CHARACTERS.issuperset(line)
