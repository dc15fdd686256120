"""What a chunk says of itself: place, tags, links, day, context, ids."""

import datetime as dt
from collections.abc import Sequence

from companion_assets.contracts.records import Link
from companion_assets.contracts.settings import ChunkingRule
from tests.stages.chunk_material import MODIFIED, chunks_by, chunks_of, make_note

WORDS = "Enough words to stand alone as a section, since a tiny one would be put together with its neighbour. " * 3


def test_the_fields_come_from_note_and_rule() -> None:
    note = make_note("Text.", path="Journal/2024/Day.md", date=dt.date(2024, 5, 1), aliases=("D",), folder="Journal")
    (chunk,) = chunks_by(note, {"default": ChunkingRule(), "Journal/**": ChunkingRule()})
    assert (chunk.source_file, chunk.source_directory, chunk.title) == ("Journal/2024/Day.md", "Journal", "Day")
    assert (chunk.date, chunk.aliases, chunk.modified_at) == (dt.date(2024, 5, 1), ("D",), MODIFIED)
    assert (chunk.rule_applied, chunk.chunk_index, chunk.source_kind) == ("Journal/**", 0, "vault")


def test_the_embedded_text_begins_with_the_headings() -> None:
    (chunk,) = chunks_of(make_note(f"# Pear trees\n## Graft\n{WORDS}"))
    assert chunk.embed_text == f"Pear trees > Graft\n{WORDS.strip()}"
    assert chunk.text == f"# Pear trees\n## Graft\n{WORDS}"


def test_a_renamed_note_has_the_same_embedded_texts() -> None:
    text = f"Loose text.\n# Pears\n{WORDS}"
    before = make_note(text, path="Journal/2024-05-01.md", date=dt.date(2024, 5, 1), folder="Journal")
    after = make_note(text, path="Garden/Old trees.md", folder="Garden")
    assert [chunk.embed_text for chunk in chunks_of(before)] == [chunk.embed_text for chunk in chunks_of(after)]


def test_tags_are_those_of_the_note_then_of_the_chunk_then_link_targets() -> None:
    text = f"# A #garden/pear\n{WORDS}#Late\n# B\n{WORDS}[[Ana|her]] and ![[pic.png]] and #late"
    note = make_note(text, tags=("orchard", "garden/pear", "Late"), properties={"tags": ["orchard"]})
    first, second = chunks_of(note)
    assert first.tags == ("orchard", "garden/pear", "Late")
    assert second.tags == ("orchard", "Late", "Ana")
    assert second.links == ("Ana", "pic.png")


def test_lines_of_nothing_but_tags_at_head_or_foot_mean_the_whole_note() -> None:
    text = f"# Title\n#idea #garden\n{WORDS}\n# B\n{WORDS}\n# C\n{WORDS}#only\n\n#foot"
    tags = [chunk.tags for chunk in chunks_of(text)]
    assert tags == [("idea", "garden", "foot"), ("idea", "garden", "foot"), ("idea", "garden", "foot", "only")]


def test_a_tag_seen_nowhere_in_the_text_counts_for_all_of_it() -> None:
    assert [chunk.tags for chunk in chunks_of(make_note(f"# A\n{WORDS}\n# B\n{WORDS}", tags=("x",)))] == [("x",)] * 2


def test_links_are_those_of_the_lines_of_the_chunk() -> None:
    links = (Link("Ana", line=2, resolved="People/Ana.md"), Link("", line=2), Link("Bo", line=4), Link("Ana", line=4))
    first, second = chunks_of(make_note(f"# A\n{WORDS}\n# B\n{WORDS}", links=links))
    assert (first.links, second.links) == (("People/Ana.md",), ("Bo", "Ana"))


def test_links_on_a_line_that_is_cut_go_to_the_piece_that_holds_them() -> None:
    text = " ".join(f"We met [[Person {at}]] by the river and talked." for at in range(100))
    chunks = chunks_of(text, chunk_size=100, chunk_overlap=0)
    assert len(chunks) > 5
    for chunk in chunks:
        assert chunk.links == tuple(f"Person {at}" for at in range(100) if f"[[Person {at}]]" in chunk.text)


def test_people_are_what_the_resolver_says_of_the_links() -> None:
    def resolve(links: Sequence[Link]) -> tuple[str, ...]:
        return tuple(link.target.upper() for link in links)

    rules = {"default": ChunkingRule()}
    (chunk,) = chunks_by(make_note("With [[Ana]]."), rules, resolve=resolve)
    assert chunk.people == ("ANA",)
    assert chunks_by(make_note("With [[Ana]]."), rules)[0].people == ()


def test_noise_is_in_no_text_and_does_not_part_a_paragraph() -> None:
    lines = ["One", "%% drawing", "two.", "", "![](data:image/png;base64,AAAA) three"]
    note = make_note("\n".join(lines), index_lines=("One", "", "two.", "", "![]() three"))
    (chunk,) = chunks_of(note)
    assert chunk.text == "One\ntwo.\n\n![]() three"
    assert (chunk.first_line, chunk.last_line) == (1, 5)


def test_ids_depend_on_note_text_and_repeat_only() -> None:
    same = "## A\nsame words\n## A\nsame words\n## A\nsame words"
    one, two, three = chunks_of(same, strategy="section")
    assert len({one.chunk_id, two.chunk_id, three.chunk_id}) == 3
    moved = chunks_of(f"## New\nnew words\n{same}", strategy="section", chunk_size=64, chunk_overlap=0)
    assert [chunk.chunk_id for chunk in moved[1:]] == [one.chunk_id, two.chunk_id, three.chunk_id]
    assert chunks_of(make_note(same, path="Other.md"), strategy="section")[0].chunk_id != one.chunk_id


def test_an_overlong_title_and_heading_leave_room_for_the_text() -> None:
    note = make_note("# " + "deep " * 200 + f"\n## Graft\n{WORDS * 20}", path="Notes/" + "long name " * 25 + "x.md")
    chunks = chunks_of(note, window=128)
    assert all(chunk.token_count <= 128 for chunk in chunks)
    assert " ".join(chunk.text for chunk in chunks).count("Enough words") >= 60


def test_a_note_is_embedded_with_the_name_it_gives_itself() -> None:
    properties = {"birthday": "1988-11-02", "relation": "partner"}
    head = "---\nbirthday: 1988-11-02\nrelation: partner\n---\n"
    frontmatter = {"properties": properties, "frontmatter_lines": tuple(head.split("\n")[:4])}
    for text, name, fields in (
        ("# Tomás\nBorn at home.", "Tomás", {}),
        ("Born at home.", "T.", {"aliases": ("T.", "Tom")}),
        ("Born at home.", "Tomás A.", {"properties": {**properties, "title": "Tomás A."}}),
    ):
        first = chunks_of(make_note(head + text, **{**frontmatter, **fields}))[0]
        assert first.embed_text.startswith(f"{name}\nbirthday: 1988-11-02")
