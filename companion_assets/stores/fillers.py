"""What a question may leave out, because it says nothing of what is asked about."""

import re
from collections.abc import Iterator
from itertools import pairwise

from companion_assets.stores.folding import fold
from companion_assets.stores.languages import filler_pairs, function_words
from companion_assets.stores.terms import LETTERS, TO_HIRAGANA, Word

_EDGES = re.compile(rf"^(?:[^{LETTERS}]|_)+|(?:[^{LETTERS}]|_)+$")
_SENTENCE_END = re.compile(r"[?!…:;]$|\w{4}\.$")  # "Mr." ends none
_APOSTROPHE = re.compile(r"['’]")
_ELIDED = 2  # letters: "l'", "d'", "'s", "'ll" belong to the other part of their word
# Particles of Chinese and Japanese, and Chinese pronouns and question signs.
_CHINESE = frozenset("的了吗嗎呢吧么麼什哪谁誰几幾们們我你他她它这這那是")
_JAPANESE = frozenset("はがをにでとのもへや")


def without_small_words(question: str, language: str) -> str:
    """The written words of a question less its function words, or all of them if there are no others.

    A capital inside a sentence keeps a word: Will, May and Mia are names.
    """
    fillers = function_words(language)
    written = [word for word in question.replace("\0", " ").split() if _EDGES.sub("", word)]
    opens = [True, *(bool(_SENTENCE_END.search(word)) for word in written)]
    kept = [word for word, first in zip(written, opens, strict=False) if not _is_filler(word, fillers, opens=first)]
    return " ".join(kept or written)


def without_small_signs(word: Word) -> Word:
    """A run of signs less the pairs and signs that say nothing."""
    if not word.run:
        return word._replace(terms=[term for term in word.terms if len(word.terms) == 1 or term not in filler_pairs()])
    if len(word.run) == 1:
        return word
    before = [" ", *word.run]
    kept = [
        first + second
        for previous, (first, second) in zip(before, pairwise(word.run), strict=False)
        if not (_joins_only(first, second) or (first in _JAPANESE and not _is_hiragana(previous)))
    ]
    terms = [pair.translate(TO_HIRAGANA) for pair in kept]
    return word._replace(terms=terms, signs=list(_telling_signs(word)))


def _is_filler(written: str, fillers: frozenset[str], *, opens: bool) -> bool:
    word = _EDGES.sub("", written)
    written_small = opens or len(word) == 1 or word == word.lower()
    parts = _APOSTROPHE.split(fold(word))
    elided = len(parts) > 1
    return written_small and all(part in fillers or (elided and len(part) <= _ELIDED) for part in parts)


def _joins_only(first: str, second: str) -> bool:
    """Two neighbours that are a filler, hold one, or stand on either side of a word's border."""
    if first + second in filler_pairs() or first in _CHINESE or second in _CHINESE:
        return True
    if _is_hiragana(first):
        return not _is_hiragana(second)
    return _is_hiragana(second) and (second in _JAPANESE or _is_katakana(first))


def _telling_signs(word: Word) -> Iterator[str]:
    around = [*pairwise(word.run)]
    for place, sign in enumerate(word.run):
        if sign in word.signs and sign not in _CHINESE:
            beside = around[max(0, place - 1) : place + 1]
            if any(first + second not in filler_pairs() for first, second in beside):
                yield sign


def _is_hiragana(sign: str) -> bool:
    return "\u3041" <= sign <= "\u309f"


def _is_katakana(sign: str) -> bool:
    return "\u30a0" <= sign <= "\u30ff"
