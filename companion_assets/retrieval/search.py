"""One search: understand the question, look where it points, weigh what is found."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.manifests import IndexManifest
from companion_assets.contracts.searching import DateSpan, SearchFilters, SearchHit, Understood
from companion_assets.contracts.settings import FilterSettings, SearchSettings
from companion_assets.retrieval.evidence import Common, Shares, Weighed, common_rank, spread_out, weigh
from companion_assets.retrieval.links import linked_notes
from companion_assets.retrieval.looks import Look, looks_for
from companion_assets.retrieval.names import resolve_filters
from companion_assets.retrieval.tongues import Tongues
from companion_assets.retrieval.understanding import understand
from companion_assets.retrieval.years import in_year
from companion_assets.stores import predicates
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import Vector
from companion_assets.stores.note_graph import NoteGraph

# Longer legs (100 and 200) found no more on either set of questions, and cost a third of the time.
DENSE_LEG = 60
TEXT_LEG = 120  # more than the rank of what is common
_POINTED_LEG = 40
_PART_LEG = 30
_DAYS_AROUND = 2
_MOST_YEARS = 20
# Of words in another language than the notes: only names and numbers can be shared. MRR of the demo vault's questions
# across languages 0.475 at 1, 0.539 at 0.35; of those in a minority's own language 0.876 and 0.872.
_FOREIGN_WORDS = 0.35
_COMPANY = 0.7  # beside a hit above the threshold, hits of this share of it are worth reading too

# Half of the questions that a vault does not answer find nothing better than this; of those that it answers, three in
# ten in other words or another language, and none in its own (docs/retrieval_experiments.md).
_STRONG = 0.88

Strength = Literal["none", "weak", "strong"]

# LanceDB lets other threads run while it searches, so that the legs of a search share the cores.
_LEGS = ThreadPoolExecutor(4, thread_name_prefix="search")


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        hits: Best first.
        understood: What the question was taken to say.
        strength: `none` where nothing is relevant; `weak` where it may be about something else; else `strong`.
        words_fault: Why the words could not be searched, where that is so.
    """

    hits: tuple[SearchHit, ...]
    understood: Understood
    strength: Strength
    words_fault: StoreError | None = None

    @property
    def relevant(self) -> bool:
        """False when nothing reaches the threshold: the notes do not tell."""
        return self.strength != "none"


@dataclass(frozen=True, slots=True)
class _Where:
    """Predicates: what the filters allow, passages and whole notes, and where within it the question points."""

    allowed: str | None
    notes: str | None
    pointed: str | None


class _Best:
    """What several looks have found, each passage with the most that speaks for it."""

    def __init__(self) -> None:
        self._found: dict[str, Weighed] = {}

    def take(self, weighed: Iterable[Weighed], *, new_only: bool = False) -> None:
        """Take over what a look has found."""
        for each in weighed:
            known = self._found.get(each.hit.chunk_id)
            if known is None or (each.evidence > known.evidence and not new_only):
                self._found[each.hit.chunk_id] = each

    def add(self, gained: Mapping[str, float]) -> None:
        """More speaks for the passages of these notes (path → evidence)."""
        for key, each in self._found.items():
            if more := gained.get(each.hit.path):
                self._found[key] = replace(each, evidence=each.evidence + more)

    def in_order(self) -> list[Weighed]:
        """Best first."""
        return sorted(self._found.values(), key=lambda each: (-each.evidence, each.hit.chunk_id))


