"""Which text of a note is worth searching: everything a reader sees, without data that only programs read.

Kept as written, so that a found passage reads like the note. Cut: HTML and %% comments, data addresses and long
base64 runs wherever they stand, drawing data, block ids, the type mark of callouts.
"""

import re
from collections.abc import Sequence

from companion_assets.contracts.records import Note
from companion_assets.stages.markdown_structure import Structure

MIN_BLOB = 60  # characters; shorter runs may be words, hashes or paths
MAX_SLASH_SHARE = 1 / 16  # of a blob's characters; base64 has 1 in 64, a path more

_DATA_IMAGE = re.compile(r"!\[([^\[\]]*)\]\(\s*<?data:[^)\s]*\)?")
_DATA_ADDRESS = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.=+-]+)*,[^\s)\"'>\]]*")
_BLOB = re.compile(rf"[A-Za-z0-9+/]{{{MIN_BLOB},}}={{0,2}}")
_CALLOUT = re.compile(r"((?:\s*>)+\s*)\[![^\[\]]+\][+-]?[ \t]*")
_BLOCK_ID = re.compile(r"(?:^|\s+)\^[A-Za-z0-9-]+\s*$")
_DRAWING_BANNER = "EXCALIDRAW VIEW"  # the line the plugin writes above the text of a drawing
_DRAWING_LANGUAGES = ("compressed-json", "json")


def index_text(note: Note) -> str:
    """The searched text of a note as one string, line for line like its body."""
    return "\n".join(note.index_lines)


def index_lines(lines: Sequence[str], structure: Structure, *, drawing: bool) -> tuple[str, ...]:
    """The searched text of each body line.

    Args:
        lines: The body's lines.
        structure: What was found in them.
        drawing: The note is an Excalidraw drawing.
    """
    shown = list(lines)
    for at, pieces in structure.cuts.items():
        shown[at] = _without(shown[at], pieces)
    code = {at for fence in structure.code for at in fence.lines}
    shown = [_without_data(line if at in code else _without_marks(line)) for at, line in enumerate(shown)]
    for hidden in _hidden(lines, structure, drawing):
        for at in hidden:
            shown[at] = ""
    return tuple(shown)


def _hidden(lines: Sequence[str], structure: Structure, drawing: bool) -> list[range]:
    hidden = structure.hidden + [fence.lines for fence in structure.code if fence.language == "compressed-json"]
    if drawing:
        hidden += [fence.lines for fence in structure.code if fence.language in _DRAWING_LANGUAGES]
        hidden += [range(at, at + 1) for at, line in enumerate(lines) if _DRAWING_BANNER in line]
    return hidden


def _without(line: str, pieces: Sequence[str]) -> str:
    """The line without the pieces, which stand on it in this order; from the right, behind any block markers."""
    kept, end = [], len(line)
    for piece in reversed(pieces):
        at = line.rfind(piece, 0, end)
        if at >= 0:
            kept.append(line[at + len(piece) : end])
            end = at
    return line[:end] + "".join(reversed(kept))


def _without_marks(line: str) -> str:
    if "[!" in line:
        line = _CALLOUT.sub(r"\1", line, count=1) if _CALLOUT.match(line) else line
    return _BLOCK_ID.sub("", line) if "^" in line else line


def _without_data(line: str) -> str:
    if "data:" in line:
        line = _DATA_ADDRESS.sub("", _DATA_IMAGE.sub(r"\1", line))
    if len(line) < MIN_BLOB:
        return line
    return _BLOB.sub(lambda run: "" if _is_blob(run[0]) else run[0], line)


def _is_blob(run: str) -> bool:
    mixed = not run.islower() and not run.isupper() and any(character.isdigit() for character in run)
    return mixed and run.count("/") <= len(run) * MAX_SLASH_SHARE
