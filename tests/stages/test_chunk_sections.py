"""Sections: headings, and the tag lines of journals."""

import pytest

from companion_assets.contracts.records import Chunk
from tests.stages.chunk_material import chunks_of, make_note

JOURNAL = """---
mood: starchy
---
# 2026-07-28 Tuesday

#DayInShort
Rain, and a letter from Lyon.

#work Test day for the pictures.
We ate five each.

- #finance Potatoes: 2.70
  - salt pork: 4.10
- Called mother

**#Relations**: Tomás came home.

#mentalhealth

#WORK/press
Proofs at last.

## Plans
Nothing.

#physicalhealth
"""
TAGS = ("#DayInShort", "#mentalhealth", "#physicalhealth", "work", "#finance", "#Relations")


def journal(**fields: object) -> list[Chunk]:
    note = make_note(JOURNAL, path="Journal/2026-07-28.md", **fields)
    return chunks_of(note, strategy="section", section_tags=TAGS)


def test_each_section_of_a_day_is_a_chunk_named_by_its_tag() -> None:
    found = [(chunk.section, chunk.text.split("\n")[0]) for chunk in journal()]
    assert found == [
        ("", "mood: starchy"),
        ("#DayInShort", "# 2026-07-28 Tuesday"),
        ("#work", "#work Test day for the pictures."),
        ("#finance", "- #finance Potatoes: 2.70"),
        ("2026-07-28 Tuesday", "- Called mother"),
        ("#Relations", "**#Relations**: Tomás came home."),
        ("#work", "#mentalhealth"),
        ("2026-07-28 Tuesday > Plans", "## Plans"),
    ]


def test_an_empty_section_joins_the_next_one_but_gives_it_no_tag() -> None:
    press = next(chunk for chunk in journal() if "Proofs" in chunk.text)
    assert press.tags == ("work", "WORK/press")
    assert not press.sensitive
    assert press.embed_text.startswith("2026-07-28 Tuesday > work\n#WORK/press")
    assert "#physicalhealth" in journal()[-1].text


def test_only_sections_with_a_sensitive_tag_are_sensitive() -> None:
    assert [chunk.section for chunk in journal() if chunk.sensitive] == ["#finance"]
    assert all(chunk.sensitive for chunk in journal(properties={"tags": ["finance"]}, tags=("finance",)))


def test_a_part_of_a_long_section_keeps_its_tag_and_its_sensitivity() -> None:
    text = "#finance\n" + "\n\n".join(f"Paid the rent of month {at} to the landlord. " * 4 for at in range(20))
    chunks = chunks_of(text, strategy="section", section_tags=TAGS, chunk_size=100, chunk_overlap=10)
    assert len(chunks) > 3
    assert all(chunk.tags == ("finance",) and chunk.sensitive and chunk.section == "#finance" for chunk in chunks)


def test_a_heading_that_is_a_section_tag_holds_for_what_lies_below() -> None:
    text = "# Day\n## #work\nOne.\n### Meeting\nTwo.\n## Other\nThree."
    chunks = chunks_of(text, strategy="section", section_tags=TAGS)
    assert [chunk.section for chunk in chunks] == ["#work", "#work", "Day > Other"]
    assert chunks[1].heading_path == ("Day", "#work", "Meeting")


@pytest.mark.parametrize("line", ["#workshop today", "no #work here", "#meeting #work x", "\\#work"])
def test_a_line_that_does_not_start_with_a_section_tag_opens_nothing(line: str) -> None:
    (chunk,) = chunks_of(f"First.\n{line}", strategy="section", section_tags=TAGS)
    assert chunk.section == ""


@pytest.mark.parametrize(
    "line", ["#work", "#Work: x", "1. #work x", "- [ ] #work x", "_#work_ x", "==#work== x", "  * #work/a x"]
)
def test_the_ways_to_write_a_tag_line(line: str) -> None:
    chunks = chunks_of(f"First.\n{line}\n   more of it", strategy="section", section_tags=TAGS)
    assert [chunk.section for chunk in chunks] == ["", "#work"]


def test_tags_open_no_section_under_sliding_window() -> None:
    (chunk,) = chunks_of("First.\n#work x\n#finance y", section_tags=TAGS)
    assert chunk.section == ""
    assert chunk.tags == ("work", "finance")


def test_chunks_know_the_headings_above_them() -> None:
    body = "Some words that say enough to stand alone, as every section here must do to be more than tiny. " * 3
    text = f"{body}\n# A\n{body}\n### B\n{body}\n## C\n{body}\n# A\n{body}"
    paths = [chunk.heading_path for chunk in chunks_of(text)]
    assert paths == [(), ("A",), ("A", "B"), ("A", "C"), ("A",)]
    assert chunks_of(text)[3].section == "A > C"


def test_headings_without_text_join_what_follows_or_at_the_end_what_came_before() -> None:
    text = "# A\n## Empty\n## B\nWords.\n## Also empty\n"
    (chunk,) = chunks_of(text, strategy="section")
    assert chunk.text == text.strip()
    assert chunk.heading_path == ("A", "B")
    (only,) = chunks_of("# A\n\n## B\n")
    assert (only.text, only.heading_path) == ("# A\n\n## B", ())


def test_setext_headings_and_headings_with_a_hash_inside() -> None:
    from companion_assets.contracts.records import Heading

    words = "Enough words for a section of its own, counted one by one until there are more than forty of them. " * 3
    text = f"C# notes\n===\n{words}\nSecond\n---\n{words}"
    headings = (Heading(1, "C# notes", 1), Heading(2, "Second", 4))
    first, second = chunks_of(make_note(text, headings=headings))
    assert first.embed_text == f"C# notes\n{words.strip()}"
    assert second.text.startswith("Second\n---\n")


def test_tiny_sections_share_a_chunk_only_under_sliding_window() -> None:
    text = "# Mara\nA friend.\n## Phone\n0049 30\n## Birthday\n2 November\n"
    (chunk,) = chunks_of(text)
    assert chunk.text == text.strip()
    assert chunk.heading_path == ("Mara",)
    assert len(chunks_of(text, strategy="section")) == 3


def test_tiny_sections_of_different_parents_stay_apart() -> None:
    words = "The long part. " * 20
    text = f"# A\n{words}\n## A1\nx\n## A2\ny\n# B\n{words}\n## B1\nz"
    assert [chunk.heading_path for chunk in chunks_of(text)] == [("A",), ("A",), ("B",), ("B", "B1")]
