"""What holds for every note whatever its shape: nothing lost, nothing too long, lines exact, work linear."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from companion_assets.contracts.records import Note
from tests.stages.chunk_material import WordTokenizer, chunks_of, make_note

HEADINGS = ["# Top", "## Middle", "### #work", "===", "---", "***"]
MARKED = ["- item", "  - below", "1. one", "- [ ] task", "- #finance paid", "#work did it", "#finance", "> quote"]
FENCED = ["| a | b |", "| - | - |", "| 1 | 2 |", "```py", "```", "~~~", "> [!note] x", "$$"]
PROSE = [
    "",
    "  ",
    "What is needed:",
    "\u2028",
    "a\ttab",
    "[[Ana]] and [[Bo|b]]",
    "A sentence. Another one! 今天下雨。好。",
]
LONG = ["word " * 40, "字" * 150, "ไปตลาด ซื้อผัก " * 10, "x" * 300, "😀" * 20, "e\u0301" * 30]
LINES = st.sampled_from([*HEADINGS, *MARKED, *FENCED, *PROSE, *LONG])
TEXTS = st.lists(LINES, max_size=40).map("\n".join)
RULES = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["sliding_window", "section"]),
        "chunk_size": st.sampled_from([32, 60, 200]),
        "chunk_overlap": st.sampled_from([0, 10, 31]),
    }
)


def with_noise(text: str, noisy: set[int]) -> Note:
    note = make_note(text)
    lines = tuple("" if at in noisy else line for at, line in enumerate(note.index_lines))
    return make_note(text, index_lines=lines)


@settings(deadline=None, max_examples=400)
@given(text=TEXTS, rule=RULES, noisy=st.sets(st.integers(0, 39), max_size=4), properties=st.booleans())
def test_every_note_is_cut_rightly(text: str, rule: dict[str, int], noisy: set[int], properties: bool) -> None:
    assume(not text.startswith("---"))
    text = f"---\nframe: WTU 44\n---\n{text}" if properties else text
    note = with_noise(text, noisy)
    chunks = chunks_of(note, window=100, **rule)
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
    numbered = enumerate(zip(note.body.split("\n"), note.index_lines, strict=True), note.body_line)
    kept = {number: index for number, (line, index) in numbered if index.strip() or not line.strip()}
    kept |= dict(enumerate(note.frontmatter_lines, 1))
    seen: Counter[int] = Counter()
    for chunk in chunks:
        assert chunk.text.strip()
        assert chunk.token_count == WordTokenizer().count(chunk.embed_text) + 4 <= 100
        assert WordTokenizer().count(chunk.text) <= rule["chunk_size"]
        numbers = [number for number in range(chunk.first_line, chunk.last_line + 1) if number in kept]
        assert chunk.text in "\n".join(kept[number] for number in numbers)
        for number, part in zip(numbers, chunk.text.split("\n"), strict=True):
            seen[number] += letters(part)
    # No visible character is lost, wherever a line was cut.
    assert all(seen[number] >= letters(line) for number, line in kept.items() if number >= note.body_line)


def letters(text: str) -> int:
    return len("".join(text.split()))


@pytest.mark.parametrize(
    "text",
    [
        "word " * 60_000,
        "字" * 100_000,
        "\n\n".join(["A paragraph of six words here. " * 5] * 2_000),
        "\n".join(f"- item {at}" for at in range(20_000)),
        "\n".join(f"## Head {at}\ntext {at}" for at in range(5_000)),
        "| a | b |\n| - | - |\n" + "\n".join(f"| {at} | x |" for at in range(10_000)),
        " ".join(f"[[Note {at}]] went." for at in range(8_000)),
    ],
    ids=["one line", "no blanks", "paragraphs", "list", "headings", "table", "links"],
)
def test_big_notes_are_read_a_few_times_and_no_more(text: str) -> None:
    tokenizer = WordTokenizer()
    chunks = chunks_of(text, tokenizer, chunk_size=300, chunk_overlap=50)
    assert len(chunks) > 50
    assert max(chunk.token_count for chunk in chunks) <= 512
    embedded = sum(len(chunk.embed_text) for chunk in chunks)
    assert tokenizer.characters <= 8 * max(len(text), embedded)


def test_a_word_that_no_tokenizer_knows_is_not_swallowed_whole() -> None:
    class WholeWords(WordTokenizer):
        def spans(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))] if text else []

    chunks = chunks_of("x" * 100_000, WholeWords(), chunk_size=300, chunk_overlap=0)
    assert "".join(chunk.text for chunk in chunks) == "x" * 100_000
    assert max(len(chunk.text) for chunk in chunks) < 10_000


def test_a_tokenizer_whose_parts_do_not_add_up_still_stays_in_the_window() -> None:
    class Growing(WordTokenizer):
        def count(self, text: str) -> int:
            tokens = len(self.spans(text))
            return tokens + tokens // 4

    chunks = chunks_of("One two three four five six. " * 200, Growing(), window=64, chunk_size=500, chunk_overlap=20)
    assert max(chunk.token_count for chunk in chunks) <= 64
