"""With the tokenizer of the embedded model: no chunk goes beyond its 512 tokens, in any language."""

from collections.abc import Iterator

import pytest

from companion_assets.backends.e5_file import E5File
from companion_assets.backends.e5_tokenizer import UnigramTokenizer
from companion_assets.backends.weights import find_embedder_weights
from companion_assets.contracts.errors import BackendUnavailable
from tests.stages.chunk_material import chunks_of

TEXTS = {
    "english": "On the third of July we counted nineteen boats in the harbour before it began to rain. ",
    "chinese": "七月三日下雨之前，我们在港口数了十九条船。",
    "arabic": "في الثالث من يوليو أحصينا تسع عشرة سفينة في الميناء قبل المطر. ",
    "thai": "วันที่สามกรกฎาคมเรานับเรือสิบเก้าลำในท่าเรือก่อนฝนตก ",
    "digits": "1" * 400,
    "emoji": "😀🚢🌧️ ",
    "links": "https://example.org/a/very/long/path?with=query&and=more#fragment ",
}


@pytest.fixture(scope="module")
def tokenizer() -> Iterator[UnigramTokenizer]:
    try:
        yield UnigramTokenizer(E5File(find_embedder_weights()))
    except BackendUnavailable as fault:
        pytest.skip(f"the embedded model is not installed: {fault}")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("size", [300, 8000])
def test_no_chunk_is_longer_than_the_window(tokenizer: UnigramTokenizer, name: str, size: int) -> None:
    sentence = TEXTS[name]
    text = f"# Harbour\n\n{sentence * 200}\n\n- {sentence * 30}\n- {sentence}\n"
    chunks = chunks_of(text, tokenizer, chunk_size=size, chunk_overlap=60)
    assert len(chunks) >= 2
    for chunk in chunks:
        passage = tokenizer.count("passage: " + chunk.embed_text) + 2
        assert passage <= chunk.token_count <= 512
    assert sum(len("".join(chunk.text.split())) for chunk in chunks) >= len("".join(text.split()))
