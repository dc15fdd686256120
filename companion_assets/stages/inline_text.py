"""What Obsidian reads inside a run of text: links, tags, block ids and comments.

One regular expression walks from one special character to the next; what it cannot decide alone (code spans,
comments, Markdown links) is decided here. Written for one pass: every alternative is possessive and ends at the next
character of its own kind, closers of code spans are looked up, and an HTML comment without end is looked for once,
so 100,000 brackets or backticks in one line cost what 100,000 letters cost. markdown-it's own inline rules look
ahead to the end of the text for every bracket.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field

from companion_assets.contracts.records import Link
from companion_assets.stages.links import WIKILINK_PATTERN, link_destination, markdown_link, wikilink
from companion_assets.stages.tags import TAG_PATTERN, clean_tag

MAX_DISPLAY = 1_000  # characters of a link's text that are kept

_SPECIAL = re.compile(
    rf"""
    \\[!-/:-@\[-`{{-~]                                              # an escaped character
    | `++                                                           # a code span, or loose backticks
    | <!--
    | </?[A-Za-z][A-Za-z0-9-]*+                                     # an HTML tag
      (?:\s++[A-Za-z_:@][\w:.@-]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?+)*+\s*+/?>
    | <[A-Za-z][A-Za-z0-9+.-]++:[^\s<>]*+>                          # an address in angle brackets
    | %%
    | \$\$(?:[^$\\]|\\.)++\$\$                                      # math
    | \$(?![\s$])(?:[^$\\\n]|\\.)++(?<!\s)\$(?!\d)
    | {WIKILINK_PATTERN}
    | !?\[ | \]                                                     # ends of a Markdown link's text
    | {TAG_PATTERN}
    | (?<!\S)\^(?P<block>[A-Za-z0-9-]++)[ \t]*+(?=\n|\Z)
    """,
    re.VERBOSE,
)
_BACKTICKS = re.compile(r"`+")


@dataclass(slots=True)
class InlineFacts:
    """What a run of text holds.

    Attributes:
        hidden: Spans of the text (start, end) that Obsidian does not show: HTML and %% comments.
    """

    tags: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)


def scan_inline(text: str, line: int) -> InlineFacts:
    """Read a run of inline text.

    Args:
        text: Content of a paragraph, heading or table cell, without block markers.
        line: 1-based line of the file on which the text starts.
    """
    scanner = _Scanner(text, line)
    position = 0
    while match := _SPECIAL.search(text, position):
        position = scanner.step(match)
    return scanner.facts()


class _Scanner:
    """The state of one pass. `step` takes a match and returns where to go on."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._line = line
        self._facts = InlineFacts()
        self._links: list[tuple[int, Link]] = []
        self._openers: list[tuple[int, bool]] = []  # where the text of a possible link starts; is it an image?
        self._comment_start: int | None = None
        self._no_comment_end = False
        self._code_runs: dict[int, list[int]] | None = None
        self._line_ends: list[int] | None = None

    def facts(self) -> InlineFacts:
        self._links.sort(key=lambda found: found[0])
        self._facts.links = [link for _, link in self._links]
        return self._facts

    def step(self, match: re.Match[str]) -> int:
        if (tag := match["tag"]) is not None:
            if kept := clean_tag(tag):
                self._facts.tags.append(kept)
        elif (inner := match["wiki"]) is not None:
            self._add(match.start(), wikilink(inner, embed=bool(match["embed"]), line=self._line_of(match.start())))
        elif (block := match["block"]) is not None:
            self._facts.blocks.append(block)
        else:
            return self._step_over(match)
        return match.end()

    def _step_over(self, match: re.Match[str]) -> int:
        found = match[0]
        if found[0] == "`":
            return self._end_of_code(match)
        if found == "<!--":
            return self._end_of_comment(match)
        if found == "%%":
            self._toggle_comment(match)
        elif found in ("[", "!["):
            self._openers.append((match.end(), found == "!["))
        elif found == "]" and self._openers:
            return self._end_of_link(match)
        return match.end()

    def _end_of_code(self, match: re.Match[str]) -> int:
        if self._code_runs is None:
            self._code_runs = defaultdict(list)
            for run in _BACKTICKS.finditer(self._text):
                self._code_runs[len(run[0])].append(run.start())
        length = len(match[0])
        runs = self._code_runs.get(length, [])
        closer = bisect_left(runs, match.end())
        return runs[closer] + length if closer < len(runs) else match.end()

    def _end_of_comment(self, match: re.Match[str]) -> int:
        end = -1 if self._no_comment_end else self._text.find("-->", match.end())
        if end < 0:
            self._no_comment_end = True
            return match.end()
        self._facts.hidden.append((match.start(), end + 3))
        return end + 3

    def _toggle_comment(self, match: re.Match[str]) -> None:
        # Links and tags inside count, as in Obsidian's own cache; the text is not shown.
        if self._comment_start is None:
            self._comment_start = match.start()
        else:
            self._facts.hidden.append((self._comment_start, match.end()))
            self._comment_start = None

    def _end_of_link(self, match: re.Match[str]) -> int:
        start, image = self._openers.pop()
        destination = link_destination(self._text, match.end())
        if destination is None:
            return match.end()
        text = self._text[start : min(match.start(), start + MAX_DISPLAY)]
        self._add(start, markdown_link(text, destination[0], embed=image, line=self._line_of(start)))
        if not image:
            self._openers.clear()  # a link holds no links
        return destination[1]

    def _add(self, start: int, link: Link | None) -> None:
        if link is not None:
            self._links.append((start, link))

    def _line_of(self, position: int) -> int:
        if self._line_ends is None:
            self._line_ends = [at for at, character in enumerate(self._text) if character == "\n"]
        return self._line + bisect_left(self._line_ends, position)
