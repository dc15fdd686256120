"""Numbers in a reply, bound to passages: invented numbers are dropped, missing ones are found.

A reply is untrusted text. While it streams, every `[n]` is checked against the passages that were shown; when it is
complete, each sentence is compared with the passage it cites.
"""

import re
from collections.abc import Mapping

from companion_app.excerpts import sentences, terms
from companion_app.phrases import language_of

_MARK = re.compile(r"[\[【]\s*(\d{1,4}(?:\s*[-–,;]\s*\d{1,4})*)\s*[\]】]")
_OPEN = re.compile(r"[\[【][\d\s,;–-]*$")
_LONGEST_MARK = 40
_SUPPORT = 3.0  # one number or two ordinary words in common
_TELLING = 1.5  # numbers and words of four letters or more
_ENOUGH = 0.8  # a cited passage may hold a little less than the best one


class CitationFilter:
    """Passes a stream through and lets only citations of known passages survive.

    `[1, 2]` and `[1-3]` become `[1][2]` and `[1][2][3]`; a number nobody was shown disappears.
    """

    def __init__(self, known: Mapping[int, str]) -> None:
        self._known = known
        self._held = ""

    def feed(self, text: str) -> str:
        """The part of the stream that is safe to show now."""
        self._held += text
        opened = _OPEN.search(self._held)
        if opened and len(self._held) - opened.start() <= _LONGEST_MARK:
            ready, self._held = self._held[: opened.start()], self._held[opened.start() :]
        else:
            ready, self._held = self._held, ""
        return self._checked(ready)

    def flush(self) -> str:
        """What was held back at the end."""
        ready, self._held = self._held, ""
        return self._checked(ready)

    def _checked(self, text: str) -> str:
        return _MARK.sub(lambda match: "".join(f"[{n}]" for n in _numbers(match.group(1)) if n in self._known), text)


def cited_numbers(reply: str) -> list[int]:
    """Numbers cited in a reply, in order of appearance, each once."""
    return list(dict.fromkeys(n for match in _MARK.finditer(reply) for n in _numbers(match.group(1))))


def settle_citations(reply: str, passages: Mapping[int, str], question: str = "") -> str:
    """Give every supported sentence the passage that supports it.

    What counts is what a sentence says beyond the question: its numbers, names and words that were not asked. A
    citation is replaced where another passage clearly holds more of them; a sentence without any citation gets one if
    a passage supports it. A sentence that cites a note and of which no note says a word is dropped: it was invented.
    Nothing else of the reply changes.

    Args:
        reply: Finished reply, already filtered.
        passages: Number → text of the passages that were found for this question, best first.
        question: What was asked.
    """
    words = {number: terms(text) for number, text in passages.items()}
    asked = terms(question)
    settled = reply
    position = 0
    for sentence in _with_marks(reply):
        fixed = "" if _is_invented(sentence, passages, words, asked) else _settle_sentence(sentence, words, asked)
        at = settled.index(sentence, position)
        settled = settled[:at] + fixed + settled[at + len(sentence) :]
        position = at + len(fixed)
    return settled.strip()


def _is_invented(
    sentence: str, passages: Mapping[int, str], words: Mapping[int, dict[str, float]], asked: dict[str, float]
) -> bool:
    """A cited sentence whose every new number, or every new longer word, is in none of the passages.

    Words of another language than the passages' prove nothing; numbers do.
    """
    bare = _MARK.sub("", sentence)
    new = [term for term, weight in terms(bare).items() if term not in asked and weight >= _TELLING]
    numbers = [term for term in new if term[0].isdigit()]
    if not new or not cited_numbers(sentence):
        return False
    if numbers and not _held(numbers, words):
        return True
    spoken = language_of(bare)
    return not _held(new, words) and any(language_of(text) == spoken for text in passages.values())


def _held(wanted: list[str], words: Mapping[int, dict[str, float]]) -> bool:
    return any(term in found for found in words.values() for term in wanted)


def _settle_sentence(sentence: str, passages: Mapping[int, dict[str, float]], asked: dict[str, float]) -> str:
    said = terms(_MARK.sub("", sentence))
    new = {term: weight for term, weight in said.items() if term not in asked}
    support = {number: _support(new, said, words) for number, words in passages.items()}
    best = max(support, key=lambda number: support[number], default=None)
    if best is None or support[best] < _SUPPORT:
        return sentence
    cited = cited_numbers(sentence)
    if not cited:
        return _marked(sentence, best)
    if max(support.get(number, 0.0) for number in cited) >= _ENOUGH * support[best]:
        return sentence
    return _marked(_MARK.sub("", sentence).rstrip(), best)


def _support(new: dict[str, float], said: dict[str, float], words: dict[str, float]) -> float:
    """Weight of what a passage shares with a sentence; what was not asked counts, the rest breaks ties."""
    return sum(new[term] for term in new if term in words) + 0.5 * sum(said[term] for term in said if term in words)


def _marked(sentence: str, number: int) -> str:
    body = sentence.rstrip()
    ending = re.search(r"[.!?…。！？]*$", body)
    cut = ending.start() if ending else len(body)
    space = "" if re.search(r"[\u3040-\u9fff]$", body[:cut]) else " "
    return f"{body[:cut].rstrip()}{space}[{number}]{body[cut:]}{sentence[len(body) :]}"


def _with_marks(reply: str) -> list[str]:
    """Sentences of a reply; a mark that stands behind the full stop belongs to its sentence."""
    found: list[str] = []
    for piece in map(str.strip, sentences(reply)):
        if found and _MARK.sub("", piece).strip(" .,;") == "":
            joined = reply[reply.index(found[-1]) :]
            found[-1] = joined[: joined.index(piece) + len(piece)]
        else:
            found.append(piece)
    return found


def _numbers(inside: str) -> list[int]:
    found: list[int] = []
    for part in re.split(r"\s*[,;]\s*", inside):
        ends = [int(end) for end in re.split(r"\s*[-–]\s*", part) if end]
        if len(ends) == 2 and 0 <= ends[1] - ends[0] < 20:
            found.extend(range(ends[0], ends[1] + 1))
        else:
            found.extend(ends)
    return found
