"""How much speaks for a passage, and in which order passages come."""

import datetime as dt
from typing import Any

import pytest

from companion_assets.contracts.manifests import Calibration
from companion_assets.contracts.searching import DateSpan, Named, SearchHit, Understood
from companion_assets.contracts.settings import HybridSettings
from companion_assets.retrieval.evidence import Common, Shares, spread_out, weigh

E5 = Calibration(p50=0.75, p999=0.83, pairs=1000, chunks=1000)
TODAY = dt.date(2026, 11, 30)
BOTH = Shares(1.0, 1.0)
NOTHING_COMMON = Common()


def _hit(
    name: str, similarity: float | None = None, keyword: float | None = None, path: str | None = None, **more: Any
) -> SearchHit:
    values = {"title": name, "date": None, "tags": (), "text": name, **more}
    return SearchHit(
        name, path or f"{name}.md", values["title"], "", values["date"], values["tags"], 1, 1, values["text"], 0.0,
        similarity, keyword, (),
    )  # fmt: skip


def _understood(**said: Any) -> Understood:
    return Understood(question="", subject="", today=TODAY, **said)


def _ask(
    dense: list[SearchHit],
    words: list[SearchHit],
    *,
    notes: dict[str, float] | None = None,
    shares: Shares = BOTH,
    background: Calibration | None = E5,
    common: Common = NOTHING_COMMON,
    **said: Any,
) -> list[SearchHit]:
    weighed = weigh(dense, words, notes or {}, [], _understood(**said), shares, background, common)
    return [each.shown() for each in weighed]


def _order(hits: list[SearchHit]) -> list[str]:
    return [hit.chunk_id for hit in hits]


def test_one_exact_match_counts_in_full() -> None:
    dense = [_hit(f"d{i}", 0.80 - i / 1000) for i in range(20)]
    hits = _ask(dense, [_hit("exact", 0.78, keyword=15.0)])
    assert hits[0].chunk_id == "exact"
    assert hits[0].matched_by == ("text",)


def test_words_that_are_everywhere_count_for_nothing() -> None:
    dense = [_hit(f"c{i:03}", 0.85 - i / 1000) for i in range(150)]
    common = [_hit(f"c{149 - i:03}", 0.85 - (149 - i) / 1000, 12.0) for i in range(150)]
    everywhere = {hit.path: 7.0 for hit in dense}
    assert _order(_ask(dense, common, notes=everywhere, common=Common(12.0, 7.0))) == _order(dense)
    assert _order(_ask(dense, common, common=Common(11.0))) == _order(dense)
    assert _ask(dense, common)[0].score > _ask(dense, common, common=Common(12.0))[0].score


def test_a_passage_of_a_note_that_is_about_it_is_ahead() -> None:
    words = [_hit("lone", 0.8, 6.0, "lone.md"), _hit("a", 0.8, 5.9, "note.md")]
    assert _order(_ask([], words))[0] == "lone"
    assert _order(_ask([], words, notes={"note.md": 9.0, "lone.md": 6.0}))[0] == "a"


def test_the_shares_decide() -> None:
    dense, words = [_hit("meaning", 0.90), _hit("words", 0.76)], [_hit("words", 0.76, 45.0)]
    assert _order(_ask(dense, words, shares=Shares(1.0, 0.0)))[0] == "meaning"
    assert _order(_ask(dense, words, shares=Shares(0.0, 1.0)))[0] == "words"
    for shares in (Shares(1.0, 0.0), Shares(1.0, 0.4), BOTH, Shares(0.0, 1.0)):
        assert all(0 <= hit.score <= 1 for hit in _ask(dense, words, shares=shares))


@pytest.mark.parametrize(
    ("settings", "has_vector", "shares"),
    [
        ({}, True, BOTH),
        ({}, False, Shares(0.0, 1.0)),
        ({"enabled": False}, True, Shares(1.0, 0.0)),
        ({"keyword_weight": 0.3, "semantic_weight": 0.7}, True, Shares(1.0, 0.3 / 0.7)),
        ({"keyword_weight": 1, "semantic_weight": 0}, True, Shares(0.0, 1.0)),
    ],
)
def test_the_settings_give_the_shares(settings: dict[str, Any], has_vector: bool, shares: Shares) -> None:
    assert Shares.of(HybridSettings(**settings), has_vector=has_vector) == shares


def test_found_by_both_is_one_hit_and_says_so() -> None:
    hits = _ask([_hit("x", 0.9)], [_hit("x", 0.9, 5.0)])
    assert [(hit.chunk_id, hit.similarity, hit.keyword, hit.matched_by) for hit in hits] == [
        ("x", 0.9, 5.0, ("dense", "text"))
    ]
    assert _ask([], [], background=None) == []


def test_found_in_two_languages_counts_as_the_nearer() -> None:
    assert _ask([_hit("x", 0.8), _hit("x", 0.9)], [])[0].similarity == 0.9


