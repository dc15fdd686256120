"""Where sentences end, in any script, by punctuation alone: no model, no dictionary, linear time."""

import re
from collections.abc import Iterator

_CLOSERS = "\"'”’»)\\]}」』）》】〉*_"
# Ends that need no blank after them: Chinese and Japanese, Arabic and Urdu, Indic, Ethiopic, Burmese, Khmer,
# Tibetan, Armenian. Thai and Lao have no full stop; there a blank ends a clause.
_BORDER = re.compile(
    rf"(?:[。！？｡؟۔।॥።။។།։]|．(?!\d))[。！？…]*[{_CLOSERS}]*\s*"
    rf"|(?<![.!?…‽])(?P<latin>[.!?…‽]++)[{_CLOSERS}]*+\s++(?=\S)"
    r"|(?<=[\u0e00-\u0eff])[ \u00a0]+(?=[\u0e00-\u0eff])"
)
_LAST_WORD = re.compile(r"\w+$")
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "nr", "no", "vs", "sr", "sra", "mme", "bzw", "ca", "etc"})


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences of `text`, without the blanks around them.

    A wrongly seen border is harmless (a chunk may begin there); a missed one only makes a longer sentence.
    """
    return [(start, end) for start, end in _between(text) if start < end]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at both its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _between(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for border in _BORDER.finditer(text):
        if border["latin"] and not _ends_sentence(text, border):
            continue
        yield trimmed(text, start, border.end())
        start = border.end()
    yield trimmed(text, start, len(text))


def _ends_sentence(text: str, border: re.Match[str]) -> bool:
    if text[border.end()].islower():
        return False
    if border["latin"] != ".":
        return True
    # An initial ("J. Smith"), a title ("Dr. Li") or an ordinal ("am 3. Oktober") is no end.
    word = _LAST_WORD.search(text, max(0, border.start() - 12), border.start())
    if word is None:
        return True
    last = word.group()
    ordinal = last.isdecimal() and len(last) <= 2
    initial = len(last) == 1 and last.isupper()
    return not (ordinal or initial or last.casefold() in _TITLES)
