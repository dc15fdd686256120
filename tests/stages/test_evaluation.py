"""The metrics, worked out by hand: what a ranking is worth, over questions and in slices."""

from dataclasses import dataclass

import pytest

from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.searching import SearchHit
from companion_assets.stages.evaluation import METRICS, Outcome, ask, evaluate, ranked_notes, score
from companion_assets.stages.questions import Question


def question(*groups: tuple[str, ...], evidence: tuple[str, ...] = (), **more: str) -> Question:
    """One whose evidence is all notes of its groups, unless it is told."""
    notes = evidence or tuple(dict.fromkeys(note for group in groups for note in group))
    return Question(key="q", text="?", evidence=notes, groups=groups, **more)


def ranking(**places: int) -> list[str]:
    """Sixty notes, with some of them at certain places."""
    paths = [f"other {place}.md" for place in range(1, 61)]
    for name, place in places.items():
        paths[place - 1] = f"{name}.md"
    return paths


def test_the_first_evidence_note_decides_the_rank() -> None:
    figures = score(question(("a.md",), ("b.md",)), ranking(a=4, b=2))
    assert figures["mrr"] == 1 / 2
    assert figures["hit@1"] == 0


def test_each_piece_is_met_by_the_best_note_that_carries_it() -> None:
    figures = score(question(("a.md", "b.md"), ("c.md",), ("d.md",)), ranking(a=30, b=1, c=6, d=10))
    assert figures["hit@1"] == 1
    assert figures["recall@5"] == pytest.approx(1 / 3)
    assert figures["recall@8"] == pytest.approx(2 / 3)
    assert figures["recall@10"] == 1
    assert figures["full@10"] == 1


def test_one_piece_beyond_the_tenth_note_is_not_the_whole_answer() -> None:
    figures = score(question(("a.md",), ("b.md",)), ranking(a=1, b=11))
    assert figures["recall@10"] == 1 / 2
    assert figures["full@10"] == 0


def test_a_note_counts_once_at_its_first_rank() -> None:
    paths = ["x.md", "x.md", "./x.md", "a.md", "x.md", "b.md"]
    assert ranked_notes(paths) == ["x.md", "a.md", "b.md"]
    assert score(question(("b.md",)), paths)["mrr"] == 1 / 3


@pytest.mark.parametrize(("place", "worth"), [(50, 1 / 50), (51, 0.0)])
def test_beyond_rank_fifty_nothing_was_found(place: int, worth: float) -> None:
    assert score(question(("a.md",)), ranking(a=place))["mrr"] == worth


def test_nothing_found_is_worth_nothing() -> None:
    assert score(question(("a.md",), ("b.md",)), []) == dict.fromkeys(METRICS, 0.0)


def test_paths_are_compared_as_notes_not_as_spellings() -> None:
    decomposed = "Umea\u030a\\Elsa.md"
    assert score(question(("Umeå/Elsa.md",)), [decomposed])["hit@1"] == 1


def outcome(
    asked: Question, *notes: str, relevant: bool = True, strong: bool = False, seconds: float = 0.01
) -> Outcome:
    return Outcome(asked, notes, relevant, strong, seconds)


