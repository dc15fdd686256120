"""The words of a search: what is asked, what a question was taken to say, and what is found. All frozen."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result.

    Attributes:
        score: 0–1 on the calibrated scale (see `stores.calibration`); comparable with `similarity_threshold`.
        similarity: Raw cosine to the query, or None where only the text matched.
        keyword: Raw full-text score, or None where only the vector matched.
        matched_by: Which halves found it, e.g. `("dense", "text")`.
    """

    chunk_id: str
    path: str
    title: str
    section: str
    date: dt.date | None
    tags: tuple[str, ...]
    first_line: int
    last_line: int
    text: str
    score: float
    similarity: float | None
    keyword: float | None
    matched_by: tuple[str, ...]
    source_kind: str = "vault"


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Hard filters, all of them in force. Empty means no filter.

    Attributes:
        after, before: Inclusive days.
        tags: All must be carried; a tag also matches its nested tags.
        folder: Glob over the note's path (`Journal/**`); a bare folder name matches everything in it.
        source_kind: `vault` or `shelf`.
        note: Path of the only note to look in.
        people: All must be named or linked in the passage, under their name or an alias of their note.
    """

    after: dt.date | None = None
    before: dt.date | None = None
    tags: tuple[str, ...] = ()
    folder: str | None = None
    source_kind: str | None = None
    note: str | None = None
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A day or a stretch of days that a text names.

    Attributes:
        first, last: Inclusive days.
        start, end: Where it stands in the text, end exclusive.
        every_year: The text names no year ("on 14 January"); the years of `first` and `last` are a guess.
    """

    first: dt.date
    last: dt.date
    start: int
    end: int
    every_year: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """Something of the vault that a question names.

    Attributes:
        name: As the vault spells it: a title, or what a link points to where no note is.
        keys: Folded names and aliases under which it is found.
        paths: Its notes; empty for a link without a note.
        kind: `person` for notes and links that are people, else `note`.
        start, end: Where it stands in the question, end exclusive.
    """

    name: str
    keys: tuple[str, ...]
    paths: tuple[str, ...]
    kind: Literal["person", "note"]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Understood:
    """What a question says beside its words; made without a model. Soft, except `filters`.

    Attributes:
        question: As written.
        subject: What is left to search by when operators (quotes stay) and hard filters are taken out.
        dates: Days and stretches it names, relative ones reckoned from `today`.
        today: The day it was asked.
        named: People and notes of the vault it names.
        tags, folders: Those it mentions and that the vault has, without demanding them.
        phrases: Quoted, to be found as they stand.
        without: What it does not want, as written: `Lisbon` of "not in Lisbon", `wine` of "-wine".
        order: Whether it asks for what is newest or oldest.
        filters: What it demands ("only in #work").
    """

    question: str
    subject: str
    today: dt.date
    dates: tuple[DateSpan, ...] = ()
    named: tuple[Named, ...] = ()
    tags: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    order: Literal["", "newest", "oldest"] = ""
    filters: SearchFilters = SearchFilters()
