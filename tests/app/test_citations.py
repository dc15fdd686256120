"""Numbers in a reply never point at a passage nobody was shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_app.citations import CitationFilter, cited_numbers, settle_citations

PASSAGES = {
    1: "Moved into the flat on Rua do Almada, third floor. Beatriz gave us the keys.",
    2: "Paid Beatriz 890 for the first month.",
    3: "Ran the half marathon in 2:09:41, knee fine.",
}


def streamed(text: str, size: int = 1) -> str:
    citations = CitationFilter(PASSAGES)
    pieces = [citations.feed(text[i : i + size]) for i in range(0, len(text), size)]
    return "".join([*pieces, citations.flush()])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("You paid 890 [2].", "You paid 890 [2]."),
        ("You paid 890 [2, 1].", "You paid 890 [2][1]."),
        ("All of it [1-3].", "All of it [1][2][3]."),
        ("Invented [9]. Real [1].", "Invented . Real [1]."),
        ("你付了890【2】。", "你付了890[2]。"),
        ("An array a[i] and [text] and [", "An array a[i] and [text] and ["),
        ("Half known [2; 8]", "Half known [2]"),
    ],
)
def test_only_shown_passages_survive_whatever_the_pieces(written: str, shown: str, size: int) -> None:
    assert streamed(written, size) == shown


@given(st.text(), st.integers(1, 9))
def test_the_filter_loses_nothing_but_marks(text: str, size: int) -> None:
    if "[" not in text and "【" not in text:
        assert streamed(text, size) == text
    assert set(cited_numbers(streamed(text, size))) <= set(PASSAGES)


def test_text_is_not_held_back_without_need() -> None:
    citations = CitationFilter(PASSAGES)
    assert citations.feed("You moved to ") == "You moved to "
    assert citations.feed("Rua do Almada [") == "Rua do Almada "
    assert citations.feed("1] in June") == "[1] in June"


def test_a_supported_sentence_without_a_number_gets_one() -> None:
    reply = settle_citations("You ran the half marathon in 2:09:41.", PASSAGES)
    assert reply == "You ran the half marathon in 2:09:41 [3]."


def test_a_number_that_supports_nothing_is_replaced() -> None:
    assert settle_citations("You paid Beatriz 890 [3].", PASSAGES) == "You paid Beatriz 890 [2]."


def test_a_right_number_stays_and_an_unsupported_sentence_stays_bare() -> None:
    reply = "You moved to Rua do Almada [1]. That sounds like a change!"
    assert settle_citations(reply, PASSAGES) == reply


def test_a_mark_behind_the_full_stop_belongs_to_its_sentence() -> None:
    reply = "You moved to Rua do Almada. [1]"
    assert settle_citations(reply, PASSAGES) == reply


def test_equal_sentences_are_settled_each() -> None:
    reply = settle_citations("You paid 890.\nYou paid 890.", PASSAGES)
    assert reply == "You paid 890 [2].\nYou paid 890 [2]."


@given(st.text())
def test_settling_never_raises_and_cites_only_known_passages(reply: str) -> None:
    assert set(cited_numbers(settle_citations(streamed(reply), PASSAGES))) <= set(PASSAGES)


@pytest.mark.parametrize("reply", ["You got a score of 18 [1].", "You keep it at the island, under a palm [2]."])
def test_a_cited_sentence_that_no_note_supports_is_dropped(reply: str) -> None:
    assert settle_citations(reply, PASSAGES, "What score did I get, and where do I keep it?") == ""
    both = settle_citations(f"You paid 890 [2]. {reply}", PASSAGES, "What did I pay?")
    assert both == "You paid 890 [2]."


def test_what_was_not_asked_decides_which_passage_is_cited() -> None:
    passages = {1: "Lars worked at Volvo until June.", 2: "Lars's bakery. The oven, 1951, is called Volvo."}
    reply = settle_citations("Lars calls the oven Volvo [1].", passages, "What does Lars call the oven in his bakery?")
    assert reply == "Lars calls the oven Volvo [2]."


def test_a_reply_in_another_language_than_the_notes_stays() -> None:
    reply = "Du hast den Schlüssel von der Vermieterin bekommen [1]."
    assert settle_citations(reply, PASSAGES, "Wer gab mir den Schlüssel?") == reply


def test_a_date_written_out_is_still_that_date() -> None:
    reply = "His birthday is on November 2, 1988 [1]."
    assert settle_citations(reply, {1: "birthday: 1988-11-02"}, "When is his birthday?") == reply