@dataclass(frozen=True, slots=True)
class Search:
    """Searches one index.

    Attributes:
        index: Open for reading.
        embed: A question → float32[d] of the index's embedder; None where only its words can be searched.
        graph: The names and links of the vault.
        settings: `rag.search`.
        tongues: Keeps what was measured of languages, from one search to the next.
    """

    index: ChunkIndex
    embed: Callable[[str], Vector | None]
    graph: NoteGraph
    settings: SearchSettings
    tongues: Tongues = field(default_factory=Tongues)

    def find(
        self,
        question: str,
        *,
        k: int,
        today: dt.date,
        filters: SearchFilters | None = None,
        before: Sequence[str] = (),
        everything: bool = False,
    ) -> Found:
        """Find passages.

        Args:
            question: As the person wrote it.
            k: Hits wanted.
            today: From which "last week" is reckoned.
            filters: Hard filters, beside those that the question itself demands.
            before: Earlier questions of the conversation.
            everything: Do not leave out what is clearly worse than the best.

        Raises:
            IndexMismatch: The embedder is not the index's.
            StoreError: The index is damaged.
        """
        understood = understand(question, today=today, graph=self.graph)
        meant = _permitted(understood.filters, self.settings.filters)
        demanded, people = resolve_filters(_together(filters or SearchFilters(), meant), self.graph)
        understood = replace(understood, filters=demanded)
        everywhere = predicates.where(demanded, people)
        pointed = self._places(understood)
        of_notes = predicates.where(replace(demanded, tags=(), people=()))
        where = _Where(everywhere, of_notes, predicates.every(everywhere, pointed) if pointed else None)
        best = _Best()
        fault: StoreError | None = None
        common: Common | None = None
        for look in looks_for(understood, before):
            weighed, its_common, problem = self._look(look, understood, where)
            best.take(weighed)
            common, fault = common or its_common, fault or problem
        if self.settings.link_expansion.enabled:
            self._follow_links(best, understood, where, common)
        hits = _falling(each.shown() for each in spread_out(best.in_order())[:k])
        threshold = self.settings.similarity_threshold
        strength = _strength(hits, threshold)
        if strength != "none" and not everything:
            hits = [hit for hit in hits if hit.score >= threshold * _COMPANY]
        return Found(tuple(hits), understood, strength, fault)

    def _look(
        self, look: Look, understood: Understood, where: _Where, common: Common | None = None
    ) -> tuple[list[Weighed], Common, StoreError | None]:
        """What one text finds, weighed; the common scores (of this text, if none are given); the fault of the words."""
        manifest = self.index.manifest
        vector = self.embed(look.text)
        shares = Shares.of(self.settings.hybrid_search, has_vector=vector is not None)
        vectors = self._vectors(look.text, vector, manifest) if shares.meaning and vector is not None else []
        if len(vectors) > 1:
            shares = replace(shares, words=shares.words * _FOREIGN_WORDS)
        pointed = where.pointed if look.thorough else None
        near = DENSE_LEG if look.thorough else _PART_LEG
        dense = [_LEGS.submit(self.index.vector_leg, each, near, where.allowed) for each in vectors]
        there = [_LEGS.submit(self.index.vector_leg, each, _POINTED_LEG, pointed) for each in vectors if pointed]
        words: list[SearchHit] = []
        told: list[SearchHit] = []
        notes: dict[str, float] = {}
        fault: StoreError | None = None
        if shares.words:
            try:
                whole = _LEGS.submit(self.index.note_leg, look.text, TEXT_LEG, where.notes) if look.thorough else None
                words = self.index.text_leg(look.text, TEXT_LEG, where.allowed, vector=vector)
                told = self.index.text_leg(look.text, _POINTED_LEG, pointed, vector=vector) if pointed else []
                notes = whole.result() if whole else {}
                common = common or self._common(look.text, words, notes, where)
            except StoreError as problem:  # a word index can break alone (lance-format/lance#7508)
                if vector is None:
                    raise
                shares, fault = Shares(1.0, 0.0), problem
                dense = dense or [_LEGS.submit(self.index.vector_leg, vector, near, where.allowed)]
        common = common or Common()
        weighed = weigh(
            [hit for leg in dense for hit in leg.result()],
            words,
            notes,
            [*(hit for leg in there for hit in leg.result()), *told],
            understood,
            shares,
            manifest.calibration,
            common,
        )
        lost = 1.0 - look.worth
        return (
            [replace(each, evidence=each.evidence - lost * max(each.evidence, 0.0)) for each in weighed],
            common,
            fault,
        )

    def _common(self, text: str, words: Sequence[SearchHit], notes: Mapping[str, float], where: _Where) -> Common:
        """What any passage and any note of the whole index reaches, whatever the filters leave of it."""
        manifest = self.index.manifest
        passage, note = common_rank(manifest.chunks), common_rank(manifest.notes)
        scores = [hit.keyword or 0.0 for hit in words]
        if where.allowed:
            scores = [hit.keyword or 0.0 for hit in self.index.text_leg(text, passage + 1)]
        whole = list((self.index.note_leg(text, note + 1) if where.notes else notes).values())
        return Common(scores[passage] if len(scores) > passage else 0.0, whole[note] if len(whole) > note else 0.0)

    def _follow_links(self, best: "_Best", understood: Understood, where: _Where, common: Common | None) -> None:
        """Look at the notes that are linked with the best ones, and let them gain by it."""
        taken = linked_notes(best.in_order(), self.graph, self.settings.link_expansion)
        if taken:
            there = predicates.every(where.allowed, predicates.among("source_file", taken))
            linked = replace(where, allowed=there, pointed=None)
            found, _, _ = self._look(Look(understood.subject), understood, linked, common)
            best.take(found, new_only=True)
            best.add(taken)

    def _vectors(self, text: str, vector: Vector, manifest: IndexManifest) -> list[Vector]:
        """The question as it was asked, and as if it were asked in the vault's language."""
        to = manifest.calibration.tongue if manifest.calibration else ""
        moved = self.tongues.moved(text, vector, to, manifest.embedder.embedder_id, self.embed) if to else None
        return [vector] if moved is None else [vector, moved]

    def _places(self, understood: Understood) -> str | None:
        """Where the question points, as a predicate: its days and its phrases.

        What it names by name is found by that name.
        """
        around = dt.timedelta(_DAYS_AROUND)
        return predicates.either(
            *(predicates.within(first, last, around) for first, last in self._days(understood.dates, understood.today)),
            *(self.index.holding(phrase) for phrase in understood.phrases),
        )

    def _days(self, spans: Iterable[DateSpan], today: dt.date) -> Iterator[tuple[dt.date, dt.date]]:
        """The stretches of days that are meant; those of every year that has notes, where no year is named."""
        begun, latest = self.graph.first_day, self.graph.last_day
        for span in spans:
            if not (span.every_year and begun and latest):
                yield span.first, span.last
                continue
            # A note may lie in the far future, as a placeholder or by a slip of the pen.
            last = max(min(latest.year, today.year + 1), span.last.year)
            yield from (in_year(span, year) for year in range(begun.year, last + 1)[-_MOST_YEARS:])


