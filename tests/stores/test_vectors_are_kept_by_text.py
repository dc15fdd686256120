from pathlib import Path

import numpy as np
import pytest

from companion_assets.contracts.errors import StoreError
from companion_assets.stores.vectors import VectorCache
from tests.stores.samples import vector


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "vectors.db")


def test_vectors_come_back_exactly_and_by_embedder(cache: VectorCache) -> None:
    stored = {text: vector(text) for text in ("a", "b", "c")}
    cache.put_many("e1", stored)
    cache.put_many("e2", [("a", vector("other", 16))])
    found = cache.get_many("e1", ["a", "c", "unknown"])
    assert set(found) == {"a", "c"}
    assert all(found[text].dtype == np.float32 and (found[text] == stored[text]).all() for text in found)
    assert cache.get_many("e2", ["a"])["a"].shape == (16,)
    assert (cache.count("e1"), cache.count("e2"), cache.count("e3")) == (3, 1, 0)


def test_missing_keeps_order_and_names_each_once(cache: VectorCache) -> None:
    cache.put_many("e1", {"b": vector("b")})
    assert cache.missing("e1", ["c", "b", "a", "c"]) == ["c", "a"]
    assert cache.missing("e2", ["b"]) == ["b"]
    assert cache.missing("e1", []) == []


def test_vectors_survive_reopening_and_are_replaced(tmp_path: Path) -> None:
    first = VectorCache(tmp_path / "vectors.db")
    first.put_many("e1", {"a": vector("old")})
    first.close()
    second = VectorCache(tmp_path / "vectors.db")
    second.put_many("e1", {"a": vector("new")})
    assert (second.get_many("e1", ["a"])["a"] == vector("new")).all()


@pytest.mark.parametrize(
    "bad",
    [np.zeros(8), np.full(8, np.nan), np.array([1, np.inf, *[0] * 6]), np.ones(7)],
    ids=["zero", "nan", "inf", "short"],
)
def test_bad_vectors_are_refused_with_all_of_their_batch(cache: VectorCache, bad: np.ndarray) -> None:
    cache.put_many("e1", {"first": vector("first")})
    with pytest.raises(StoreError):
        cache.put_many("e1", {"good": vector("good"), "bad": bad.astype(np.float32)})
    assert cache.missing("e1", ["good", "bad", "first"]) == ["good", "bad"]


def test_an_embedder_keeps_its_length(cache: VectorCache) -> None:
    cache.put_many("e1", {"a": vector("a")})
    with pytest.raises(StoreError, match="8 dimensions, not 16"):
        cache.put_many("e1", {"b": vector("b", 16)})


def test_prune_forgets_texts_that_are_gone(cache: VectorCache) -> None:
    cache.put_many("e1", {text: vector(text) for text in ("a", "b", "c")})
    cache.put_many("e2", {"a": vector("a")})
    assert cache.prune(["a"]) == 2
    assert cache.missing("e1", ["a", "b", "c"]) == ["b", "c"]
    assert cache.count("e2") == 1


def test_many_keys_at_once(cache: VectorCache) -> None:
    keys = [f"{i:064x}" for i in range(40_000)]
    cache.put_many("e1", {key: vector("same") for key in keys[::2]})
    assert len(cache.get_many("e1", keys)) == 20_000
    assert cache.missing("e1", keys) == keys[1::2]
