"""Breaks text into lines at the borders of words, also while it is still being written."""

import re

from rich.cells import cell_len, chop_cells

# Scripts without spaces may be broken after any character, but not before a closing mark.
_UNSPACED = r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff]"
_CLOSING = r"[、。，．！？；：」』）】》〉,.!?;:)\]]*"
_PIECES = re.compile(rf"\n|[^\S\n]+|{_UNSPACED}{_CLOSING}|(?:(?!{_UNSPACED})\S)+")

_TAB = "    "


class Wrapping:
    """Wraps one text. A word is held back until it is whole.

    Args:
        width: Cells of a line.
    """

    def __init__(self, width: int) -> None:
        self._width = max(1, width)
        self._column = 0
        self._space = ""
        self._held = ""

    def feed(self, text: str) -> str:
        """The next piece of the text; returns what can be shown now."""
        pieces = _PIECES.findall(self._held + text.replace("\t", _TAB))
        self._held = "" if not pieces or pieces[-1].isspace() else pieces.pop()
        return "".join(map(self._place, pieces))

    def flush(self) -> str:
        """The text has ended; returns the rest."""
        held, self._held = self._held, ""
        return self._place(held) if held else ""

    def _place(self, piece: str) -> str:
        if piece == "\n":
            self._column, self._space = 0, ""
            return piece
        if piece.isspace():
            self._space += piece
            return ""
        space, self._space = self._space, ""
        cells = len(space) + cell_len(piece)
        if self._column + cells <= self._width:
            self._column += cells
            return space + piece
        parts = chop_cells(piece, self._width)
        opening = "\n" if self._column else ""
        self._column = cell_len(parts[-1])
        return opening + "\n".join(parts)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a whole text."""
    wrapping = Wrapping(width)
    return (wrapping.feed(text) + wrapping.flush()).split("\n")
