"""Tables, lists, code and quotes stay whole where they fit and are cut at their own borders where they do not."""

from itertools import pairwise

from tests.stages.chunk_material import WordTokenizer, chunks_of

PROSE = "We walked to the harbour and counted nineteen boats before it rained. "
ROWS = [f"| tree {at} | {at * 7} kg | row {at} |" for at in range(60)]
TABLE = ["| pear | yield | where |", "| --- | ---: | --- |", *ROWS]


def size(text: str) -> int:
    return WordTokenizer().count(text)


def test_a_block_that_fits_is_never_cut() -> None:
    table = "\n".join(TABLE[:12])
    code = "```python\n" + "\n\n".join(f"x{at} = {at}" for at in range(20)) + "\n```"
    items = "\n".join(f"- item {at}\n  - below {at}" for at in range(15))
    quote = "> [!note] Callout\n" + "\n".join(f"> line {at}." for at in range(20))
    text = "\n\n".join([PROSE * 6, table, PROSE * 6, code, PROSE * 6, items, PROSE * 6, quote])
    chunks = chunks_of(text, chunk_size=160, chunk_overlap=20)
    assert len(chunks) > 4
    for block in (table, code, items, quote):
        assert sum(block in chunk.text for chunk in chunks) == 1


def test_a_long_table_is_cut_by_rows_and_repeats_its_header_for_the_embedder_only() -> None:
    chunks = chunks_of("\n".join(TABLE), chunk_size=160, chunk_overlap=40)
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == TABLE
    header = "\n".join(TABLE[:2])
    assert len(chunks) > 3
    assert all(header in chunk.embed_text for chunk in chunks)
    assert all(header not in chunk.text for chunk in chunks[1:])


def test_a_long_list_is_cut_at_outer_items_first() -> None:
    items = [f"- day {at}\n  - rain in the morning {at}\n  - sun in the evening {at}" for at in range(40)]
    chunks = chunks_of("\n".join(items), chunk_size=100, chunk_overlap=0)
    assert len(chunks) > 3
    assert all(chunk.text.startswith("- day") for chunk in chunks)
    assert "\n".join(chunk.text for chunk in chunks) == "\n".join(items)


def test_one_endless_item_is_cut_at_the_items_below_it() -> None:
    text = "- all of it\n" + "\n".join(f"  - part {at} of the story" for at in range(80))
    chunks = chunks_of(text, chunk_size=90, chunk_overlap=0)
    assert all(chunk.text.startswith("  - part") for chunk in chunks[1:])


def test_long_code_is_cut_at_blank_lines_and_never_repeated() -> None:
    functions = [f"def f{at}(a, b):\n    c = a + b\n    return c" for at in range(30)]
    text = "```python\n" + "\n\n".join(functions) + "\n```"
    chunks = chunks_of(text, chunk_size=120, chunk_overlap=60)
    assert len(chunks) > 3
    assert all(chunk.text.startswith("def f") for chunk in chunks[1:])
    assert "\n\n".join(chunk.text for chunk in chunks) == text


def test_a_heading_like_line_in_code_or_a_list_like_line_opens_nothing() -> None:
    text = "# Top\nintro\n\n```sh\n# not a heading\n#work not a tag\n- not a list\n```\nafter"
    (chunk,) = chunks_of(text, strategy="section", section_tags=("#work",))
    assert chunk.heading_path == ("Top",)
    assert chunk.text == text


def test_a_heading_and_an_introducing_line_stay_with_what_they_lead_to() -> None:
    parts = []
    for at in range(12):
        parts += [PROSE * 3, f"What number {at} needs:", "\n".join(f"- thing {at}.{n} from the shop" for n in range(6))]
    for chunk in chunks_of("\n\n".join(parts), chunk_size=150, chunk_overlap=0):
        assert not chunk.text.rstrip().endswith("needs:")
    rows = "\n".join(TABLE)
    first = chunks_of(f"## Yields\n\n{rows}", chunk_size=120, chunk_overlap=0)[0]
    assert first.text.startswith("## Yields\n\n| pear | yield | where |\n| --- | ---: | --- |\n| tree 0 |")


def test_long_prose_is_cut_at_sentences_and_overlaps_by_whole_ones() -> None:
    sentences = [f"On day {at} the pears were counted and {at * 3} were ripe." for at in range(90)]
    chunks = chunks_of(" ".join(sentences), chunk_size=100, chunk_overlap=30)
    assert len(chunks) > 8
    for before, after in pairwise(chunks):
        repeated = [one for one in sentences if one in before.text and one in after.text]
        assert repeated
        assert after.text.startswith(repeated[0])
        assert before.text.endswith(repeated[-1])
        assert size(" ".join(repeated)) <= 30
    assert all(chunk.text.startswith("On day") and chunk.text.endswith("ripe.") for chunk in chunks)
    assert all(size(chunk.text) <= 100 for chunk in chunks)


def test_overlap_stops_at_headings_and_is_absent_when_not_wanted() -> None:
    sections = [f"## Part {at}\n\n" + (PROSE * 4 + "\n\n") * 4 for at in range(3)]
    chunks = chunks_of("\n".join(sections), chunk_size=120, chunk_overlap=40)
    starts = [chunk for chunk in chunks if chunk.text.startswith("## Part")]
    assert len(starts) == 3
    assert all(chunk.text.count("## Part") <= 1 for chunk in chunks)
    plain = chunks_of(PROSE * 40, chunk_size=120, chunk_overlap=0)
    assert " ".join(chunk.text for chunk in plain) == (PROSE * 40).strip()


def test_text_without_blanks_is_cut_between_tokens() -> None:
    chunks = chunks_of("字" * 5000, chunk_size=100, chunk_overlap=20)
    assert "".join(chunk.text for chunk in chunks) == "字" * 5000
    assert {(chunk.first_line, chunk.last_line) for chunk in chunks} == {(1, 1)}


def test_chinese_arabic_and_thai_are_cut_at_their_own_sentences() -> None:
    for sentence, glue in (
        ("今天我们去市场买了三斤梨。", ""),
        ("ذهبنا إلى السوق اليوم؟", " "),
        ("วันนี้ไปตลาดซื้อผลไม้", " "),
    ):
        text = glue.join([sentence] * 120)
        chunks = chunks_of(text, chunk_size=120, chunk_overlap=30)
        assert len(chunks) > 5
        assert all(chunk.text.startswith(sentence) and chunk.text.endswith(sentence) for chunk in chunks)


def test_words_are_kept_whole_where_there_is_no_sentence_end() -> None:
    words = " ".join(f"word{at}" for at in range(2000))
    chunks = chunks_of(words, chunk_size=100, chunk_overlap=0)
    assert " ".join(chunk.text for chunk in chunks) == words
