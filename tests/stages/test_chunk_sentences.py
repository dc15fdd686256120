"""Sentence borders by punctuation alone, in any script."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.stages.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rained.", "We stayed in!", "Did you?", "Yes…", "All day."],
        ['She said "Go."', "Then she left."],
        ["Dr. Li met J. S. Bach at 3.30 p.m. by No. 104.", "It was fun."],
        ["Am 3. Oktober 2025 war frei.", "Wir schliefen."],
        ["We met in 1988.", "Then came rain."],
        ['"Really?" she asked.', "He nodded."],
        ["¿Vienes mañana?", "¡Claro que sí!", "Hasta luego."],
        ["Мы пили чай.", "Потом ушли."],
        ["هل أنت بخير؟", "نعم، شكرا."],
        ["यह अच्छा है।", "हम घर गए।"],
        ["ไปตลาดเช้า", "ซื้อผัก", "กลับบ้าน"],
        ["Two\nlines, one sentence.", "Next."],
        ["no end at all"],
    ],
)
def test_sentences_end_where_readers_see_the_end(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["今天下雨了。", "我们在家。", "“你去吗？”", "他问！"],
        ["雨です。", "「行く？」", "はい。"],
        ["圆周率是３．１４。", "完"],
    ],
)
def test_chinese_and_japanese_need_no_blank_between_sentences(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


@given(st.text(alphabet='aB .!?…。」"\n3ก ', max_size=200))
def test_spans_cover_every_visible_character_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@pytest.mark.parametrize("text", ["." * 200_000, "a" + "!" * 200_000 + "b", "。" + ")" * 200_000, " " * 200_000])
def test_endless_punctuation_is_read_in_one_go(text: str) -> None:
    assert len(sentence_spans(text)) <= 2
