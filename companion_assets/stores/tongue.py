"""Which language a text is in, and most of many."""

import re
from collections.abc import Sequence

from companion_assets.stores.languages import language_of
from companion_assets.stores.terms import words

_KANA, _HANGUL, _HAN = (re.compile(f"[{signs}]") for signs in ("\u3040-\u30ff", "\uac00-\ud7af", "\u4e00-\u9fff"))


def tongue_of(text: str) -> str:
    """The language of a text, in English, or "": by its script where that tells, else by its function words."""
    for language, signs in (("japanese", _KANA), ("korean", _HANGUL), ("chinese", _HAN)):
        if signs.search(text):
            return language
    return language_of(words(text))


def main_tongue(texts: Sequence[str]) -> str:
    """The language of most of the texts, or ""."""
    found = [tongue for text in texts if (tongue := tongue_of(text))]
    return max(sorted(set(found)), key=found.count, default="")
