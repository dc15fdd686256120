"""The embedded model in its own process, with the real runtime and the real 0.5B weights."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from companion_assets.backends.llama_cpp_generator import LlamaCppGenerator
from companion_assets.backends.prefill_speed import GUESS
from companion_assets.backends.protocols import Token
from companion_assets.contracts.errors import BackendUnavailable, CompanionError
from companion_assets.contracts.records import Message

pytestmark = pytest.mark.model

SYSTEM = Message("system", "You are Companion. Answer from the notes in one short sentence and cite them as [n]. " * 8)
COUNT = [Message("user", "Count from one to thirty in words, separated by commas.")]


def asking(question: str) -> list[Message]:
    return [SYSTEM, Message("user", question)]


def long_prompt(tokens: int) -> list[Message]:
    # Starts differently every time, so that nothing of it is cached.
    return [Message("user", f"{time.monotonic_ns()} " + "apples and pears grow in the garden. " * (tokens // 8))]


def reply(generator: LlamaCppGenerator, prompt: Sequence[Message], max_tokens: int = 24, **more: object) -> list[Token]:
    settings = {"temperature": 0.0, **more}
    return list(generator.generate(prompt, max_tokens=max_tokens, **settings))  # type: ignore[arg-type]


def text_of(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)


def in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_greedy_replies_are_the_same_and_come_in_pieces(generator: LlamaCppGenerator) -> None:
    first, second = reply(generator, COUNT), reply(generator, COUNT)
    assert text_of(first) == text_of(second)
    assert "two" in text_of(first).lower()
    assert len([token for token in first if token.text]) > 10
    assert [token.finish_reason for token in first[:-1]] == [None] * (len(first) - 1)
    last = first[-1]
    assert (last.finish_reason, last.completion_tokens) == ("length", 24)
    assert last.prompt_tokens == generator.count_tokens(COUNT)


def test_the_model_ends_by_itself(generator: LlamaCppGenerator) -> None:
    tokens = reply(generator, [Message("user", "What is the capital of France? One word.")])
    assert tokens[-1].finish_reason == "stop"
    assert "Paris" in text_of(tokens)
    assert "<|" not in text_of(tokens)


def test_a_stop_string_is_cut_from_the_text(generator: LlamaCppGenerator) -> None:
    whole = text_of(reply(generator, COUNT))
    mark = whole[12:24]  # begins and ends inside tokens
    tokens = reply(generator, COUNT, stop=["never written", mark])
    assert tokens[-1].finish_reason == "stop"
    assert text_of(tokens) == whole[: whole.index(mark)]


def test_a_warm_sampler_still_answers(generator: LlamaCppGenerator) -> None:
    tokens = reply(generator, [Message("user", "What is the capital of France? One word.")], temperature=0.7)
    assert "Paris" in text_of(tokens)


def test_other_scripts_and_emoji_arrive_whole(generator: LlamaCppGenerator) -> None:
    wanted = "你好，世界 🦊🎉 Grüße"
    tokens = reply(generator, [Message("user", f"Repeat exactly this text and nothing else: {wanted}")], max_tokens=40)
    assert "\ufffd" not in text_of(tokens)
    assert "你好" in text_of(tokens)
    assert "🦊" in text_of(tokens)


def test_what_was_read_before_is_not_read_again(generator: LlamaCppGenerator) -> None:
    reply(generator, asking("Who is Ana?"), max_tokens=4)
    follow_up = asking("Who is Bruno, and where does he live?")
    total, expected = generator.count_tokens(follow_up), generator.uncached_tokens(follow_up)
    assert 0 < expected < total / 4
    last = reply(generator, follow_up, max_tokens=4)[-1]
    assert last.prompt_tokens == total
    assert last.prompt_tokens - last.cached_tokens == expected
    assert generator.uncached_tokens(follow_up) == 1


def test_a_conversation_keeps_its_own_replies_in_the_cache(generator: LlamaCppGenerator) -> None:
    opening = asking("Name one fruit.")
    answer = text_of(reply(generator, opening))
    history = [*opening, Message("assistant", answer), Message("user", "And one more.")]
    assert generator.uncached_tokens(history) < 16


def test_a_warm_prefix_is_loaded_from_disk_by_a_new_process(gguf: Path, tmp_path: Path) -> None:
    first = LlamaCppGenerator(gguf, models_dir=tmp_path, context_length=1024)
    first.warm([SYSTEM])
    measured = first.prefill_tokens_per_second
    cold = text_of(reply(first, asking("Who is Ana?")))
    first.close()
    assert measured != GUESS

    second = LlamaCppGenerator(gguf, models_dir=tmp_path, context_length=1024)
    try:
        assert second.prefill_tokens_per_second == pytest.approx(measured, rel=0.01)
        # Known before anything was evaluated, and true afterwards.
        expected = second.uncached_tokens(asking("Who is Ana?"))
        assert expected < 16
        tokens = reply(second, asking("Who is Ana?"))
        assert tokens[-1].prompt_tokens - tokens[-1].cached_tokens == expected
        assert text_of(tokens) == cold
        second.close()
        for state in (tmp_path / "prefix").glob("*.kv"):
            state.write_bytes(b"x" * state.stat().st_size)
        tokens = reply(second, asking("Who is Ana?"))
        assert tokens[-1].cached_tokens == 0, "a damaged state must not be used"
        assert text_of(tokens)
    finally:
        second.close()


def test_stopping_a_reply_leaves_the_model_usable(generator: LlamaCppGenerator) -> None:
    stream = generator.generate(COUNT, max_tokens=500, temperature=0)
    next(stream)
    process = generator.process_id
    stream.close()
    assert list(stream) == []
    assert "Paris" in text_of(reply(generator, [Message("user", "What is the capital of France?")]))
    assert generator.process_id == process


def test_a_long_prompt_can_be_stopped_while_it_is_read(generator: LlamaCppGenerator) -> None:
    prompt = long_prompt(1500)
    stream = generator.generate(prompt, max_tokens=5, temperature=0)
    got: list[Token] = []
    thread = in_thread(lambda: got.extend(stream))
    wait_until(lambda: generator.uncached_tokens(prompt) < generator.count_tokens(prompt) - 100)
    stream.close()
    thread.join(timeout=30)
    assert [token.finish_reason for token in got] == ["cancelled"]
    # What was read until then is kept.
    total, left = generator.count_tokens(prompt), generator.uncached_tokens(prompt)
    assert 0 < left < total
    assert reply(generator, COUNT, max_tokens=3)[-1].finish_reason == "length"


def test_a_waiting_request_can_be_stopped_before_its_turn(generator: LlamaCppGenerator) -> None:
    running = generator.generate(COUNT, max_tokens=200, temperature=0)
    next(running)
    waiting = generator.generate(COUNT, max_tokens=5, temperature=0)
    got: list[Token] = []
    thread = in_thread(lambda: got.extend(waiting))
    wait_until(lambda: not thread.is_alive() or generator._process._requests >= 2)
    waiting.close()
    thread.join(timeout=30)
    assert [token.finish_reason for token in got] == ["cancelled"]
    assert next(running).finish_reason is None
    running.close()


def test_two_threads_at_once_are_served_one_after_the_other(generator: LlamaCppGenerator) -> None:
    questions = ["What is the capital of France?", "What is the capital of Italy?"]
    answers: dict[str, str] = {}

    def ask(question: str) -> None:
        answers[question] = text_of(reply(generator, [Message("user", question)]))

    threads = [in_thread(lambda question=question: ask(question)) for question in questions]  # type: ignore[misc]
    for thread in threads:
        thread.join(timeout=60)
    assert "Paris" in answers[questions[0]]
    assert "Rome" in answers[questions[1]]


def test_a_killed_process_fails_that_call_and_comes_back_with_the_next(generator: LlamaCppGenerator) -> None:
    stream = generator.generate(COUNT, max_tokens=500, temperature=0)
    next(stream)
    process = generator.process_id
    assert process
    os.kill(process, signal.SIGKILL)
    with pytest.raises(BackendUnavailable, match="ended") as caught:
        list(stream)
    assert "ask again" in caught.value.hint
    assert "Paris" in text_of(reply(generator, [Message("user", "What is the capital of France?")]))
    assert generator.process_id not in (None, process)


def test_a_prompt_larger_than_the_context_is_refused_with_the_sizes(generator: LlamaCppGenerator) -> None:
    huge = [Message("user", "word " * 3000)]
    with pytest.raises(CompanionError, match=r"prompt has 30\d\d tokens.* 2048") as caught:
        reply(generator, huge)
    assert not isinstance(caught.value, BackendUnavailable)
    assert generator.count_tokens(huge) > generator.context_length


def test_the_reply_is_cut_to_what_the_context_holds(gguf: Path, models_dir: Path) -> None:
    small = LlamaCppGenerator(gguf, models_dir=models_dir, context_length=256)
    try:
        prompt = [Message("user", "Count to a thousand. " + "Go on. " * 60)]
        last = reply(small, prompt, max_tokens=10_000)[-1]
        assert last.prompt_tokens + last.completion_tokens <= 256
        assert last.finish_reason in ("length", "stop")
    finally:
        small.close()


def test_an_idle_model_is_unloaded_and_comes_back(gguf: Path, models_dir: Path) -> None:
    loaded: list[float] = []
    brief = LlamaCppGenerator(gguf, models_dir=models_dir, context_length=256, idle_seconds=0.1, on_load=loaded.append)
    assert brief.process_id is None
    assert brief.count_tokens(COUNT) > 10
    assert loaded[-1] == 1.0
    wait_until(lambda: brief.process_id is None)
    assert brief.count_tokens(COUNT) > 10
    brief.close()
    brief.close()


def test_a_damaged_model_is_refused_with_the_reason(
    tmp_path: Path, gguf: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.gguf"
    with gguf.open("rb") as whole:
        cut.write_bytes(whole.read(8_000_000))
    generator = LlamaCppGenerator(cut, models_dir=tmp_path, log_file=tmp_path / "logs" / "model.log")
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match=r"cut\.gguf could not be loaded"):
            generator.count_tokens(COUNT)
    generator.close()
    assert (tmp_path / "logs" / "model.log").stat().st_size > 0
    assert capfd.readouterr() == ("", "")


PARENT = """
import sys, time
from pathlib import Path
from companion_assets.backends.llama_cpp_generator import LlamaCppGenerator
from companion_assets.contracts.records import Message
generator = LlamaCppGenerator(Path(sys.argv[1]), models_dir=Path(sys.argv[2]), context_length=256)
stream = generator.generate([Message("user", "Count to a thousand.")], max_tokens=10_000, temperature=0)
next(stream)
print(generator.process_id, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_the_model_dies_with_its_parent(gguf: Path, tmp_path: Path, end: signal.Signals) -> None:
    command = [sys.executable, "-c", PARENT, str(gguf), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.send_signal(end)
    wait_until(lambda: not psutil.pid_exists(child))


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)
