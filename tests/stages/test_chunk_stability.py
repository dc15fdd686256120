"""Editing one paragraph changes only the chunks near it, wherever in a note without headings it stands."""

import random
from collections.abc import Callable
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_assets.contracts.records import Chunk
from tests.stages.chunk_material import chunks_of

WORDS = (
    "river",
    "maple",
    "quiet",
    "anchor",
    "tomato",
    "violin",
    "seven",
    "winter",
    "cloud",
    "paper",
    "garden",
    "train",
)


def paragraph(chance: random.Random) -> str:
    sentences = (" ".join(chance.choices(WORDS, k=chance.randint(5, 14))) for _ in range(chance.randint(1, 8)))
    return " ".join(f"{sentence.capitalize()}." for sentence in sentences)


def cut(paragraphs: list[str]) -> list[Chunk]:
    return chunks_of("\n\n".join(paragraphs), chunk_size=300, chunk_overlap=50)


def new_chunks(before: list[Chunk], after: list[Chunk]) -> int:
    return len({chunk.chunk_id for chunk in after} - {chunk.chunk_id for chunk in before})


def replaced(paragraphs: list[str], at: int, text: str) -> list[str]:
    return [*paragraphs[:at], text, *paragraphs[at + 1 :]]


def inserted(paragraphs: list[str], at: int, text: str) -> list[str]:
    return [*paragraphs[:at], text, *paragraphs[at:]]


def removed(paragraphs: list[str], at: int, _: str) -> list[str]:
    return [*paragraphs[:at], *paragraphs[at + 1 :]]


@pytest.mark.parametrize("edit", [replaced, inserted, removed])
def test_an_edit_anywhere_changes_two_chunks_or_so(edit: Callable[[list[str], int, str], list[str]]) -> None:
    chance = random.Random(7)
    paragraphs = [paragraph(chance) for _ in range(60)]
    before = cut(paragraphs)
    changed = [new_chunks(before, cut(edit(paragraphs, at, paragraph(chance)))) for at in range(60)]
    assert len(before) > 12
    assert mean(changed) < 2.5
    assert sorted(changed)[54] <= 3  # nine edits in ten
    assert max(changed) <= 5


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seed=st.integers(0, 10_000), at=st.integers(0, 59))
def test_an_edit_never_runs_through_the_note(seed: int, at: int) -> None:
    chance = random.Random(seed)
    paragraphs = [paragraph(chance) for _ in range(60)]
    before = cut(paragraphs)
    assert new_chunks(before, cut(replaced(paragraphs, at, paragraph(chance)))) <= 5


def test_chunks_are_well_filled_nevertheless() -> None:
    chance = random.Random(3)
    sizes = [chunk.token_count for _ in range(20) for chunk in cut([paragraph(chance) for _ in range(60)])]
    assert mean(sizes) > 0.6 * 300
    assert max(sizes) <= 300 + 10  # the context comes on top


def test_a_new_section_leaves_the_others_alone() -> None:
    chance = random.Random(5)
    sections = [f"## Part {at}\n\n" + "\n\n".join(paragraph(chance) for _ in range(6)) for at in range(8)]
    before = chunks_of("\n\n".join(sections))
    added = "## New\n\n" + "\n\n".join(paragraph(chance) for _ in range(2))
    after = chunks_of("\n\n".join([added, *sections]))
    assert {chunk.chunk_id for chunk in before} < {chunk.chunk_id for chunk in after}
