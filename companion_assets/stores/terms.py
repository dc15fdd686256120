"""The words of a text, as the word index counts them: cut by us, so that a note and a question are cut alike.

A dictionary segmenter reads 研究生命 now as 研究 + 生命, now as 研究生 + 命: what stands in a note is then not found by
its own words. Scripts without spaces are cut into overlapping pairs instead, other scripts into words. All other text
is separators: nothing that a person types can be an operator.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from companion_assets.stores.folding import fold, lower

_MARKS = "".join(
    chr(code)
    for start, end in ((0x300, 0x1E00), (0x3099, 0x309B), (0xA800, 0xAC00))
    for code in range(start, end)
    if unicodedata.category(chr(code)).startswith("M")
)
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\uac00-\ud7a3"
_THAI_LIKE = "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3\ua9e0-\ua9fe\uaa60-\uaa7f"  # Lao, Burmese, Khmer too
_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff"

LETTERS = rf"\w{_MARKS}"
"""Inside a pattern's brackets: what words are made of."""
_LETTER = f"[{LETTERS}]"
# "state-of-the-art", "v1.2", "4,200", "2:09:41", "12/03"; ".net", "c++", "c#".
_WORD = re.compile(
    rf"(?:(?<!{_LETTER})(?:[cdjlmnst]|qu)['’](?={_LETTER}))?"  # l'arbre, qu'il
    rf"(?P<dot>(?<![\w.])\.(?=[^\W\d]))?(?P<word>{_LETTER}+(?:(?:[-.‐‑]|(?<=\d)[,:/](?=\d)){_LETTER}+)*)"
    rf"(?P<sign>\+\+|\#(?!{_LETTER}))?(?:['’]s(?!{_LETTER}))?|[{_EMOJI}]"  # Anna's
)
_PART = re.compile(rf"{_LETTER}+")
_RUN = re.compile(
    rf"(?P<east>[{_HAN}{_KANA}{_HANGUL}]+)|(?P<thai>[{_THAI_LIKE}]+)|[^{_HAN}{_KANA}{_HANGUL}{_THAI_LIKE}]+"
)
_CLUSTER = re.compile(rf"[^{_MARKS}][{_MARKS}]*|[{_MARKS}]+")
_SIGN = re.compile(rf"[{_HAN}]|^[{_HANGUL}]")
TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
"""Katakana are counted as hiragana: りんご is リンゴ."""
_LONGEST = 40  # characters; longer "words" are encoded data
_REMEMBERED = 80  # characters; encoded data with joints may go on for megabytes, and does not come again


class Word(NamedTuple):
    """A word, or a run of signs between spaces of a script that has none.

    Attributes:
        terms: What it is counted as, folded: itself, or its overlapping pairs of signs.
        spelled: Lowered, with its accents, for a stemmer; "" where there is nothing to stem.
        signs: Chinese characters and the first Korean syllable, each of which may be a word.
        run: The Chinese, Japanese or Korean run itself, as it was written.
        whole: The words before it without their joints: no word of the text, and no phrase has it in its midst.
    """

    terms: Sequence[str]
    spelled: str = ""
    signs: Sequence[str] = ()
    run: str = ""
    whole: str = ""


def words(text: str) -> Iterator[Word]:
    """The words of a text, in order; of one with joints (`e-mail`, `4,200`) its parts, then the whole without them."""
    for match in _WORD.finditer(lower(text).replace("_", "-")):
        read = _known if len(match[0]) <= _REMEMBERED else _read
        yield from read(match[0], match["word"], bool(match["dot"] or match["sign"]))


def _read(written: str, joined: str | None, has_sign: bool) -> tuple[Word, ...]:
    if joined is None:
        return (Word((written,)),)
    found = [Word((fold(written[:_LONGEST]),))] if has_sign else []
    parts = _PART.findall(joined)
    for part in parts:
        if part.isascii():
            found.append(Word((part[:_LONGEST],), part[:_LONGEST]))
        else:
            found += _runs(part)
    if len(parts) > 1:
        found.append(Word((), whole=fold("".join(parts)[:_LONGEST])))
    return tuple(found)


_known = lru_cache(50_000)(_read)  # the words of a vault come again and again


def _runs(text: str) -> Iterator[Word]:
    for run in _RUN.finditer(text):
        if run["east"]:
            yield Word(pairs(run[0].translate(TO_HIRAGANA)), signs=_SIGN.findall(run[0]), run=run[0])
        elif run["thai"]:
            yield Word(pairs(_CLUSTER.findall(run[0])))
        else:
            spelled = run[0][:_LONGEST]
            if folded := fold(spelled):  # an accent may stand alone
                yield Word((folded,), spelled)


def pairs(signs: Sequence[str]) -> list[str]:
    """Neighbours of a run of signs; a lone sign stands for itself."""
    return [first + second for first, second in pairwise(signs)] or list(signs)
