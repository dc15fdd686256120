"""From a question to the passages that may answer it."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from companion_app.engines import Engines
from companion_app.excerpts import terms
from companion_assets.contracts.errors import CompanionError, StoreError
from companion_assets.contracts.records import SearchFilters, SearchHit
from companion_assets.contracts.settings import FilterSettings, SearchSettings
from companion_assets.stores.ranking import search

_SHORT_QUESTION = 6  # terms; shorter questions are also searched together with the one before
_FOLLOW_UP_SHARE = 0.9
_COMPANY = 0.7  # beside a hit above the threshold, hits of this share of it are worth reading too


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was found.

    Attributes:
        hits: Best first; the first is at or above the threshold when `relevant`.
        relevant: False when nothing reaches the threshold: the notes do not tell.
        seconds: Time spent.
        notice: Why only words, or only meaning, were searched, where that is so.
    """

    hits: tuple[SearchHit, ...]
    relevant: bool
    seconds: float
    notice: str = ""


NOTHING = Retrieval((), False, 0.0)


class Retriever:
    """Embeds the question, searches the live index, and decides whether anything found is relevant.

    Args:
        engines: Gives the index and the embedder that made it, for one search; both may be exchanged in between.
        settings: `rag.search`.
    """

    def __init__(self, engines: Callable[[], AbstractContextManager[Engines]], settings: SearchSettings) -> None:
        self._engines = engines
        self._settings = settings

    def retrieve(
        self, question: str, *, before: Sequence[str] = (), k: int | None = None, filters: SearchFilters | None = None
    ) -> Retrieval:
        """Find passages; by one half alone, and with a notice, where the embedder or the word index cannot be used.

        Args:
            question: As the person wrote it.
            before: Earlier questions of the conversation; a short follow-up is searched with the last of them too.
            k: Hits wanted; the setting `default_top_k` when None, never above `max_top_k`.
            filters: Hard filters.

        Raises:
            IndexMissing: Nothing has been indexed.
            StoreError: The index is damaged.
            CompanionError: The settings switch a filter off.
        """
        if filters is not None:
            _check_allowed(filters, self._settings.filters)
        started = time.perf_counter()
        wanted = min(k or self._settings.default_top_k, self._settings.max_top_k)
        with self._engines() as engines:
            hits = self._search(engines, question, wanted, filters)
            if before and len(terms(question)) <= _SHORT_QUESTION:
                together = self._search(engines, f"{before[-1]} {question}", wanted, filters)
                hits = _merged(hits, together)[:wanted]
        threshold = self._settings.similarity_threshold
        relevant = any(hit.score >= threshold for hit in hits)
        kept = [hit for hit in hits if not relevant or hit.score >= threshold * _COMPANY]
        return Retrieval(tuple(kept), relevant, time.perf_counter() - started, _half_only(engines))

    def _search(self, engines: Engines, text: str, k: int, filters: SearchFilters | None) -> list[SearchHit]:
        vector, chosen, weights = engines.vector_of(text), filters or SearchFilters(), self._settings.hybrid_search
        try:
            return search(engines.index, vector, text, k, chosen, weights)
        except StoreError as fault:
            if vector is None:
                raise
            # A word index can break alone (lance-format/lance#7508).
            hits = search(engines.index, vector, text, k, chosen, weights.model_copy(update={"enabled": False}))
            engines.words_fault = fault
            return hits


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


def _half_only(engines: Engines) -> str:
    if engines.fault:
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


def _merged(hits: Sequence[SearchHit], together: Sequence[SearchHit]) -> list[SearchHit]:
    best: dict[str, tuple[float, SearchHit]] = {hit.chunk_id: (hit.score, hit) for hit in hits}
    for hit in together:
        score = hit.score * _FOLLOW_UP_SHARE
        if score > best.get(hit.chunk_id, (0.0, hit))[0]:
            best[hit.chunk_id] = (score, hit)
    return [hit for _, hit in sorted(best.values(), key=lambda pair: -pair[0])]
