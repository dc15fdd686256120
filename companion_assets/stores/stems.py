"""Stems of words: what is left when the endings of a language are taken off."""

from collections.abc import Callable
from functools import cache, lru_cache
from threading import Lock

from companion_assets.stores.folding import fold

# Letters of a script → its languages; the first one where a text does not say. Ukrainian and Bulgarian bend much as
# Russian does.
_BY_SCRIPT = (
    ("\u0370", "\u03ff", ("greek",)),
    ("\u0400", "\u04ff", ("russian",)),
    ("\u0531", "\u058f", ("armenian",)),
    ("\u0621", "\u06d3", ("arabic", "persian")),
    ("\u0900", "\u097f", ("hindi",)),
    ("\u0b80", "\u0bff", ("tamil",)),
)
LATIN = (
    "english", "german", "spanish", "french", "portuguese", "italian", "dutch", "swedish", "danish", "finnish",
    "polish", "czech", "hungarian", "romanian", "turkish", "indonesian",
)  # fmt: skip
_NEVER_BENT = ("vietnamese",)
_SHORTEST = 3  # letters
_ONE_AT_A_TIME = Lock()


@lru_cache(100_000)
def stem(word: str, language: str) -> str:
    """The folded stem of a lowered, unfolded word; folded itself where there is nothing to take off.

    Args:
        word: Without spaces.
        language: Of the text around it, as snowball names it, or "". A word in a script that this language does not
            use goes by its script; a Latin one, in a Chinese or Russian note or where nothing is known, is English.
    """
    spoken = _languages_of(word[0])
    if len(word) < _SHORTEST or not spoken or language in _NEVER_BENT:
        return fold(word)
    with _ONE_AT_A_TIME:  # a stemmer keeps the word it is at
        return fold(_stemmer(language if language in spoken else spoken[0])(word))


def _languages_of(letter: str) -> tuple[str, ...]:
    if letter <= "\u024f" or "\u1e00" <= letter <= "\u1eff":
        return LATIN
    return next((names for first, last, names in _BY_SCRIPT if first <= letter <= last), ())


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import snowballstemmer  # takes 0.1 s

    stemmed: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stemmed
