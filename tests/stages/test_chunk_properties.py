"""Facts that stand only in the frontmatter are found, and cited with their lines."""

import pytest

from tests.stages.chunk_material import WordTokenizer, chunks_of, make_note

NOTE = """---
tags: [bike]
aliases:
  - the blue one
frame_number: WTU-4471-K
"built by": Ana
bought:

sizes:
  - 54
  - 56
story: >
  long
  words
date: 2024-05-01
---
It squeaks."""


def test_properties_that_tell_something_are_the_first_chunk() -> None:
    first, second = chunks_of(NOTE)
    assert first.text.split("\n") == [
        "frame_number: WTU-4471-K",
        '"built by": Ana',
        "sizes:",
        "  - 54",
        "  - 56",
        "story: >",
        "  long",
        "  words",
    ]
    assert (first.first_line, first.last_line) == (5, 14)
    assert first.embed_text.startswith("frame_number")
    assert (second.text, second.first_line, second.chunk_index) == ("It squeaks.", 17, 1)


def test_a_note_of_nothing_but_properties_has_a_chunk() -> None:
    (chunk,) = chunks_of("---\nbirthday: 1988-11-02\n---\n")
    assert (chunk.text, chunk.first_line, chunk.last_line) == ("birthday: 1988-11-02", 2, 2)


@pytest.mark.parametrize(
    "text", ["", "\n \n", "---\ntags: [a]\nrating:\n---\n", "---\n---\n\n", "---\nkanban-plugin: board\n---\n"]
)
def test_a_note_that_says_nothing_has_no_chunk(text: str) -> None:
    assert chunks_of(text) == []


def test_links_in_properties_belong_to_the_property_chunk() -> None:
    from companion_assets.contracts.records import Link

    link = Link("Yusuf", kind="property", line=2, resolved="People/Yusuf.md")
    chunk, _ = chunks_of(make_note('---\neditor: "[[Yusuf]]"\n---\nText.', links=(link,)))
    assert chunk.links == ("People/Yusuf.md",)
    assert "Yusuf" in chunk.tags


def test_endless_properties_are_cut_too() -> None:
    lines = [f"key{at}: value number {at}" for at in range(300)]
    chunks = chunks_of("\n".join(["---", *lines, "---", ""]), chunk_size=100, chunk_overlap=20)
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == lines
    assert max(WordTokenizer().count(chunk.text) for chunk in chunks) <= 100
