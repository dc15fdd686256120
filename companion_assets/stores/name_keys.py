"""Names as they are compared: words without what stands between them, folded.

"Dr. Pinto", "Moby-Dick" and "🎻 Things people say" are found as `dr pinto`, `moby dick` and `things people say`. A word
of Chinese, Japanese, Korean, Thai, Lao, Khmer or Burmese has no borders: there every sign is a unit of its own, and
between such units stands nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from companion_assets.stores.folding import fold

# Scripts written without spaces; Korean has spaces, but particles are tied to its names.
_UNSPACED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uac00-\ud7a3\uff66-\uff9d\u0e01-\u0e2e\u0e2f\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6"
    "\u1000-\u102a\u1780-\u17b3\U00020000-\U0003ffff"
)
# Signs that belong to the one before them.
_TIED = (
    "\u3099\u309a\uff9e\uff9f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
)
# All that is no part of a word: white space, punctuation, symbols, pictures, control characters.
_BETWEEN = (
    r"\s\x00-/:-@\[-`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf×÷\u02c2-\u02df\u060c\u061b\u061f\u06d4\u0964\u0965\u2000-\u206f"
    r"\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\ufe10-\ufe6f\uff00-\uff0f"
    r"\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ud800-\udfff\ufffd\U0001f000-\U0001faff"
)
_APOSTROPHES = "'’ʼ"
_LETTER = rf"[^{_BETWEEN}{_UNSPACED}]"
_UNIT = re.compile(
    rf"(?P<sign>[{_UNSPACED}][{_TIED}]*)|{_LETTER}+(?:[{_APOSTROPHES}]{_LETTER}+)*(?:\+\+?|\#(?!{_LETTER}))?"
)
_LEVEL = str.maketrans(dict.fromkeys(_APOSTROPHES, "'"))


@dataclass(frozen=True, slots=True)
class Unit:
    """A word, or a sign of a script without spaces.

    Attributes:
        start, end: Where it stands in the text, end exclusive.
        text: Folded.
        spaced: It is a word.
    """

    start: int
    end: int
    text: str
    spaced: bool


def units(text: str, most: int | None = None) -> list[Unit]:
    """The words and signs of a text, in order; of a long text the first `most`."""
    found: list[Unit] = []
    for match in _UNIT.finditer(text):
        if len(found) == most:
            break
        found.append(Unit(match.start(), match.end(), fold(match[0]).translate(_LEVEL), match["sign"] is None))
    return found


def joined(parts: Sequence[Unit]) -> str:
    """The key of a run of units."""
    key = parts[0].text
    for before, part in pairwise(parts):
        key += f" {part.text}" if before.spaced or part.spaced else part.text
    return key


@lru_cache(4096)  # the names of a vault come again and again
def name_key(name: str) -> str:
    """What a name is found by. A name without letters stands for itself, folded."""
    parts = units(name)
    return joined(parts) if parts else " ".join(fold(name).replace("\0", "").split())


def file_key(target: str) -> str:
    """What the target of a link is found by: the key of the name it ends in, whatever the folders before."""
    return name_key(file_name(target))


def file_name(target: str) -> str:
    """The name that the target of a link ends in, without `.md`."""
    name = target.rstrip("/").rpartition("/")[2].strip()
    return name[:-3] if name[-3:].lower() == ".md" else name


def unique(keys: Iterable[str]) -> tuple[str, ...]:
    """Each key once, in order, without the empty one."""
    return tuple(dict.fromkeys(key for key in keys if key))
