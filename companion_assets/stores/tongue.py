"""Which language a text is in, and most of many."""

import re
from collections.abc import Sequence

from companion_assets.stores.languages import language_of
from companion_assets.stores.terms import words

_KANA, _HANGUL, _HAN = "\u3040-\u30ff", "\uac00-\ud7af", "\u3005\u3400-\u4dbf\u4e00-\u9fff"
_SIGNS = re.compile(f"[{_KANA}{_HANGUL}{_HAN}]")
_SPOKEN = (("japanese", re.compile(f"[{_KANA}]")), ("korean", re.compile(f"[{_HANGUL}]")))
_SPACED = re.compile(rf"(?:(?![{_KANA}{_HANGUL}{_HAN}])[^\W\d_])+")
_SIGNS_OF_A_WORD = 2  # of Chinese, Japanese and Korean


def tongue_of(text: str) -> str:
    """The language of a text, in English, or "": by its script where that tells, else by its function words.

    A name or a dish in another script does not tell: its signs must outweigh the words in letters.
    """
    signs, spaced = len(_SIGNS.findall(text)), len(_SPACED.findall(text))
    if signs > _SIGNS_OF_A_WORD * spaced:
        return next((language for language, script in _SPOKEN if script.search(text)), "chinese")
    return language_of(words(text))


def main_tongue(texts: Sequence[str]) -> str:
    """The language of most of the texts, or ""."""
    found = [tongue for text in texts if (tongue := tongue_of(text))]
    return max(sorted(set(found)), key=found.count, default="")
