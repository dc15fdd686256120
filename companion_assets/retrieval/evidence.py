"""How much speaks for a passage: its meaning, its words, and whether it lies where the question points.

Both halves are brought to the scale of `stores.calibration`: 0 is an unrelated chunk, 1 the best of a thousand
unrelated ones. Words are unusual to the degree that their BM25 stands out from that of the question's hundredth best
chunk: this makes long and short questions comparable, gives words that are everywhere no weight, and a lone exact match
its full weight. Ranks are not fused (RRF): they forget how good a hit is, and a threshold needs to know.

    evidence = meaning share × meaning + word share × words
               + day + names + phrases + tags + folder + newest or oldest − unwanted

Where the settings say `auto`, both shares count fully. Figures: `docs/retrieval_experiments.md`.
"""

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from companion_assets.contracts.manifests import Calibration
from companion_assets.contracts.searching import DateSpan, SearchHit, Understood
from companion_assets.contracts.settings import HybridSettings
from companion_assets.retrieval.years import in_year
from companion_assets.stores.calibration import score_of, standardised
from companion_assets.stores.predicates import tag_key, tag_keys
from companion_assets.stores.search_text import fold

_BACKGROUND_RANK = 100
_BM25_UNIT = 20.0  # BM25 points, of passage and note together, that count as much as one unit of meaning
_ON_THE_DAY = 2.5
_OTHER_YEAR = 0.6  # of the same, where the question names no year
_DAYS_AROUND = 14  # the day before and after count too, less with each day
_NAMED = 0.3
_MOST_NAMES = 3  # in one passage
_PHRASE = 1.0
_UNWANTED = 1.5
_IN_ORDER = 0.6
# For whether anything is relevant, meaning tells most: questions to the wrong vault share words with it as well.
_WORDS_SHARE = 0.25
_WORDS_ALONE = 2.0  # where there is no meaning to tell
_POINTED_SHARE = 0.3
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SAME_NOTE = 0.35  # what each further passage of a note must be better by, to stand before other notes


@dataclass(frozen=True, slots=True)
class Shares:
    """Weight of meaning and of words; the larger is 1."""

    meaning: float
    words: float

    @staticmethod
    def of(settings: HybridSettings, *, has_vector: bool) -> "Shares":
        """As the settings say; words alone without a vector, meaning alone without `enabled`."""
        if not has_vector:
            return Shares(0.0, 1.0)
        if not settings.enabled:
            return Shares(1.0, 0.0)
        if settings.semantic_weight == "auto" or settings.keyword_weight == "auto":
            return Shares(1.0, 1.0)
        largest = max(settings.semantic_weight, settings.keyword_weight)
        return Shares(settings.semantic_weight / largest, settings.keyword_weight / largest)


@dataclass(frozen=True, slots=True)
class Common:
    """The BM25 of the question's hundredth best passage and note: what nearly any of them reaches."""

    passage: float = 0.0
    note: float = 0.0


