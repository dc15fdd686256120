"""When a reply should be asked for once more: it abstains against the evidence, or speaks as the person.

Both are decided from the first words, before anything is shown, and asking again costs only its own few tokens.
"""

import re
from collections.abc import Mapping

from companion_app.excerpts import terms
from companion_assets.contracts.prompt import ABSTENTION, AS_YOU, LOOK_AT
from companion_assets.stores.search_text import subject

_AS_THE_PERSON = re.compile(
    r"(?:I|I'[a-z]+|My|We|Our|Ich|Meine?|Wir|Unsere?|Yo|Mis?|Nosotros|Je|J'|Mon|Ma|Mes|Nous|Eu|Meus?|Minhas?|Io|Mio|Mia"
    r"|Jag|Min|Mitt)\b|[我私僕]"
)
_LONGEST_OPENING = 12  # characters that tell who speaks


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
    if text != ABSTENTION:
        return None
    asked = set(terms(subject(question)))
    for number, passage in passages.items():
        if len(asked) > 1 and asked <= set(terms(passage)):
            return LOOK_AT.format(number=number)
    return None
