"""Whatever the text, a note comes out, its lines fit, and its cost grows with its size only."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_assets.contracts.records import Note
from companion_assets.stages.decoding import decode_note
from companion_assets.stages.index_text import index_text

from .note_material import note_of

# Pieces of syntax in any order find more than random letters do.
MARKS = r"--- - 1. > # ## [[ ]] [ ]( ) ! ( <!-- --> <div> </ %% $$ $ ` ``` ~~~ === :-- ^id #tag x é a: * ** _ \ | {{"
LINES = ["\n", "\r\n", "a: b\n", "---\n", "| a | b |\n|---|---|\n", "- [ ] ", "- [x] t", "> - ", "# "]
ODD = [
    "日本",
    "😀",
    "\t",
    " ",
    "    ",
    "a: [",
    "<a ",
    "![](data:image/png;base64,AA)",
    "\u2028",
    "\u200b",
    "\ufeff",
    "\0",
    "\x0b",
]
PIECES = [*MARKS.split(" "), *LINES, *ODD]
SYNTAX = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def check(text: str) -> Note:
    note = note_of(text)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert len(note.index_lines) == len(note.body.split("\n"))
    assert len(index_text(note)) <= len(note.body)
    assert note.body.split("\n") == (lines[note.body_line - 1 :] or [""])
    for item in (*note.headings, *note.links, *note.tasks):
        assert 1 <= item.line <= len(lines)
    for task in note.tasks:
        assert f"[{task.mark}]" in lines[task.line - 1]
    for tag in note.tags:
        assert tag
        assert not set(tag) & set(" #,.;:()[]")
    json.dumps(note.properties, allow_nan=False)
    assert note == note_of(text)
    return note


@settings(max_examples=400, deadline=None)
@given(SYNTAX)
def test_syntax_in_any_order_gives_a_note(text: str) -> None:
    check(text)


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_gives_a_note(text: str) -> None:
    check(text)


@settings(max_examples=200, deadline=None)
@given(SYNTAX, SYNTAX)
def test_any_header_gives_a_note(header: str, body: str) -> None:
    check(f"---\n{header}\n---\n{body}")


@settings(max_examples=200, deadline=None)
@given(st.binary())
def test_any_bytes_give_text_without_nul(raw: bytes) -> None:
    decoded = decode_note(raw)
    assert "\0" not in decoded.text
    if not decoded.fault and raw[:1] not in (b"\xef", b"\xfe", b"\xff", b"\0"):
        assert decoded.text.encode() == raw


N = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "[[" * N, "[" * N, "![" * N, "](" * N, "](<" * N, "[a](b" * N, "[" * N + "](a)" * N, "![" * N + "](a)" * N,
        "`" * N, "".join("`" * (number % 300 + 1) + " " for number in range(3000)), "<!--" * N, "<a " * N, '<a b="' * N,
        "$ $a " * N, "$$" * N, "%% " * N, "%% a\n\n" * (N // 4 + 1), "$$ a\n\n" * (N // 4), "*" * N, "^a " * N, "#" * N,
        ">" * N, (">" * 60 + " a\n") * 2000, "- " * N, "".join("  " * depth + "- a\n" for depth in range(400)),
        "\\" * N, "\t" * N, "|" * N + "\n" + "|-" * N, "~~~\n```\n" * (N // 4), "<div>\n" * (N // 4),
        "data:a/b," * N, "QUJ1" * N, "<!-- a --> " * N, "- %% a\n  b\n" * (N // 20), "> %% a\n\n" * (N // 10),
        "---\n" + "a: [\n" * 5000 + "---\n",
    ],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_no_text_takes_more_than_its_length(text: str) -> None:
    # The suite's time limit per test stands guard: a quadratic step takes minutes on any of these.
    note = note_of(text)
    assert len(note.index_lines) == len(note.body.split("\n"))


def test_a_hundred_thousand_links_in_one_line_are_all_found() -> None:
    note = note_of("[[a]] [b](c.md) `[[x]]` " * (N // 2))
    assert len(note.links) == N
    assert {link.line for link in note.links} == {1}


def test_nesting_beyond_the_limit_stays_in_the_index() -> None:
    deep = "> " * 300 + "treasure"
    assert "treasure" in index_text(note_of(deep))
    assert note_of("> " * 30 + "[[found]]").links[0].target == "found"