def common_rank(rows: int) -> int:
    """The place of the score that counts as common, among so many rows; in a small index the median's."""
    return min(_BACKGROUND_RANK, rows // 2)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A hit, and what speaks for it.

    Attributes:
        evidence: By which hits are put in order.
        score: How relevant it is, 0–1 (see `stores.calibration`).
        matched_by: What found it, and what else speaks for it.
    """

    hit: SearchHit
    evidence: float
    score: float
    matched_by: tuple[str, ...]

    def shown(self) -> SearchHit:
        """The hit with its score, for whoever asked."""
        return replace(self.hit, score=self.score, matched_by=self.matched_by)


def weigh(
    dense: Sequence[SearchHit],
    words: Sequence[SearchHit],
    notes: Mapping[str, float],
    pointed: Iterable[SearchHit],
    understood: Understood,
    shares: Shares,
    background: Calibration | None,
    common: Common,
) -> list[Weighed]:
    """Merge what was found, best first.

    Args:
        dense: Hits with `similarity`.
        words: Hits with `keyword`, and with `similarity` wherever `dense` may have hits.
        notes: Path → BM25 of whole notes.
        pointed: Hits of either kind from where the question points: its days and phrases.
        understood: What the question says.
        shares: Weights of the halves.
        background: The index's own; None (an empty index) gives every hit the score of an unrelated one.
        common: What any passage and any note reach for this question.
    """
    near = {hit.chunk_id for hit in dense}
    best: dict[str, SearchHit] = {}
    for hit in [*dense, *pointed, *words]:
        best[hit.chunk_id] = _both(hit, best[hit.chunk_id]) if hit.chunk_id in best else hit
    order, pointers = _in_order(best.values(), understood), _Pointers(understood)
    weighed = []
    for hit in best.values():
        meaning = standardised(hit.similarity, background) if hit.similarity is not None and background else 0.0
        spoken = max(0.0, (hit.keyword or 0.0) - common.passage)
        spoken += max(0.0, notes.get(hit.path, 0.0) - common.note)
        by_words = shares.words * spoken / _BM25_UNIT
        pointed_to = pointers.to(hit)
        bonus = sum(pointed_to.values())
        relevance = meaning + _WORDS_SHARE * by_words if shares.meaning else _WORDS_ALONE * by_words
        legs = [("dense", hit.chunk_id in near), ("text", hit.keyword is not None)]
        found = (*(leg for leg, did in legs if did), *(kind for kind, worth in pointed_to.items() if worth > 0))
        evidence = shares.meaning * meaning + by_words + bonus + order.get(hit.chunk_id, 0.0)
        weighed.append(Weighed(hit, evidence, score_of(relevance + _POINTED_SHARE * bonus), found))
    return sorted(weighed, key=lambda each: (-each.evidence, each.hit.chunk_id))


def spread_out(weighed: Iterable[Weighed]) -> list[Weighed]:
    """The same, so that one note does not fill the list.

    Args:
        weighed: Best first.
    """
    before: Counter[str] = Counter()
    placed = []
    for each in weighed:
        placed.append((each.evidence - _SAME_NOTE * before[each.hit.path], each))
        before[each.hit.path] += 1
    return [each for _, each in sorted(placed, key=lambda pair: -pair[0])]


def _both(hit: SearchHit, other: SearchHit) -> SearchHit:
    """One chunk found twice: by two legs, or by two forms of the question."""
    similar = [found.similarity for found in (hit, other) if found.similarity is not None]
    told = [found.keyword for found in (hit, other) if found.keyword is not None]
    nearest, loudest = max(similar, default=None), max(told, default=None)
    same = hit.similarity == nearest and hit.keyword == loudest
    return hit if same else replace(hit, similarity=nearest, keyword=loudest)


class _Pointers:
    """What a question points to, ready to be looked for in many hits."""

    def __init__(self, understood: Understood) -> None:
        self._understood = understood
        self._paths = frozenset(path for named in understood.named for path in named.paths)
        self._names = _spelled(frozenset(key for named in understood.named for key in named.keys))
        self._phrases = [fold(phrase) for phrase in understood.phrases]
        self._unwanted = [fold(term) for term in understood.without]
        self._tags = [tag_key(tag) for tag in understood.tags]

    def to(self, hit: SearchHit) -> dict[str, float]:
        """What speaks for a hit beside meaning and words, by kind."""
        said = self._understood
        found: dict[str, float] = {}
        if said.dates:
            found["date"] = _ON_THE_DAY * max(_nearness(hit.date, span) for span in said.dates)
        if self._names or self._phrases or self._unwanted:
            text = fold(f"{hit.title}\n{hit.section}\n{hit.text}")
            called = set(self._names.findall(text)) if self._names else ()
            found["name"] = _NAMED * min(len(called) + (hit.path in self._paths), _MOST_NAMES)
            found["phrase"] = _PHRASE * sum(phrase in text for phrase in self._phrases)
            found["unwanted"] = -_UNWANTED * any(term in text for term in self._unwanted)
        if self._tags:
            keys = tag_keys(hit.tags)
            found["tag"] = _NAMED * sum(tag in keys for tag in self._tags)
        if said.folders:
            found["folder"] = _NAMED * any(hit.path.startswith(f"{folder}/") for folder in said.folders)
        return found


def _spelled(keys: frozenset[str]) -> re.Pattern[str] | None:
    """Names as they stand in a text, whole words with anything between them; signs without spaces stand anywhere."""
    if not keys:
        return None
    spelled = []
    for key in sorted(keys, key=len, reverse=True):
        words = r"\W+".join(map(re.escape, key.split()))
        spelled.append(words if _UNSPACED.search(key) else rf"(?<!\w){words}(?!\w)")
    return re.compile("|".join(spelled))


def _nearness(day: dt.date | None, span: DateSpan) -> float:
    """1 on the days of a span, less around them."""
    if day is None:
        return 0.0
    if not span.every_year:
        return _fading(day, span.first, span.last)
    # A stretch across New Year may have begun the year before.
    years = {year: _fading(day, *in_year(span, year)) for year in (day.year, day.year + 1)}
    return max(near if year == span.last.year else _OTHER_YEAR * near for year, near in years.items())


def _fading(day: dt.date, first: dt.date, last: dt.date) -> float:
    gap = max((first - day).days, (day - last).days, 0)
    return math.exp(-gap) if gap <= _DAYS_AROUND else 0.0


def _in_order(hits: Iterable[SearchHit], understood: Understood) -> dict[str, float]:
    """Where the question asks for the newest or the oldest: more for a hit, the nearer it is to that end."""
    if not understood.order:
        return {}
    dated = sorted((hit.date, hit.chunk_id) for hit in hits if hit.date)
    if understood.order == "oldest":
        dated.reverse()
    return {chunk_id: _IN_ORDER * (place + 1) / len(dated) for place, (_, chunk_id) in enumerate(dated)}
