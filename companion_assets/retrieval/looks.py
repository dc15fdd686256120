"""How often to look, and with which words: once for most questions, once more for each part of one that asks two.

A question about two things ("What did Ana say about the boat, and who bought it in the end?") is embedded as something
between the two, and the passages for either may be far from it. So its parts are looked up as well. What a part alone
finds is worth a little less than what the whole question finds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from companion_assets.contracts.searching import Understood
from companion_assets.stores.search_text import subject

_PART_WORTH = 0.85
_FOLLOW_UP_WORTH = 0.9
_SHORT_QUESTION = 6  # words that say something; shorter questions are also searched together with the one before
_SHORT_UNSPACED = 12  # letters, in scripts without spaces
_LEAST_PART = 3  # such words
_MOST_PARTS = 3
_LEAST_UNSPACED = 5

# Between two sentences, or before a conjunction that opens a question of its own.
_BETWEEN = re.compile(
    r"(?<=[.?!;])\s+|(?<=[。？！；])"
    r"|\s*,?\s+(?:and|und|y|et|e)\s+(?=(?:what|which|who|whom|whose|how|when|where|why|did|does|is|was"
    r"|was|welche\w*|wer|wem|wen|wie|wann|wo|warum|qué|cuál\w*|quién\w*|cómo|cuándo|dónde"
    r"|que|quel\w*|qui|comment|quand|où|combien|qual|quem|como|onde|quando|chi|cosa|come|dove)\b)",
    re.IGNORECASE,
)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Look:
    """A text to search by.

    Attributes:
        worth: Of its finds, beside those of the whole question (1).
        thorough: Look where the question points, and at whole notes; else only for the nearest passages.
    """

    text: str
    worth: float = 1.0
    thorough: bool = True


def looks_for(understood: Understood, before: Sequence[str] = ()) -> list[Look]:
    """What to search by.

    Args:
        understood: The question.
        before: Earlier questions of the conversation; a short follow-up is searched with the last of them too.
    """
    whole = understood.subject
    looks = [Look(whole)]
    if before and _is_short(whole):
        looks.append(Look(f"{before[-1]} {whole}", _FOLLOW_UP_WORTH))
    parts = [part.strip(" ,") for part in _BETWEEN.split(whole) if part]
    telling = [part for part in parts if _tells(part)]
    if 1 < len(telling) <= _MOST_PARTS:
        looks += [Look(part, _PART_WORTH, thorough=False) for part in telling]
    return looks


def _is_short(text: str) -> bool:
    unspaced = len(_UNSPACED.findall(text))
    return unspaced <= _SHORT_UNSPACED if unspaced else len(subject(text).split()) <= _SHORT_QUESTION


def _tells(part: str) -> bool:
    """Enough to search by."""
    return len(_UNSPACED.findall(part)) >= _LEAST_UNSPACED or len(subject(part).split()) >= _LEAST_PART
