"""`companion chat` between pipes: line for line."""

import re

from companion_assets.contracts.paths import data_paths
from companion_assets.stores.chat_log import ChatLog
from tests.backends.ollama_double import OllamaDouble
from tests.cli.commands import Shell
from tests.cli.conftest import Indexed


def test_lines_are_answered_in_turn_until_exit(talking: Shell, server: OllamaDouble) -> None:
    server.reply = lambda messages: "Benedita [2]." if "varnish" in messages[-1]["content"] else "It is 4.2 mm [1]."
    lines = "How thick is the top of the cello?\n\n  \nWho sold me varnish?\n/exit\nIs this read?\n"
    done = talking.run("chat", stdin=lines)
    assert done.status == 0
    assert re.findall(r"^(?:It|Ben).*$", done.out, re.MULTILINE) == ["It is 4.2 mm [1].", "Benedita [2]."]
    assert "[2] Journal/2026-03-02.md:1-2" in done.out
    assert done.err == ""
    asked = [body["messages"][-1]["content"] for body in server.bodies("/api/chat") if body["messages"]]
    assert not any("Is this read?" in text for text in asked)
    second = server.bodies("/api/chat")[-1]["messages"]
    assert any("It is 4.2 mm [1]." in message["content"] for message in second), "the first turn is remembered"


def test_what_is_no_question_does_not_end_it(small: Indexed) -> None:
    done = small.shell.run("chat", stdin="/help me\n" + "x" * 9000 + "\nWho sold me varnish?")
    assert done.status == 1
    assert "there is no command /help" in done.err
    assert "9,000 characters" in done.err
    assert "Benedita" in done.out


def test_no_input_is_a_short_conversation(small: Indexed) -> None:
    done = small.shell.run("chat")
    assert (done.status, done.out, done.err) == (0, "", "")


def test_a_conversation_is_carried_on(talking: Shell, server: OllamaDouble) -> None:
    server.reply = "It is 4.2 mm [1]."
    talking.run("chat", stdin="How thick is the top of the cello?")
    log = ChatLog(data_paths(talking.home).companion_db)
    conversation = log.sessions()[0]  # the last used
    talking.run("chat", "--session", conversation.session_id, stdin="And what is the bass bar of?")
    last = server.bodies("/api/chat")[-1]["messages"]
    assert any("How thick is the top" in message["content"] for message in last)
    assert [turn.question for turn in log.turns(conversation.session_id)] == [
        "How thick is the top of the cello?",
        "And what is the bass bar of?",
    ]
    log.close()


def test_a_conversation_nobody_had_is_refused(small: Indexed) -> None:
    assert "companion chat begins a new one" in small.shell.refused("chat", "--session", "nope")
