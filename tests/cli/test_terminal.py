"""What a person sees: on a real terminal, with colours, links, a reply that grows and Ctrl-C."""

from tests.backends.ollama_double import OllamaDouble
from tests.cli.commands import Shell
from tests.cli.conftest import Indexed
from tests.cli.screen import Screen

QUESTION = "How thick is the top of the cello?"
REPLY = "The top of the cello is 4.2 mm thick now, after a long week of careful work. The bass bar is spruce."


def test_the_wait_is_shown_the_reply_grows_and_its_citations_settle_in_place(
    talking: Shell, server: OllamaDouble
) -> None:
    server.reply, server.delay, server.piece_delay = REPLY, 0.4, 0.02
    with Screen(talking, "ask", QUESTION) as screen:
        assert screen.ended() == 0
    assert screen.raw.index("opening your notes") < screen.raw.index("reading Cello") < screen.raw.index("thinking")
    assert screen.raw.index("thinking") < screen.raw.index("The top of")
    assert screen.lines() == [
        "reading Cello",
        "The top of the cello is 4.2 mm thick now, after a long week",
        "of careful work [1]. The bass bar is spruce [1].",
        "",
        "[1] Cello.md:5-7 · Cello",
        "",
    ]
    assert screen.raw.count("The top of") == 1, "only the line that differs is drawn again"


def test_citations_and_sources_open_the_note_in_obsidian(talking: Shell, server: OllamaDouble) -> None:
    server.reply = "It is 4.2 mm [1]."
    with Screen(talking, "ask", QUESTION) as screen:
        screen.ended()
    assert screen.raw.count(";obsidian://open?vault=vault&file=Cello\x1b\\") == 2


def test_without_rich_output_nothing_is_drawn_over(talking: Shell, server: OllamaDouble) -> None:
    server.reply = REPLY
    with Screen(talking.with_variables(COMPANION_UI__CLI__RICH_OUTPUT="false"), "ask", QUESTION, width=200) as screen:
        screen.ended()
    shown = screen.raw[screen.raw.index("The top") :]
    assert shown.startswith("The top of the cello is 4.2 mm thick now, after a long week of careful work [1].")
    assert "\x1b" not in shown


def test_ctrl_c_stops_the_reply_and_the_conversation_goes_on(talking: Shell, server: OllamaDouble) -> None:
    server.reply = "It is 4.2 mm [1]. " + "More of it. " * 300
    server.piece_delay = 0.05
    with Screen(talking, "chat") as screen:
        screen.wait_for("› ")
        screen.type(f"{QUESTION}\n")
        screen.wait_for("4.2 mm")
        screen.type("\x03")
        screen.wait_for("stopped")
        server.reply, server.piece_delay = "Benedita [2].", 0.0
        screen.wait_for("› ", times=2)
        screen.type("Who sold me varnish?\n")
        screen.wait_for("Journal/2026-03-02.md:1-2")
        screen.wait_for("› ", times=3)
        screen.type("\x03")
        screen.wait_for("/exit ends", times=2)
        screen.type("\x04")
        assert screen.ended() == 0
    assert server.cancelled == 1
    assert "companion chat --session" in screen.raw


def test_ask_without_a_question_does_not_wait_for_one(small: Indexed) -> None:
    with Screen(small.shell, "ask") as screen:
        assert screen.ended() == 1
    assert "no question was given" in screen.raw
