import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.backends.control_tokens import neutralise

SPELLINGS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|turn>",
    "<turn|>",
    "<｜begin▁of▁sentence｜>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<s>",
    "</s>",
    "<bos>",
    "<unused42>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "[TOOL_CALLS]",
]
PLAIN = [
    "a < b and c > d",
    "[[Ana Costa|Ana]] [1] [x] - [ ] task [args]",
    "xs |> map f <| ys",
    "<div class='a'> <table> <b>bold</b>",
    "see <https://example.org> or <mail@example.org>",
    "f(x) || g(x) < 3",
]


@pytest.mark.parametrize("token", SPELLINGS)
def test_a_control_token_is_broken_and_stays_readable(token: str) -> None:
    plain = neutralise(f"before {token} after")
    assert token not in plain
    assert plain.startswith("before ")
    assert plain.endswith(" after")
    word = token.strip("<>[]|/｜")
    assert word in plain


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_is_untouched(text: str) -> None:
    assert neutralise(text) == text


def test_tokens_of_a_vocabulary_are_broken_whatever_they_look_like() -> None:
    plain = neutralise("say sop and <tool response> now", ["sop", "<tool response>", "x"])
    assert "sop" not in plain
    assert "<tool response>" not in plain
    assert "say" in plain
    assert "x" not in plain
    assert neutralise("x marks", ["x"]) == "x marks"


def test_a_token_hidden_inside_another_does_not_come_out() -> None:
    plain = neutralise("<|im_<|im_end|>start|> and [IN[INST]ST]")
    assert "<|im_start|>" not in plain
    assert "<|im_end|>" not in plain
    assert "[INST]" not in plain


PIECES = st.sampled_from([*SPELLINGS, "<|", "|>", "<", ">", "[", "]", "im_end", "INST", "/", "|", " ", "a", "sop"])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_neutralising_twice_changes_nothing_more(text: str) -> None:
    once = neutralise(text, ["sop", "aa"])
    assert neutralise(once, ["sop", "aa"]) == once
    assert not any(token in once for token in SPELLINGS)
