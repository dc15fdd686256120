"""Each family of embedding models gets the prefixes its card asks for."""

import pytest

from companion_assets.backends.retrieval_prefixes import Prefixes, prefixes_for


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("mxbai-embed-large:335m", "Represent this sentence for searching relevant passages: ", ""),
        ("someone/Nomic Embed Text v1.5", "search_query: ", "search_document: "),
        ("snowflake-arctic-embed2:latest", "query: ", ""),
        ("multilingual_e5_small", "query: ", "passage: "),
        ("bge-m3:latest", "", ""),
    ],
)
def test_the_longest_family_name_decides(model: str, query: str, passage: str) -> None:
    assert prefixes_for(model) == Prefixes(query, passage)


def test_an_unknown_family_gets_none() -> None:
    assert prefixes_for("all-minilm") == Prefixes()
