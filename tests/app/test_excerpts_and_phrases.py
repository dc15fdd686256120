"""Short forms of long passages, and the sentences Companion says without a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_app.excerpts import excerpt, plain, terms
from companion_app.intent import is_small_talk
from companion_app.phrases import is_abstention, language_of, say

LONG = (
    "Rain all day, the bench smells of shellac. Ana swept twice.\n"
    "Dr. Pinto says De Quervain tendonitis: splint for six weeks, no scroll carving.\n"
    "Bought bread and sardines. The parrot shouted at the postman. Nothing else happened until the evening."
)


def test_the_excerpt_holds_the_sentence_that_was_asked_for() -> None:
    piece = excerpt(LONG, "What did the hand doctor Pinto say about my tendonitis?", 100)
    assert "splint for six weeks" in piece
    assert len(piece) <= 100


def test_a_short_passage_is_left_alone() -> None:
    assert excerpt("One line.", "anything", 100) == "One line."


@given(st.text(min_size=1), st.text(), st.integers(20, 200))
def test_an_excerpt_never_raises_and_stays_short(text: str, question: str, limit: int) -> None:
    assert len(excerpt(text, question, limit)) <= max(limit + 2, len(text) if len(text) <= limit else 0)


def test_terms_see_words_numbers_and_pairs_of_unspaced_script() -> None:
    found = terms("Tomás called at 2:09 since 1988-11-02 在台北吃饭")
    assert {"2:09", "1988", "台北", "吃饭"} <= set(found)
    assert set(terms("calls TOMÁS")) <= set(found)


def test_a_list_item_keeps_its_date_and_a_row_names_its_columns() -> None:
    log = "## Log\n" + "\n".join(f"- 2026-05-{day:02} Something dull. Then more of it." for day in range(1, 20))
    log += "\n- 2026-06-18 He phones. Speech back, slow, with the swearing intact.\n"
    assert "- 2026-06-18 He phones. Speech back" in excerpt(log, "When did he phone me?", 200)
    table = "| Month | Me | Tomás |\n| --- | --: | --: |\n| July | 5:50 | 6:00 |\n| August | 7:10 | |\n"
    assert plain(table) == "Month: July; Me: 5:50; Tomás: 6:00\nMonth: August; Me: 7:10"


def test_a_model_reads_what_links_and_emphasis_show() -> None:
    written = (
        "> [!note] Result\n> Bib **3317**, see [[Ana Ferreira|Ana]] and [[Cello 1897]]. ![[x.png|300]] ^abc\n2 ** 3"
    )
    assert plain(written) == "Result\nBib 3317, see Ana and Cello 1897. \n2 ** 3"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("When did I move?", "en"),
        ("Wann habe ich Frau Krüger geschrieben?", "de"),
        ("¿Cuándo fue el curso con el maestro?", "es"),
        ("Quand est-ce que je suis allée à Lyon ?", "fr"),
        ("李梅什么时候来？", "zh"),
        ("いつ引っ越しましたか", "ja"),
        ("Когда я переехала?", "ru"),
        ("xyzzy", "en"),
    ],
)
def test_the_language_of_a_question(text: str, code: str) -> None:
    assert language_of(text) == code
    assert is_abstention(say("nothing_found", text))


@pytest.mark.parametrize("message", ["hi", "Good morning!", "thank you so much", "谢谢", "Hej"])
def test_greetings_ask_nothing(message: str) -> None:
    assert is_small_talk(message)


@pytest.mark.parametrize(
    "message", ["", "hi, when did I move?", "thanks to whom did I get the job", "good bread recipe"]
)
def test_questions_are_no_small_talk(message: str) -> None:
    assert not is_small_talk(message)
