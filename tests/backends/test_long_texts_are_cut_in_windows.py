"""A text beyond a model's window is cut where it hurts least, and nothing of it is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.backends.estimated_tokenizer import EstimatedTokenizer
from companion_assets.backends.fakes import WordTokenizer
from companion_assets.backends.protocols import Tokenizer
from companion_assets.backends.vectors import windows


@pytest.mark.parametrize("tokenizer", [WordTokenizer(), EstimatedTokenizer()])
@given(text=st.text(alphabet="ab c\n数.", max_size=60), limit=st.integers(1, 9))
def test_pieces_add_up_and_keep_the_limit(tokenizer: Tokenizer, text: str, limit: int) -> None:
    pieces = windows(text, tokenizer, limit)
    assert "".join(piece for piece, _ in pieces) == text
    assert sum(count for _, count in pieces) == tokenizer.count(text)
    assert all(count <= limit for _, count in pieces)


def test_cuts_fall_between_words() -> None:
    pieces = windows("walking slowly along the shore", EstimatedTokenizer(), 4)
    assert [piece for piece, _ in pieces] == ["walking", " slowly along", " the shore"]


def test_text_without_spaces_is_cut_all_the_same() -> None:
    assert [piece for piece, _ in windows("数据库备份", EstimatedTokenizer(), 2)] == ["数据", "库备", "份"]
