"""Numbers in a reply, bound to passages: invented numbers are dropped, missing ones are found.

A reply is untrusted text. While it streams, every `[n]` is checked against the passages that were shown; when it is
complete, each sentence is compared with the passage it cites.
"""

import re
from collections.abc import Mapping

from companion_app.excerpts import overlap, sentences, terms

_MARK = re.compile(r"[\[【]\s*(\d{1,4}(?:\s*[-–,;]\s*\d{1,4})*)\s*[\]】]")
_OPEN = re.compile(r"[\[【][\d\s,;–-]*$")
_LONGEST_MARK = 40
_SUPPORT = 3.0  # one number or two ordinary words in common


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


def settle_citations(reply: str, passages: Mapping[int, str]) -> str:
    """Give every supported sentence the passage that supports it.

    A citation whose passage shares nothing with its sentence is replaced by the passage that shares most; a sentence
    without any citation gets one if a passage clearly supports it. Nothing else of the reply changes.

    Args:
        reply: Finished reply, already filtered.
        passages: Number → text of the passages that were shown.
    """
    settled = reply
    position = 0
    for sentence in _with_marks(reply):
        fixed = _settle_sentence(sentence, passages)
        at = settled.index(sentence, position)
        settled = settled[:at] + fixed + settled[at + len(sentence) :]
        position = at + len(fixed)
    return settled


def _settle_sentence(sentence: str, passages: Mapping[int, str]) -> str:
    bare = _MARK.sub("", sentence).strip()
    wanted = terms(bare)
    support = {number: overlap(wanted, text) for number, text in passages.items()}
    best = max(support, key=lambda number: support[number], default=None)
    if best is None or support[best] < _SUPPORT:
        return sentence
    cited = cited_numbers(sentence)
    if not cited:
        return _marked(sentence, best)
    if max(support.get(number, 0.0) for number in cited) >= min(_SUPPORT, support[best]):
        return sentence
    return _marked(_MARK.sub("", sentence).rstrip(), best)


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