def _falling(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """The hits with scores that never rise: one that stands before another is at least as relevant as that."""
    shown: list[SearchHit] = []
    for hit in reversed(list(hits)):
        shown.append(replace(hit, score=max(hit.score, shown[-1].score if shown else 0.0)))
    return shown[::-1]


def _strength(hits: Sequence[SearchHit], threshold: float) -> Strength:
    best = max((hit.score for hit in hits), default=0.0)
    return "none" if best < threshold or not hits else "strong" if best >= max(_STRONG, threshold) else "weak"


def _permitted(demanded: SearchFilters, allowed: FilterSettings) -> SearchFilters:
    """What a question demands, without what the settings switch off."""
    days = allowed.date_range_enabled
    return replace(
        demanded,
        after=demanded.after if days else None,
        before=demanded.before if days else None,
        tags=demanded.tags if allowed.tag_filter_enabled else (),
        folder=demanded.folder if allowed.directory_filter_enabled else None,
    )


def _together(asked: SearchFilters, demanded: SearchFilters) -> SearchFilters:
    """Both in force: the narrower days, all tags; the folder that was asked for beside the question, else its own."""
    return replace(
        asked,
        after=max(filter(None, (asked.after, demanded.after)), default=None),
        before=min(filter(None, (asked.before, demanded.before)), default=None),
        tags=tuple(dict.fromkeys((*asked.tags, *demanded.tags))),
        folder=asked.folder if asked.folder is not None else demanded.folder,
    )
