"""Quoted phrases and written tags: where they stand in a question."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

Span = tuple[int, int]

# Opening sign → closing signs. Of single quotes nobody can tell which are apostrophes.
_CLOSING = {
    "„": '“”"',
    "“": '”"',
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "《": "》",
    "＂": "＂",
    '"': '"',
}
_LONGEST = 500  # characters; what is longer is a text in quotes, not a phrase
_OPENING = re.compile("[" + "".join(_CLOSING) + "]")
_TAG = re.compile(
    r"[^\s\x00-\x1f\x7f!-,.:-@\[-^`{-~\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u3020\uff00-\uff0f\uff1a-\uff20]+"
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted phrase. `start` and `end` include the quotes, `text` does not."""

    start: int
    end: int
    text: str


def quotes(text: str) -> list[Quote]:
    """The quoted phrases of a text, in order; a quote that is not closed, or closes nothing, is text."""
    found: list[Quote] = []
    at = 0
    while opening := _OPENING.search(text, at):
        start, at = opening.start(), opening.end()
        closers = re.compile(f"[{_CLOSING[opening[0]]}]")
        closing = closers.search(text, at, at + _LONGEST) if _may_open(text, start) else None
        if closing and (inside := text[at : closing.start()].strip(" \t\n.,;")):  # some write stops inside
            found.append(Quote(start, closing.end(), inside))
        at = closing.end() if closing else at
    return found


def _may_open(text: str, start: int) -> bool:
    """A straight quote opens no phrase behind a letter of a spaced script or a digit: it is that of 5"."""
    before = text[start - 1 : start]
    return text[start] != '"' or not before.isalnum() or before > "\u2e80"


def tag_at(text: str, at: int, *, marked: bool = True) -> int | None:
    """End of the tag whose `#` is at `at`; None if there is no tag.

    Args:
        text: Any text.
        at: Place of the `#`.
        marked: The `#` must be there; without, the tag begins after `at` all the same.
    """
    if marked and text[at : at + 1] != "#":
        return None
    match = _TAG.match(text, at + 1)
    return match.end() if match and match[0].strip("0123456789-/_") else None


def within(at: int, spans: Iterable[Span]) -> bool:
    """Whether a place lies in one of the spans."""
    return any(start <= at < end for start, end in spans)
