"""Lines end between words, whatever the pieces in which a text arrives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from companion_app.cli.wrapping import Wrapping, wrapped

TEXTS = st.text(st.sampled_from("ab c\n\t,.[1]中文。é🎻"), max_size=200)


@given(TEXTS, st.integers(2, 30), st.lists(st.integers(1, 9), max_size=40))
def test_pieces_make_the_same_lines_as_the_whole(text: str, width: int, sizes: list[int]) -> None:
    wrapping, shown, at = Wrapping(width), "", 0
    for size in sizes:
        shown += wrapping.feed(text[at : at + size])
        at += size
    shown += wrapping.feed(text[at:]) + wrapping.flush()
    assert shown.split("\n") == wrapped(text, width)


@given(TEXTS, st.integers(2, 30))
def test_no_line_is_too_wide_and_no_character_is_lost(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("one\n\n  two", ["one", "", "  two"]),
        ("a-very-long-word", ["a-very-l", "ong-word"]),
        ("我换了主。好", ["我换了", "主。好"]),
    ],
)
def test_lines_end_where_a_reader_expects_it(text: str, lines: list[str]) -> None:
    assert wrapped(text, 8) == lines
