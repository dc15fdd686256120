import pytest

from companion_assets.backends.protocols import Generator
from companion_assets.backends.scripted import ScriptedGenerator
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.records import Message

PROMPT = [Message("system", "be kind"), Message("user", "who is Ana?")]


def test_the_script_is_streamed_word_by_word() -> None:
    generator: Generator = ScriptedGenerator("Ana is a friend [1].")
    tokens = list(generator.generate(PROMPT, max_tokens=50, temperature=0))
    assert [token.text for token in tokens if token.text] == ["Ana", " is", " a", " friend", " [1]."]
    last = tokens[-1]
    assert (last.finish_reason, last.completion_tokens) == ("stop", 5)
    assert last.prompt_tokens == generator.count_tokens(PROMPT)


def test_a_script_may_answer_the_prompt() -> None:
    generator = ScriptedGenerator(lambda messages: f"You asked: {messages[-1].content}")
    text = "".join(token.text for token in generator.generate(PROMPT, max_tokens=50, temperature=0))
    assert text == "You asked: who is Ana?"
    assert generator.prompts == [tuple(PROMPT)]


def test_limits_and_stop_strings_end_it() -> None:
    generator = ScriptedGenerator("one two three four")
    short = list(generator.generate(PROMPT, max_tokens=2, temperature=0))
    assert ("".join(token.text for token in short), short[-1].finish_reason) == ("one two", "length")
    cut = list(generator.generate(PROMPT, max_tokens=9, temperature=0, stop=["three"]))
    assert ("".join(token.text for token in cut), cut[-1].finish_reason) == ("one two ", "stop")


def test_it_remembers_the_last_prompt_as_a_model_does() -> None:
    generator = ScriptedGenerator("ok")
    assert generator.uncached_tokens(PROMPT) == generator.count_tokens(PROMPT)
    generator.warm(PROMPT[:1])
    expected = generator.uncached_tokens(PROMPT)
    assert 0 < expected < generator.count_tokens(PROMPT)
    last = list(generator.generate(PROMPT, max_tokens=5, temperature=0))[-1]
    assert last.prompt_tokens - last.cached_tokens == expected


def test_a_prompt_that_fills_the_context_is_refused() -> None:
    with pytest.raises(CompanionError, match="context"):
        list(ScriptedGenerator("ok", context_length=5).generate(PROMPT, max_tokens=5, temperature=0))
