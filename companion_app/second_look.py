"""When a reply should be asked for once more: it abstains against the evidence, or speaks as the person.

Both are decided from the first words, before anything is shown, and asking again costs only its own few tokens.
"""

import re
from collections.abc import Mapping

from companion_app.excerpts import terms
from companion_assets.contracts.prompt import ABSTENTION, AS_YOU, LOOK_AT
from companion_assets.stores.search_text import fold, subject

_AS_THE_PERSON = re.compile(
    r"(?:I|I'[a-z]+|My|We|Our|Ich|Meine?|Wir|Unsere?|Yo|Mis?|Nosotros|Je|J'|Mon|Ma|Mes|Nous|Eu|Meus?|Minhas?|Io|Mio|Mia"
    r"|Jag|Min|Mitt)\b|[我私僕]"
)
_COVERED = 0.7  # share of what the question is about, by weight, that one passage must speak of
_LONGEST_OPENING = 12  # characters that tell who speaks


_TOLD = r"(?:mention|stat|specif|record|giv|provid|say|tell|contain|includ)"
_NOT = r"(?:\bnot|n't)\s+(?:explicitly\s+|directly\s+)?"
# Only where the sentence is about the notes: "you did not give her the pencil" is an answer.
_NOT_TOLD = re.compile(
    rf"\bnotes?\s+\w*\s*{_NOT}{_TOLD}"  # the notes do not mention
    rf"|\bnotes?\s+\w+n't\s+{_TOLD}"  # your notes don't say
    rf"|{_NOT}{_TOLD}\w*\s+(?:in|by)\s+(?:\w+\s+)?notes?\b"  # is not mentioned in the notes
    rf"|^It\s+\w+(?:\s+not|n't)\s+{_TOLD}",  # it isn't recorded
    re.I,
)


def abstains(reply: str) -> bool:
    """True for a reply of one sentence that says, in whatever words, that the notes do not tell."""
    text = reply.strip()
    return text == ABSTENTION or ("\n" not in text and text.count(". ") == 0 and bool(_NOT_TOLD.search(text)))


def is_undecided(opening: str) -> bool:
    """True while the beginning of a reply may still turn out to be one that is asked for again."""
    text = opening.lstrip()
    return ABSTENTION.startswith(text) or len(text) < _LONGEST_OPENING


def second_look(reply: str, question: str, passages: Mapping[int, str]) -> str | None:
    """What to ask instead, or None where the reply may stand.

    Args:
        reply: The whole reply, or enough of its beginning that `is_undecided` is false.
        question: What was asked.
        passages: Number → text of the passages in the prompt.
    """
    text = reply.strip()
    if _AS_THE_PERSON.match(text):
        return AS_YOU
    if not abstains(text):
        return None
    asked = terms(subject(question))
    needed = _COVERED * sum(asked.values())
    for number, passage in passages.items():
        said = terms(fold(passage))
        if len(asked) > 1 and sum(weight for term, weight in asked.items() if term in said) >= needed:
            return LOOK_AT.format(number=number)
    return None
