"""From a question to the passages that may answer it."""

import datetime as dt
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from companion_app.engines import Engines
from companion_app.reranking import Reranker
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.searching import SearchFilters, SearchHit, Understood
from companion_assets.contracts.settings import FilterSettings, SearchSettings
from companion_assets.retrieval.search import Search, Strength
from companion_assets.retrieval.tongues import Tongues
from companion_assets.retrieval.understanding import document
from companion_assets.stores.note_graph import NoteGraph


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was found.

    Attributes:
        hits: Best first.
        relevant: False when nothing reaches the threshold: the notes do not tell.
        seconds: Time spent.
        notice: Why only words, or only meaning, were searched, where that is so.
        understood: What the question was taken to say; None where nothing was searched.
        strength: Of the best hit: `none`, `weak` (it may be about something else) or `strong`.
    """

    hits: tuple[SearchHit, ...]
    relevant: bool
    seconds: float
    notice: str = ""
    understood: Understood | None = None
    strength: Strength = "none"


NOTHING = Retrieval((), False, 0.0)


class Retriever:
    """Embeds the question, searches the live index, and decides whether anything found is relevant.

    Args:
        engines: Gives the index and the embedder that made it, for one search; both may be exchanged in between.
        settings: `rag.search`.
        graph: The names and links of the vault.
        today: The day on which questions are asked.
        reranker: Has a last look at the order.
    """

    def __init__(
        self,
        engines: Callable[[], AbstractContextManager[Engines]],
        settings: SearchSettings,
        graph: NoteGraph,
        today: Callable[[], dt.date] = dt.date.today,
        reranker: Reranker | None = None,
    ) -> None:
        self._engines = engines
        self._settings = settings
        self._graph = graph
        self._today = today
        self._tongues = Tongues()
        self._reranker = reranker

    def retrieve(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        k: int | None = None,
        filters: SearchFilters | None = None,
        today: dt.date | None = None,
        everything: bool = False,
        rerank: bool = True,
    ) -> Retrieval:
        """Find passages; by one half alone, and with a notice, where the embedder or the word index cannot be used.

        Args:
            question: As the person wrote it.
            before: Earlier questions of the conversation; a short follow-up is searched with the last of them too.
            k: Hits wanted; the setting `default_top_k` when None, never above `max_top_k`.
            filters: Hard filters.
            today: The day from which "last week" is reckoned, if it is not this one.
            rerank: Let the reranker look at the order, if the settings have one.
            everything: As many hits as are wanted, whatever the settings allow and however weak they are.

        Raises:
            IndexMissing: Nothing has been indexed.
            StoreError: The index is damaged.
            CompanionError: The settings switch a filter off.
        """
        if filters is not None:
            _check_allowed(filters, self._settings.filters)
        started = time.perf_counter()
        wanted = k or self._settings.default_top_k
        with self._engines() as engines:
            search = Search(engines.index, engines.vector_of, self._graph, self._settings, self._tongues)
            found = search.find(
                question,
                k=wanted if everything else min(wanted, self._settings.max_top_k),
                today=today or self._today(),
                filters=filters,
                before=before,
                everything=everything,
            )
            engines.words_fault = found.words_fault
        hits = found.hits
        if self._reranker is not None and rerank and found.relevant:
            hits = self._reranker.rerank(question, hits)
        seconds = time.perf_counter() - started
        return Retrieval(hits, found.relevant, seconds, _half_only(engines, hits), found.understood, found.strength)


def hit_document(hit: SearchHit) -> dict[str, Any]:
    """A hit in the stable form that `companion search --json` and the API share; plain values only."""
    return {
        "path": hit.path,
        "heading": hit.section,
        "lines": [hit.first_line, hit.last_line],
        "date": hit.date.isoformat() if hit.date else None,
        "score": round(hit.score, 4),
        "matched_by": list(hit.matched_by),
        "text": hit.text,
    }


def understood_document(found: Retrieval) -> dict[str, Any]:
    """What the question was taken to say, in the stable form that `companion search --json` and the API share."""
    return document(found.understood) if found.understood else {}


def _half_only(engines: Engines, hits: Sequence[SearchHit]) -> str:
    if engines.fault and not any(hit.similarity is not None for hit in hits):
        return f"Searched by words alone: {engines.fault}"
    return f"Searched by meaning alone: {engines.words_fault}" if engines.words_fault else ""


def _check_allowed(filters: SearchFilters, allowed: FilterSettings) -> None:
    """A filter that is switched off is refused: left out, it would widen the search unseen."""
    for key, wanted in (
        ("date_range_enabled", filters.after is not None or filters.before is not None),
        ("tag_filter_enabled", bool(filters.tags)),
        ("directory_filter_enabled", filters.folder is not None),
    ):
        if wanted and not getattr(allowed, key):
            name = key.removesuffix("_enabled").removesuffix("_filter").replace("_", " ")
            raise CompanionError(f"searching by {name} is switched off", f"set rag.search.filters.{key}: true")