def test_questions_are_averaged_in_all_and_in_their_slices() -> None:
    report = evaluate(
        [
            outcome(question(("a.md",), category="fact", language="en"), "a.md", strong=True),
            outcome(question(("b.md",), category="fact", language="de"), "x.md", "b.md"),
            outcome(question(("c.md",), category="date"), "x.md", relevant=False),
            outcome(Question("u", "?", category="unanswerable", language="en"), "x.md", relevant=False),
            outcome(Question("v", "?", category="unanswerable", language="de"), "x.md"),
        ]
    )
    assert report.whole.answerable == 3
    assert report.whole.metrics["mrr"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert report.whole.metrics["recall@10"] == pytest.approx(2 / 3)
    assert (report.whole.unanswerable, report.whole.marked) == (2, 1 / 2)
    assert report.whole.wrongly_marked == pytest.approx(1 / 3)
    assert (report.whole.doubted, report.whole.wrongly_doubted) == (1, pytest.approx(2 / 3))
    assert list(report.by_category) == ["date", "fact", "unanswerable"]
    assert report.by_category["fact"].metrics["mrr"] == 3 / 4
    assert report.by_category["fact"].marked is None
    assert report.by_category["unanswerable"].metrics == {}
    assert report.by_category["unanswerable"].wrongly_marked is None
    assert report.by_language["en"].marked == 1
    assert report.by_language["de"].metrics["hit@1"] == 0


def test_bounds_hold_the_mean_and_are_the_same_every_time() -> None:
    outcomes = [outcome(question((f"{n}.md",)), *(["0.md"] if n % 2 else [f"{n}.md"])) for n in range(40)]
    report = evaluate(outcomes)
    low, high = report.whole.bounds["mrr"]
    assert 0.3 < low < report.whole.metrics["mrr"] == 0.5 < high < 0.7
    assert evaluate(outcomes) == report
    assert evaluate([outcome(question(("a.md",)), "a.md")] * 9).whole.bounds["mrr"] == (1.0, 1.0)


def test_times_are_told_in_milliseconds() -> None:
    report = evaluate([outcome(question(("a.md",)), seconds=n / 1000) for n in range(1, 101)])
    assert report.p50 == pytest.approx(51)
    assert report.p95 == pytest.approx(96)


def test_a_failed_search_says_nothing_of_times_and_of_what_is_held_for_relevant() -> None:
    failed = {"notes": (), "relevant": False, "strong": False, "seconds": 0.0, "fault": "the server is gone"}
    report = evaluate(
        [
            outcome(question(("a.md",)), "a.md", strong=True),
            Outcome(question(("b.md",)), **failed),
            outcome(Question("u", "?"), "x.md"),
            Outcome(Question("v", "?"), **failed),
            Outcome(Question("w", "?", category="lost"), **failed),
        ]
    )
    assert (report.p50, report.p95) == (10, 10)
    assert (report.whole.marked, report.whole.doubted) == (0, 1)
    assert (report.whole.wrongly_marked, report.whole.wrongly_doubted) == (0, 0)
    assert report.whole.metrics["recall@10"] == 1 / 2, "it has found nothing"
    assert (report.whole.answerable, report.whole.unanswerable) == (2, 3)
    assert report.by_category["lost"].marked is None


@dataclass
class Hits:
    hits: tuple[SearchHit, ...]
    relevant: bool
    strength: str


def hit(path: str, score: float) -> SearchHit:
    return SearchHit(path, path, path, "", None, (), 1, 1, "text", score, None, None, ())


def test_a_question_is_searched_as_chat_does_and_ranked_as_a_whole() -> None:
    seen = Hits((hit("b.md", 0.7), hit("a.md", 0.9)), True, "strong")
    ranked = Hits(tuple(hit(path, 0.1) for path in ("c.md", "c.md", "a.md", "b.md")), False, "none")
    asked = ask(question(("a.md",)), lambda everything: ranked if everything else seen, 2)
    assert (asked.notes, asked.relevant, asked.strong, asked.best, asked.fault) == (
        ("c.md", "a.md"), True, True, 0.9, ""
    )  # fmt: skip
    assert asked.seconds > 0


@pytest.mark.parametrize("fails_at", [False, True])
def test_a_question_that_cannot_be_searched_is_told_and_has_found_nothing(fails_at: bool) -> None:
    def look(everything: bool) -> Hits:
        if everything == fails_at:
            raise BackendUnavailable("the server is gone")
        return Hits((hit("a.md", 0.9),), True, "strong")

    asked = ask(question(("a.md",)), look)
    assert (asked.notes, asked.relevant, asked.strong, asked.fault) == ((), False, False, "the server is gone")


def test_a_set_of_nothing_but_unanswerable_questions_has_no_ranking() -> None:
    report = evaluate([outcome(Question("u", "?"), relevant=False)])
    assert report.whole.metrics == {}
    assert report.whole.bounds == {}
    assert report.whole.marked == 1
