"""The part of a passage that speaks to the question, for prompts and quotes that must stay short."""

import re
import unicodedata
from collections.abc import Iterator

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_BORDER = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def terms(text: str) -> dict[str, float]:
    """Words of a text with their weight: longer words and numbers say more.

    Scripts without spaces (Chinese, Japanese, Thai, Lao) give overlapping pairs of characters.
    """
    found: dict[str, float] = {}
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = match.group()
        if any(character.isdigit() for character in word):
            found[word] = 4.0
        elif runs := _UNSPACED.findall(word):
            for run in runs:
                found.update({run[i : i + 2]: 2.0 for i in range(max(1, len(run) - 1))})
        else:
            found[_stem(word)] = min(len(word), 8) / 2 - 0.5
    return found


def overlap(wanted: dict[str, float], text: str) -> float:
    """Summed weight of the wanted terms that stand in `text`."""
    return sum(weight for term, weight in wanted.items() if term in terms(text))


def sentences(text: str) -> Iterator[str]:
    """Sentences and lines of a text, in order, without blanks."""
    for piece in _BORDER.split(text):
        if piece and piece.strip():
            yield piece.strip()


def excerpt(text: str, question: str, limit: int) -> str:
    """At most about `limit` characters of `text`: the run of whole sentences that shares most with the question.

    Args:
        text: The passage.
        question: What was asked.
        limit: Characters; a single longer sentence is cut at a space.
    """
    if len(text) <= limit:
        return text
    wanted = terms(question)
    pieces = list(sentences(text))
    scores = [overlap(wanted, piece) for piece in pieces]
    start = end = max(range(len(pieces)), key=scores.__getitem__)
    size = len(pieces[start])
    while True:
        before = scores[start - 1] if start > 0 else -1.0
        after = scores[end + 1] if end + 1 < len(pieces) else -1.0
        take = start - 1 if before > after else end + 1
        if max(before, after) < 0 or size + len(pieces[take]) + 1 > limit:
            break
        size += len(pieces[take]) + 1
        start, end = min(start, take), max(end, take)
    chosen = "\n".join(pieces[start : end + 1])
    return chosen if len(chosen) <= limit else chosen[:limit].rsplit(" ", 1)[0] + " …"


def _stem(word: str) -> str:
    """A crude common stem: enough to join plural, tense and case endings of the same word."""
    return word[: max(4, len(word) - 2)] if len(word) > 5 else word
