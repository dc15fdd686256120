"""How good a search is, against questions whose evidence is known. Which search that is says who asks.

Per answerable question, over notes (a note that is named twice counts once, at its first rank):

    mrr        1 / rank of the first evidence note; 0 beyond rank 50
    hit@k      1 if an evidence note is among the first k
    recall@k   share of the groups met; a group holds alternative notes that carry the same piece of the answer
    full@k     1 if every group is met

A question that the vault does not answer is `marked` when the search said that nothing relevant was found, and
`doubted` when it said that, or that what it found is weak. A question whose search failed has found nothing; it says
neither how long a search takes nor what the search held for relevant.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

import numpy as np

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.searching import SearchHit
from companion_assets.stages.questions import Question, note_path

DEPTH = 50  # notes ranked for a question
PASSAGES = 8  # to be ranked for each of those notes: most have several
METRICS = ("mrr", "hit@1", "recall@5", "recall@8", "recall@10", "full@10")
_RESAMPLES = 1000
_NEVER = 10**9  # the rank of what was not found


class Seen(Protocol):
    """What a search found, and what it held that for."""

    @property
    def hits(self) -> Sequence[SearchHit]:
        """Passages, best first."""
        ...

    @property
    def relevant(self) -> bool:
        """Whether anything was held for relevant."""
        ...

    @property
    def strength(self) -> str:
        """`strong`, or a word for less."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search made of one question.

    Attributes:
        notes: Paths of the notes found, best first; one may stand there for each of its passages.
        relevant: Whether the search held anything for relevant.
        strong: Whether it held that for more than weak evidence.
        seconds: What the search took.
        best: The highest score of what chat would see.
        fault: Why it failed; "" where it did not.
    """

    question: Question
    notes: tuple[str, ...]
    relevant: bool
    strong: bool
    seconds: float
    best: float = 0.0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over a set of questions.

    Attributes:
        answerable: How many questions the metrics are means of.
        metrics: Name → mean; empty where no question is answerable.
        bounds: Name → 95 % bootstrap bounds over questions; empty for slices.
        unanswerable: How many questions the vault does not answer.
        marked: Share of those of which nothing was held for relevant; None without such a question.
        wrongly_marked: Share of the answerable ones of which nothing was; None without one.
        doubted, wrongly_doubted: The same for those of which nothing was held for strong evidence.

    Shares are of the questions whose search did not fail.
    """

    answerable: int
    metrics: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float]]
    unanswerable: int
    marked: float | None
    wrongly_marked: float | None
    doubted: float | None
    wrongly_doubted: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of all questions and of each slice that the questions name; p50 and p95 of a search in milliseconds."""

    whole: Figures
    by_category: Mapping[str, Figures]
    by_language: Mapping[str, Figures]
    p50: float
    p95: float


def ranked_notes(paths: Iterable[str]) -> list[str]:
    """Each note once, at its first rank."""
    return list(dict.fromkeys(map(note_path, paths)))


def score(question: Question, paths: Iterable[str]) -> dict[str, float]:
    """The metrics of one answerable question.

    Args:
        question: With its evidence.
        paths: What a search found, best first.
    """
    rank = {path: place for place, path in enumerate(ranked_notes(paths), 1)}
    first = min((rank.get(note, _NEVER) for note in question.evidence), default=_NEVER)
    groups = [min(rank.get(note, _NEVER) for note in group) for group in question.groups]
    return {
        "mrr": 1.0 / first if first <= DEPTH else 0.0,
        "hit@1": float(first == 1),
        **{f"recall@{k}": fmean(place <= k for place in groups) for k in (5, 8, 10)},
        "full@10": float(all(place <= 10 for place in groups)),
    }


def ask(question: Question, look: Callable[[bool], Seen], depth: int = DEPTH) -> Outcome:
    """Search for a question twice: as chat does, and with nothing cut off, which gives the ranking.

    Args:
        question: One that fails is told in the outcome, and has found nothing.
        look: Searches for it; True: as many hits as rank `depth` notes, however weak.
        depth: Notes ranked.
    """
    try:
        started = time.perf_counter()
        seen = look(False)
        seconds = time.perf_counter() - started
        ranked = look(True)
    except CompanionError as fault:
        return Outcome(question, (), relevant=False, strong=False, seconds=0.0, fault=fault.message)
    notes = ranked_notes(hit.path for hit in ranked.hits)[:depth]
    best = max((hit.score for hit in seen.hits), default=0.0)
    return Outcome(question, tuple(notes), seen.relevant, seen.strength == "strong", seconds, best)


def evaluate(outcomes: Sequence[Outcome]) -> Report:
    """Score every outcome and put the figures together.

    Args:
        outcomes: At least one that did not fail.
    """
    times = sorted(1000 * outcome.seconds for outcome in outcomes if not outcome.fault)
    return Report(
        whole=_figures(outcomes, bounded=True),
        by_category=_slices(outcomes, lambda question: question.category),
        by_language=_slices(outcomes, lambda question: question.language),
        p50=times[len(times) // 2],
        p95=times[int(len(times) * 0.95)],
    )


def _slices(outcomes: Sequence[Outcome], of: Callable[[Question], str]) -> dict[str, Figures]:
    names = sorted({of(outcome.question) for outcome in outcomes} - {""})
    return {name: _figures([each for each in outcomes if of(each.question) == name]) for name in names}


def _figures(outcomes: Sequence[Outcome], *, bounded: bool = False) -> Figures:
    answerable = [each for each in outcomes if each.question.answerable]
    unanswerable = [each for each in outcomes if not each.question.answerable]
    answered, unanswered = ([each for each in part if not each.fault] for part in (answerable, unanswerable))
    scores = [score(each.question, each.notes) for each in answerable]
    return Figures(
        answerable=len(answerable),
        metrics={name: fmean(each[name] for each in scores) for name in METRICS} if scores else {},
        bounds=_bounds(scores) if bounded and scores else {},
        unanswerable=len(unanswerable),
        marked=_share(not each.relevant for each in unanswered),
        wrongly_marked=_share(not each.relevant for each in answered),
        doubted=_share(not each.strong for each in unanswered),
        wrongly_doubted=_share(not each.strong for each in answered),
    )


def _share(cases: Iterable[bool]) -> float | None:
    counted = list(cases)
    return fmean(counted) if counted else None


def _bounds(scores: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """95 % bootstrap bounds of each metric; the same every time."""
    values = np.array([[each[name] for name in METRICS] for each in scores])  # [questions, metrics]
    chance = np.random.default_rng(0)
    means = [values[chance.integers(len(values), size=len(values))].mean(axis=0) for _ in range(_RESAMPLES)]
    low, high = np.quantile(np.array(means), (0.025, 0.975), axis=0)
    return {name: (float(low[n]), float(high[n])) for n, name in enumerate(METRICS)}
