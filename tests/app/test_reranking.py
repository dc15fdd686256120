"""A second opinion on the order of hits."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from companion_app.reranking import GeneratorReranker
from companion_assets.backends.protocols import Token
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.records import Message
from companion_assets.contracts.searching import SearchHit

HITS = tuple(
    SearchHit(name, f"{name}.md", name, "", None, (), 1, 1, f"text {name}", 0.9, 0.8, None, ()) for name in "abcdefghij"
)


class Says:
    """A model with one reply."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.asked: list[Message] = []

    def generate(self, messages: Sequence[Message], **_: Any) -> Iterator[Token]:
        self.asked = list(messages)
        return iter([Token(self.reply), Token("", "stop")])


def _order(reply: str) -> str:
    return "".join(hit.chunk_id for hit in GeneratorReranker(lambda: Says(reply)).rerank("which?", HITS))


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ("3, 1", "cabdefghij"),
        ("[2] and [2] again", "bacdefghij"),
        ("0", "abcdefghij"),
        ("9, 99, 8", "habcdefgij"),
        ("I do not know.", "abcdefghij"),
        ("", "abcdefghij"),
    ],
)
def test_what_the_model_names_comes_first_and_nothing_is_lost(reply: str, order: str) -> None:
    assert _order(reply) == order


def test_the_model_is_shown_the_question_and_the_beginning_of_the_best_passages() -> None:
    model = Says("1")
    GeneratorReranker(lambda: model).rerank("which?", HITS)
    shown = model.asked[-1].content
    assert "[8] text h" in shown
    assert "text i" not in shown
    assert "which?" in shown


def test_without_a_model_or_with_one_that_fails_the_order_stays() -> None:
    def fails() -> None:
        raise BackendUnavailable("gone", "")

    for generator in (lambda: None, fails):
        assert GeneratorReranker(generator).rerank("which?", HITS) == HITS
