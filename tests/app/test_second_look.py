"""A reply that abstains against the evidence, or speaks as the person, is asked for once more, unseen."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import pytest

from companion_app.events import Delta, Final
from companion_app.retrieval import Retrieval
from companion_app.second_look import abstains, is_undecided, second_look
from companion_app.session import ChatSession
from companion_assets.backends.scripted import ScriptedGenerator
from companion_assets.contracts.prompt import ABSTENTION
from companion_assets.contracts.records import Message
from companion_assets.contracts.searching import SearchHit
from companion_assets.contracts.settings import CompanionSettings
from companion_assets.stores.chat_log import ChatLog

RACE = "Result of the half marathon: Time 2:09:41."
HIT = SearchHit("c1", "Race.md", "Race", "", dt.date(2026, 9, 20), (), 1, 3, RACE, 0.9, 0.8, 5.0, ("dense", "text"))


class OneHit:
    """A retriever that finds the race."""

    def retrieve(self, question: str, **_: object) -> Retrieval:
        return Retrieval((HIT,), True, 0.0)


def replies(script: Sequence[str], tmp_path: Path, question: str) -> tuple[str, Final, ScriptedGenerator]:
    """What was shown, how it ended, and the generator with the prompts it saw."""
    spoken = iter(script)
    generator = ScriptedGenerator(lambda _messages: next(spoken))
    log = ChatLog(tmp_path / "companion.db")
    session = ChatSession(log.create_session(), OneHit(), lambda: generator, log, CompanionSettings())  # type: ignore[arg-type]
    events = list(session.reply(question))
    shown = "".join(event.text for event in events if isinstance(event, Delta))
    final = events[-1]
    assert isinstance(final, Final)
    return shown, final, generator


def asked_last(messages: Sequence[Message]) -> str:
    return messages[-1].content


def test_an_abstention_that_the_notes_contradict_is_questioned_once(tmp_path: Path) -> None:
    question = "What was my half marathon time?"
    shown, final, generator = replies([ABSTENTION, "Your time was 2:09:41 [1]."], tmp_path, question)
    assert shown == final.turn.reply == "Your time was 2:09:41 [1]."
    assert len(generator.prompts) == 2
    assert "[1]" in asked_last(generator.prompts[1])
    assert question in asked_last(generator.prompts[1])


def test_a_second_abstention_stands(tmp_path: Path) -> None:
    _, final, generator = replies([ABSTENTION, ABSTENTION], tmp_path, "What was my half marathon time?")
    assert final.turn.reply == ABSTENTION
    assert final.turn.citations == ()
    assert len(generator.prompts) == 2


def test_an_abstention_that_nothing_contradicts_is_not_questioned(tmp_path: Path) -> None:
    _, final, generator = replies([ABSTENTION], tmp_path, "What score did I get in my driving test?")
    assert final.turn.reply == ABSTENTION
    assert len(generator.prompts) == 1


@pytest.mark.parametrize(
    "said", ["I ran it in 2:09:41 [1].", "My time was 2:09:41 [1].", "Meine Zeit war 2:09:41 [1]."]
)
def test_a_reply_in_the_persons_voice_is_never_shown(said: str, tmp_path: Path) -> None:
    shown, final, _ = replies([said, "You ran it in 2:09:41 [1]."], tmp_path, "What was my half marathon time?")
    assert shown == final.turn.reply == "You ran it in 2:09:41 [1]."


def test_an_ordinary_reply_is_shown_as_it_comes(tmp_path: Path) -> None:
    shown, final, generator = replies(
        ["You ran it in 2:09:41 [1], fog and all."], tmp_path, "How was the half marathon?"
    )
    assert shown == final.turn.reply
    assert len(generator.prompts) == 1


def test_a_very_short_reply_is_shown(tmp_path: Path) -> None:
    shown, final, _ = replies(["2:09:41 [1]"], tmp_path, "What was my half marathon time?")
    assert shown == final.turn.reply == "2:09:41 [1]"


@pytest.mark.parametrize(
    "said", ["The wife's name is not mentioned in the notes [1].", "Your notes don't say that.", "It isn't recorded."]
)
def test_an_abstention_in_other_words_is_one_and_cites_nothing(said: str, tmp_path: Path) -> None:
    _, final, _ = replies([said], tmp_path, "What is the name of his wife?")
    assert final.turn.reply == ABSTENTION
    assert final.turn.citations == ()


@pytest.mark.parametrize(
    "said", ["You did not give her the pencil [1].", "He didn't tell you [1].", "No: it was his [1]."]
)
def test_an_answer_with_a_negation_is_no_abstention(said: str) -> None:
    assert not abstains(said)


def test_accents_do_not_hide_what_a_note_speaks_of() -> None:
    look = second_look(ABSTENTION, "Whose parrot was Camões?", {2: "Her brother Aníbal: the parrot Camoes was his."})
    assert look is not None
    assert "[2]" in look


def test_only_the_beginning_has_to_be_held_back() -> None:
    assert is_undecided("Your notes d")
    assert is_undecided("I")
    assert not is_undecided("Your notes describe it")
    assert second_look("Iris called you [1].", "Who called?", {}) is None
