"""One list out of two: what is near in meaning, and what shares words with the question.

Both halves are brought to the scale of `calibration`: 0 is an unrelated chunk, 1 the best of a thousand unrelated ones.
Words are unusual to the degree that their BM25 stands out from that of the question's hundredth best chunk: this makes
long and short questions comparable, gives words that are everywhere no weight, and a lone exact match its full weight.

    evidence = semantic share × meaning + keyword share × words        (the larger share counts as 1)

Ranks are not fused (RRF): they forget how good a hit is, and a threshold needs to know.

Source: MRR on the development vault (173 questions) and the demo vault (36), e5 and default chunking: words alone
0.585 and 0.749 (0.597 and 0.780 with the note's share), meaning alone 0.455 and 0.802, RRF (k = 60) 0.531 and 0.823,
this 0.599 and 0.826; with equal shares 0.612 and 0.867, but then most questions that a vault does not answer pass the
default threshold. As set, 100 % of the answerable questions pass it and about 30 % of questions about another vault.
The constants were picked among some fifty variants on these same questions: expect less elsewhere, and take differences
under 0.05 for noise.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from companion_assets.contracts.manifests import Calibration
from companion_assets.contracts.records import SearchFilters, SearchHit
from companion_assets.contracts.settings import HybridSettings
from companion_assets.stores.calibration import score_of, standardised
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import Vector
from companion_assets.stores.predicates import where

DENSE_LEG = 100
TEXT_LEG = 200

_BACKGROUND_RANK = 100
_BM25_UNIT = 8.6  # BM25 points that count as much as one unit of meaning: about two rare words
_NOTE_SHARE = 0.3  # a passage is worth more in a note whose other passages match too
_NOTE_PASSAGES = 3


def search(
    index: ChunkIndex, vector: Vector | None, text: str, k: int, filters: SearchFilters, weights: HybridSettings
) -> list[SearchHit]:
    """The best passages for a question, with `score` on the scale of the similarity threshold.

    Args:
        index: The open index.
        vector: The embedded question, float32[d]; None searches words only.
        text: The question as written.
        k: Most hits to return.
        filters: Hard filters.
        weights: Shares of the halves; without `enabled` only meaning counts (or words, without a vector).

    Raises:
        IndexMismatch: The vector is of another embedder than the index.
        StoreError: The index is damaged.
    """
    predicate = where(filters)
    if vector is None:
        shares, dense = (0.0, 1.0), []
    else:
        shares = (weights.semantic_weight, weights.keyword_weight) if weights.enabled else (1.0, 0.0)
        dense = index.vector_leg(vector, max(k, DENSE_LEG), predicate)
    words = index.text_leg(text, max(k, TEXT_LEG), predicate, vector=vector) if shares[1] else []
    manifest = index.manifest
    return fuse(dense, words, shares, manifest.calibration, chunks=manifest.chunks)[:k]


def fuse(
    dense: Sequence[SearchHit],
    words: Sequence[SearchHit],
    shares: tuple[float, float],
    background: Calibration | None,
    *,
    chunks: int,
) -> list[SearchHit]:
    """Merge the halves, best first.

    Args:
        dense: Hits with `similarity`.
        words: Hits with `keyword`, best first, and with `similarity` wherever `dense` may have hits.
        shares: Weight of meaning and of words, not both 0.
        background: The index's own; None (an empty index) gives every hit the score of an unrelated one.
        chunks: How many chunks the index has; in a small one the "hundredth best" is the median.
    """
    semantic, keyword = (share / max(shares) for share in shares)
    strength = _word_strength(words, min(_BACKGROUND_RANK, chunks // 2))
    near = {hit.chunk_id for hit in dense}
    merged = {hit.chunk_id: hit for hit in [*dense, *words]}
    scored = []
    for hit in merged.values():
        meaning = standardised(hit.similarity, background) if hit.similarity is not None and background else 0.0
        evidence = semantic * meaning + keyword * strength.get(hit.chunk_id, 0.0)
        halves = [("dense", hit.chunk_id in near), ("text", hit.keyword is not None)]
        matched_by = tuple(name for name, found in halves if found)
        scored.append((evidence, replace(hit, score=score_of(evidence), matched_by=matched_by)))
    scored.sort(key=lambda pair: (-pair[0], pair[1].chunk_id))
    return [hit for _, hit in scored]


def _word_strength(words: Sequence[SearchHit], background_rank: int) -> dict[str, float]:
    """Chunk → how far its words, and those of its note, stand out; in units of meaning."""
    scores = [hit.keyword or 0.0 for hit in words]
    common = scores[background_rank] if len(scores) > background_rank else 0.0
    own = {hit.chunk_id: max(0.0, score - common) for hit, score in zip(words, scores, strict=True)}
    by_note: dict[str, list[float]] = defaultdict(list)
    for hit in words:
        by_note[hit.path].append(own[hit.chunk_id])
    notes = {path: sum(sorted(values, reverse=True)[:_NOTE_PASSAGES]) for path, values in by_note.items()}
    return {hit.chunk_id: (own[hit.chunk_id] + _NOTE_SHARE * notes[hit.path]) / _BM25_UNIT for hit in words}
