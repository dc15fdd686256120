"""The block structure of a note, by markdown-it, with Obsidian's two blocks of its own: %% comments and $$ math.

Only blocks are parsed; inline content stays text for `inline_text`. Link reference definitions are off, since they
would swallow a footnote that holds nothing but a link.
"""

from collections.abc import Callable
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

MAX_NESTING = 100  # levels of lists and quotes; deeper text stays text but is not looked into


def parse_blocks(body: str) -> list[Token]:
    """Block tokens of `body`, each with its lines in `map` (0-based, end exclusive).

    Beside markdown-it's own types there are `math_block`, `comment_open` and `comment_close`; the content of the
    last is the text behind the closing mark.
    """
    return _parser().parse(body, {})


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table").disable("reference")
    parser.core.ruler.enableOnly(["block"])
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("fence", "comment", _delimited("%%", _push_comment), interrupts)
    parser.block.ruler.before("fence", "math", _delimited("$$", _push_math), interrupts)
    return parser


def _delimited(mark: str, push: Callable[[StateBlock, int, int], None]) -> Callable[[StateBlock, int, int, bool], bool]:
    """The rule for a block that starts with a line starting with `mark` and ends with the next line holding it."""

    def rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        first = _line(state, start)
        if state.is_code_block(start) or not first.startswith(mark) or mark in first[len(mark) :]:
            return False
        last = _closing_line(state, mark, start, end)
        if last is None:
            return False
        if not silent:
            push(state, start, last)
            state.line = last + 1
        return True

    return rule


def _closing_line(state: StateBlock, mark: str, start: int, end: int) -> int | None:
    # Where the rest of the text holds no partner, that is found out once, not again for every such line.
    unclosed: dict[tuple[str, int], int] = state.env.setdefault("unclosed", {})
    if unclosed.get((mark, end), end) <= start:
        return None
    for line in range(start + 1, end):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return None  # the list item or quote ends here
        if mark in _line(state, line):
            return line
    unclosed[mark, end] = start
    return None


def _push_comment(state: StateBlock, start: int, last: int) -> None:
    state.push("comment_open", "", 1).map = [start, last + 1]
    _push_inline(state, _line(state, start).removeprefix("%%"), start)
    outer_end, state.lineMax = state.lineMax, last
    state.md.block.tokenize(state, start + 1, last)
    state.lineMax = outer_end
    before, _, behind = _line(state, last).partition("%%")
    _push_inline(state, before, last)
    close = state.push("comment_close", "", -1)
    close.map, close.content = [last, last + 1], behind.strip()
    _push_inline(state, behind, last)


def _push_inline(state: StateBlock, content: str, line: int) -> None:
    if content.strip():
        token = state.push("inline", "", 0)
        token.content = content.strip()
        token.map = [line, line + 1]


def _push_math(state: StateBlock, start: int, last: int) -> None:
    state.push("math_block", "", 0).map = [start, last + 1]
    _push_inline(state, _line(state, last).partition("$$")[2], last)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