def _day(name: str, day: dt.date, similarity: float = 0.78) -> SearchHit:
    return _hit(name, similarity, date=day)


def test_a_note_of_the_day_asked_for_is_ahead_of_one_that_only_sounds_alike() -> None:
    span = DateSpan(dt.date(2026, 3, 14), dt.date(2026, 3, 14), 0, 1)
    on, beside, far = (_day(name, dt.date(2026, 3, day)) for name, day in (("on", 14), ("beside", 15), ("far", 29)))
    alike = _hit("alike", 0.9, date=dt.date(2026, 6, 1))
    hits = _ask([alike, far, beside, on], [], dates=(span,))
    assert _order(hits) == ["on", "beside", "alike", "far"] or _order(hits) == ["on", "alike", "beside", "far"]
    assert "date" in hits[0].matched_by


def test_a_day_without_a_year_is_that_day_of_other_years_too_but_less() -> None:
    span = DateSpan(dt.date(2026, 3, 14), dt.date(2026, 3, 14), 0, 1, every_year=True)
    hits = [_day("other day", dt.date(2024, 5, 1)), _day("2024", dt.date(2024, 3, 14)), _day("now", span.first)]
    assert _order(_ask(hits, [], dates=(span,))) == ["now", "2024", "other day"]
    leap = DateSpan(dt.date(2024, 2, 29), dt.date(2024, 2, 29), 0, 1, every_year=True)
    assert _order(_ask([*hits, _day("leap", dt.date(2025, 3, 1))], [], dates=(leap,)))[0] == "leap"


def test_a_stretch_across_new_year_is_whole_in_every_year() -> None:
    span = DateSpan(dt.date(2026, 12, 28), dt.date(2027, 1, 3), 0, 1, every_year=True)
    days = [
        dt.date(2027, 1, 2),
        dt.date(2026, 12, 30),
        dt.date(2025, 12, 30),
        dt.date(2025, 1, 2),
        dt.date(9999, 12, 30),
    ]
    hits = _ask([_day(str(day), day) for day in days], [], dates=(span,))
    assert all("date" in hit.matched_by for hit in hits if hit.date and hit.date.year < 9999)
    assert set(_order(hits)[:2]) == {"2027-01-02", "2026-12-30"}


def test_names_count_as_whole_words_and_the_note_of_that_name() -> None:
    ana = Named("Ana Costa", ("ana costa", "ana"), ("People/Ana Costa.md",), "person", 0, 3)
    hits = [_hit(text, 0.8, text=text) for text in ("A banana.", "With Ana, home.", "Nobody.")]
    own = _hit("own", 0.8, path="People/Ana Costa.md", text="Born in May.")
    order = _order(_ask([*hits, own], [], named=(ana,)))
    assert set(order[:2]) == {"With Ana, home.", "own"}
    mei = Named("李梅", ("李梅",), (), "person", 0, 2)
    assert (
        _order(_ask([_hit("a", 0.8, text="昨天。"), _hit("b", 0.8, text="和李梅吃饭。")], [], named=(mei,)))[0] == "b"
    )


def test_phrases_tags_and_folders_pull_up_and_what_is_unwanted_pushes_down() -> None:
    plain, other = _hit("plain", 0.80), _hit("Work/other", 0.79, text="A Grey  cat", tags=("work/wood",))
    assert _order(_ask([plain, other], []))[0] == "plain"
    assert _order(_ask([plain, other], [], tags=("work",)))[0] == "Work/other"
    assert _order(_ask([plain, other], [], folders=("Work",)))[0] == "Work/other"
    assert _order(_ask([plain, other], [], phrases=("grey  cat",)))[0] == "Work/other"
    assert _order(_ask([plain, other], [], without=("PLAIN",)))[0] == "Work/other"


@pytest.mark.parametrize(("order", "first"), [("newest", "new"), ("oldest", "old"), ("", "a")])
def test_newest_and_oldest_are_taken_at_their_word(order: str, first: str) -> None:
    hits = [
        _day("a", dt.date(2024, 5, 1)), _day("new", dt.date(2026, 5, 1)), _day("old", dt.date(2020, 5, 1)),
        _hit("undated", 0.77),
    ]  # fmt: skip
    assert _order(_ask(hits, [], order=order))[0] == first


def test_one_note_does_not_fill_the_list() -> None:
    many = [_hit(f"m{i}", 0.85 - i / 10_000, path="many.md") for i in range(6)]
    others = [_hit(f"o{i}", 0.83 - i / 10_000) for i in range(3)]
    spread = spread_out(weigh([*many, *others], [], {}, [], _understood(), BOTH, E5, NOTHING_COMMON))
    assert len({each.hit.path for each in spread[:5]}) == 4
    assert len(spread) == 9


def test_without_meaning_a_good_match_of_words_is_relevant() -> None:
    lone = _ask([], [_hit("x", None, 14.0)], shares=Shares(0.0, 1.0))[0]
    assert lone.score > 0.75
