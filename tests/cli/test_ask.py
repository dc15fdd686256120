"""`companion ask`: one question, one answer, the lines it stands on."""

import json
import signal
import subprocess
import time

from tests.backends.ollama_double import OllamaDouble
from tests.cli.commands import COMMAND, ROOT, Shell
from tests.cli.conftest import Indexed

QUESTION = "How thick is the top of the cello?"


def test_without_a_model_the_best_passages_are_quoted_and_cited(small: Indexed) -> None:
    done = small.shell.run("ask", QUESTION)
    assert done.status == 0
    assert "> Regraduated the top of the cello to 4.2 mm. The bass bar is spruce. [1]" in done.out
    assert done.out.splitlines()[-1] == "[1] Cello.md:5-7 · Cello"
    assert done.err == ""


def test_the_question_may_come_from_a_pipe(small: Indexed) -> None:
    for arguments, noise in ((["ask"], b""), (["ask", "-"], b" \xff\x00")):  # what is no text does no harm
        done = small.shell.run(*arguments, stdin=b"Who sold me varnish?" + noise)
        assert "Benedita" in done.out
        assert "[1] Journal/2026-03-02.md:1-2" in done.out


def test_no_question_is_refused(small: Indexed) -> None:
    assert "no question" in small.shell.refused("ask")
    assert "no question" in small.shell.refused("ask", " ")
    assert "9,000 characters" in small.shell.refused("ask", "-", stdin="x" * 9000)


def test_what_the_notes_do_not_tell_is_not_answered(demo: Indexed) -> None:
    done = demo.shell.run("ask", "What is the boiling point of tungsten in kelvin?")
    assert done.out == "Your notes don't say.\n"


def test_before_the_first_index_the_next_step_is_named(empty: Shell) -> None:
    for command in (["ask", "x"], ["search", "x"], ["chat"]):
        said = empty.refused(*command)
        assert "no notes have been indexed yet" in said
        assert "companion index" in said


def test_a_pipe_gets_the_settled_reply_exactly_once(talking: Shell, server: OllamaDouble) -> None:
    server.reply = "The top of the cello is 4.2 mm thick now. It was never weighed [7]."
    done = talking.run("ask", QUESTION)
    assert done.out.splitlines() == [
        "The top of the cello is 4.2 mm thick now [1]. It was never weighed .",
        "",
        "[1] Cello.md:5-7 · Cello",
    ]
    assert done.err == ""


def test_json_holds_the_whole_turn(talking: Shell, server: OllamaDouble) -> None:
    server.reply = "It is 4.2 mm [1]."
    done = talking.run("ask", QUESTION, "--json")
    turn = json.loads(done.out)
    assert (turn["question"], turn["reply"], turn["model"]) == (QUESTION, "It is 4.2 mm [1].", "llama3")
    assert [(cited["number"], cited["path"]) for cited in turn["citations"]] == [(1, "Cello.md")]
    assert turn["timings"]["retrieval"] <= turn["timings"]["first_token"] <= turn["timings"]["total"]
    assert turn["counts"]["completion"] > 0


def test_an_interrupt_keeps_what_was_written(talking: Shell, server: OllamaDouble) -> None:
    server.reply = "The top is 4.2 mm [1]. " + "And so on. " * 200
    server.piece_delay = 0.05
    process = subprocess.Popen(
        [*COMMAND, "ask", QUESTION], env=talking.environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not any("How thick" in str(body) for body in server.bodies("/api/chat")):
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)  # a few words
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out.decode().startswith("The top is 4.2 mm [1].")
    assert len(out) < 1000
    assert err.decode() == "stopped\n"
    assert server.cancelled == 1


def test_the_terminal_can_be_switched_off(small: Indexed) -> None:
    shell = small.shell.with_variables(COMPANION_UI__CLI__ENABLED="false")
    assert "ui.cli.enabled" in shell.refused("ask", QUESTION)
