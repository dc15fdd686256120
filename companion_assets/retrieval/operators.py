"""What a question says about the search itself: phrases, tags, folders, demands, exclusions, the order.

Conservative. A question is a sentence of a person and no query language: what could be meant otherwise is left in it
as words.
"""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from companion_assets.contracts.searching import SearchFilters
from companion_assets.retrieval import operator_words as words
from companion_assets.retrieval.demands import Demands
from companion_assets.retrieval.exclusions import excluded_days, exclusions
from companion_assets.retrieval.quotes import Span, quotes, within
from companion_assets.stores.note_graph import NoteGraph

_NEWEST = re.compile(rf"(?<!\w)(?:{words.NEWEST})(?!\w)|{words.NEWEST_UNSPACED}", re.IGNORECASE)
_OLDEST = re.compile(rf"(?<!\w)(?:{words.OLDEST})(?!\w)|{words.OLDEST_UNSPACED}", re.IGNORECASE)
_LATELY = re.compile(rf"(?<!\w)(?:{words.LATELY})(?!\w)|{words.LATELY_UNSPACED}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Operators:
    """What was found.

    Attributes:
        subject: The question without demands and exclusions; mentions and quotes stay.
        order: What is asked for in so many words; `lately` asks for the newest less surely.
        quoted: Where the quoted phrases stand, quotes included.
        silent: Where no names and days are to be looked for.
    """

    subject: str
    phrases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    order: Literal["", "newest", "oldest"] = ""
    lately: bool = False
    filters: SearchFilters = field(default_factory=SearchFilters)
    quoted: tuple[Span, ...] = ()
    silent: tuple[Span, ...] = ()


def read_operators(question: str, graph: NoteGraph, today: dt.date) -> Operators:
    """Read what a question says about the search.

    Args:
        question: As written.
        graph: Knows which tags and folders there are; what the vault does not have is no mention of it.
        today: From which days that are not wanted are reckoned.
    """
    quoted = quotes(question)
    read = Demands(question, graph, quoted)
    read.read_fields()
    read.read_demands()
    read.taken += excluded_days(question, quoted, today)
    excluded = exclusions(question, quoted, read.taken)
    read.taken += [span for _, span in excluded]
    read.read_folders()
    read.read_tags()
    kept = [quote for quote in quoted if not within(quote.start, read.taken)]
    rest = blanked(question, [*read.taken, *((quote.start, quote.end) for quote in quoted)])
    newest, oldest = bool(_NEWEST.search(rest)), bool(_OLDEST.search(rest))
    return Operators(
        subject=(read.taken and _tidied(blanked(question, read.taken))) or question,
        phrases=tuple(dict.fromkeys(quote.text for quote in kept)),
        tags=tuple(dict.fromkeys(read.tags)),
        folders=tuple(dict.fromkeys(read.folders)),
        without=tuple(dict.fromkeys(what for what, _ in excluded)),
        order="" if newest == oldest else "newest" if newest else "oldest",
        lately=not oldest and bool(_LATELY.search(rest)),
        filters=read.filters,
        quoted=tuple((quote.start, quote.end) for quote in kept),
        silent=(*read.taken, *read.mentions),
    )


def blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with nothing but spaces in these spans; places stay."""
    signs = list(text)
    for start, end in spans:
        signs[start:end] = " " * (min(end, len(text)) - start)
    return "".join(signs)


def _tidied(text: str) -> str:
    """One space between words, and nothing where there is no word left."""
    tidy = re.sub(r"\s+([?.!,;:])", r"\1", " ".join(text.split())).strip(" ,;:")
    return tidy if any(sign.isalnum() for sign in tidy) else ""
