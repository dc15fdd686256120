"""What goes out over HTTP."""

import datetime as dt
from typing import Any, Literal

from pydantic import BaseModel

from companion_app.events import Final
from companion_app.passages import PassageView
from companion_app.retrieval import hit_document
from companion_assets.contracts.records import Citation
from companion_assets.contracts.searching import SearchHit


class Fault(BaseModel):
    """What went wrong and what to do."""

    error: str
    hint: str


class HitOut(BaseModel):
    """A hit, in the stable form that `companion search --json` prints too."""

    path: str
    heading: str
    lines: tuple[int, int]
    date: dt.date | None
    score: float
    matched_by: list[str]
    text: str

    @staticmethod
    def of(hit: SearchHit) -> "HitOut":
        """From a hit."""
        return HitOut.model_validate(hit_document(hit))


class SearchOut(BaseModel):
    """Hits, best first. `understood` is what the question itself said about time, tags and people.

    `evidence` is `none` where the notes do not tell (the hits are the nearest all the same), `weak` where the hits may
    be about something else, else `strong`. `notice` says why only words, or only meaning, were searched, where that is
    so.
    """

    hits: list[HitOut]
    understood: dict[str, Any] = {}
    evidence: Literal["none", "weak", "strong"] = "none"
    notice: str = ""


class CitationOut(BaseModel):
    """A number in the reply and the lines it stands for."""

    number: int
    chunk_id: str
    path: str
    title: str
    section: str
    lines: tuple[int, int]
    text: str

    @staticmethod
    def of(citation: Citation) -> "CitationOut":
        """From a citation."""
        return CitationOut(
            number=citation.number,
            chunk_id=citation.chunk_id,
            path=citation.path,
            title=citation.title,
            section=citation.section,
            lines=(citation.first_line, citation.last_line),
            text=citation.text,
        )


class SourcesOut(BaseModel):
    """Event `sources`: what was found, before the first token."""

    session_id: str
    citations: list[CitationOut]
    seconds: float


class DeltaOut(BaseModel):
    """Event `delta`: a piece of the reply."""

    text: str


class NoticeOut(BaseModel):
    """Event `notice`: something to know about this turn."""

    text: str


class FinalOut(BaseModel):
    """Event `final`: the finished turn. `reply` replaces what was streamed."""

    session_id: str
    trace_id: str
    question: str
    reply: str
    citations: list[CitationOut]
    model: str
    stopped: bool
    timings: dict[str, float]
    counts: dict[str, int]

    @staticmethod
    def of(final: Final, session_id: str) -> "FinalOut":
        """From the last event of a turn."""
        turn = final.turn
        return FinalOut(
            session_id=session_id,
            trace_id=turn.trace_id,
            question=turn.question,
            reply=turn.reply,
            citations=[CitationOut.of(citation) for citation in turn.citations],
            model=turn.model,
            stopped=turn.stopped,
            timings=final.timings,
            counts=final.counts,
        )


class LineOut(BaseModel):
    """A line of a note."""

    number: int
    text: str
    cited: bool


class PassageOut(BaseModel):
    """A passage as its note stands now."""

    path: str
    title: str
    section: str
    date: dt.date | None
    lines: tuple[int, int]
    state: Literal["same", "moved", "changed"]
    context: list[LineOut]
    text: str
    obsidian_url: str

    @staticmethod
    def of(view: PassageView) -> "PassageOut":
        """From a passage."""
        return PassageOut(
            path=view.path,
            title=view.title,
            section=view.section,
            date=view.date,
            lines=(view.first_line, view.last_line),
            state=view.state,
            context=[LineOut(number=line.number, text=line.text, cited=line.cited) for line in view.lines],
            text=view.text,
            obsidian_url=view.obsidian_url,
        )


class TriggerOut(BaseModel):
    """A sync that was started: a run of the background services, or a process of its own."""

    run_id: str | None
    pid: int | None
