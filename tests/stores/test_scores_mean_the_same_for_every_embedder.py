import numpy as np
import pytest

from companion_assets.contracts.manifests import Calibration
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.records import SearchFilters, SearchHit
from companion_assets.contracts.settings import HybridSettings
from companion_assets.stores.calibration import PROBES, calibrated, draw_background
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.ranking import fuse, search
from tests.stores.samples import SPEC, chunk, question, rows, vector

E5 = Calibration(p50=0.75, p999=0.83, pairs=1000, chunks=1000)
MINILM = Calibration(p50=0.0, p999=0.3, pairs=1000, chunks=1000)


def _hit(
    name: str, similarity: float | None = None, keyword: float | None = None, path: str | None = None
) -> SearchHit:
    return SearchHit(name, path or f"{name}.md", name, "", None, (), 1, 1, name, 0.0, similarity, keyword, ())


def _order(hits: list[SearchHit]) -> list[str]:
    return [hit.chunk_id for hit in hits]


def test_the_scale_is_fixed_by_the_background() -> None:
    for background in (E5, MINILM):
        spread = background.p999 - background.p50
        at = [calibrated(background.p50 + z * spread, background) for z in (-100, 0, 1, 1.28, 2, 100)]
        assert at == sorted(at)
        assert (at[0], at[-1]) == (pytest.approx(0, abs=1e-9), pytest.approx(1))
        assert at[1] < 0.05
        assert 0.5 <= at[2] <= 0.6
        assert at[3] > 0.75
    assert calibrated(0.83, E5) == pytest.approx(calibrated(0.3, MINILM))


def test_a_background_without_spread_still_gives_a_number() -> None:
    flat = Calibration(0.5, 0.5, 1, 1)
    assert calibrated(0.4, flat) < 0.01
    assert calibrated(0.6, flat) > 0.99


def test_the_background_is_that_of_questions_to_chunks() -> None:
    rng = np.random.default_rng(0)
    questions, chunks = rng.normal(size=(48, 64)).astype(np.float32), rng.normal(size=(500, 64)).astype(np.float32)
    drawn = draw_background(questions, 3 * chunks, 12_345)
    assert (drawn.pairs, drawn.chunks) == (48 * 500, 12_345)
    assert drawn.p50 == pytest.approx(0, abs=0.02)
    assert drawn.p999 == pytest.approx(3.09 / 8, abs=0.05)  # a normal distribution of deviation 1/√64


def test_the_index_draws_it_once_and_again_when_it_has_grown(tmp_path) -> None:
    asked: list[str] = []

    def embed(text: str) -> np.ndarray:
        asked.append(text)
        return question(text)

    def publish(*numbers: int):
        with open_writer(DataPaths(tmp_path), SPEC, embed) as writer:
            chunks = [chunk(f"N{i}.md", f"text {i}") for i in numbers]
            writer.replace_notes(rows(*chunks), {one.source_file for one in chunks})
            return writer.publish().calibration

    first = publish(*range(100))
    assert tuple(asked) == PROBES
    assert first.chunks == 100
    assert publish(*range(100, 115)) == first
    assert len(asked) == len(PROBES)
    assert publish(*range(115, 140)).chunks == 140
    assert len(asked) == 2 * len(PROBES)


def test_one_exact_match_counts_in_full() -> None:
    dense = [_hit(f"d{i}", 0.80 - i / 1000) for i in range(20)]
    lone = _hit("exact", 0.78, keyword=9.0)
    hits = fuse(dense, [lone], (0.7, 0.3), E5, chunks=1000)
    assert hits[0].chunk_id == "exact"
    assert hits[0].matched_by == ("text",)
    alone = fuse([], [_hit("exact", None, 9.0)], (0.0, 1.0), E5, chunks=1000)
    assert alone[0].score > 0.1


def test_words_that_are_everywhere_count_for_nothing() -> None:
    dense = [_hit(f"c{i}", 0.85 - i / 1000) for i in range(150)]
    common = [_hit(f"c{149 - i}", 0.85 - (149 - i) / 1000, 12.0) for i in range(150)]
    assert _order(fuse(dense, common, (0.7, 0.3), E5, chunks=1000)) == _order(dense)


def test_a_note_with_several_matching_passages_is_ahead() -> None:
    words = [
        _hit("lone", 0.8, 6.0, "lone.md"),
        _hit("a", 0.8, 5.9, "note.md"),
        _hit("b", 0.8, 5.0, "note.md"),
        _hit("c", 0.8, 4.0, "note.md"),
    ]
    assert _order(fuse([], words, (0.7, 0.3), E5, chunks=1000))[0] == "a"


def test_the_shares_decide() -> None:
    dense = [_hit("meaning", 0.90), _hit("words", 0.76)]
    words = [_hit("words", 0.76, 15.0)]
    assert _order(fuse(dense, words, (1.0, 0.0), E5, chunks=1000))[0] == "meaning"
    assert _order(fuse(dense, words, (0.0, 1.0), E5, chunks=1000))[0] == "words"
    for shares in ((1.0, 0.0), (0.7, 0.3), (0.5, 0.5), (0.3, 0.7), (0.0, 1.0)):
        scores = [hit.score for hit in fuse(dense, words, shares, E5, chunks=1000)]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_found_by_both_is_one_hit_and_says_so() -> None:
    hits = fuse([_hit("x", 0.9)], [_hit("x", 0.9, 5.0)], (0.7, 0.3), E5, chunks=1000)
    assert [(hit.chunk_id, hit.similarity, hit.keyword, hit.matched_by) for hit in hits] == [
        ("x", 0.9, 5.0, ("dense", "text"))
    ]
    assert fuse([], [], (0.7, 0.3), None, chunks=0) == []


@pytest.fixture
def index(tmp_path) -> ChunkIndex:
    paths = DataPaths(tmp_path / "home")
    chunks = [
        chunk(f"Notes/N{i}.md", f"some filler text number {i}", tags=("odd",) if i % 2 else ()) for i in range(60)
    ]
    chunks.append(chunk("People/Zuleika.md", "Zuleika Pemberton lives by the sea"))
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(*chunks), {one.source_file for one in chunks})
        writer.optimise()
        writer.publish()
    return ChunkIndex.open(paths)


def test_search_finds_by_meaning_by_words_and_by_either_alone(index: ChunkIndex) -> None:
    same = vector("some filler text number 7")
    everything = SearchFilters()
    both = search(index, same, "Where does Zuleika live?", 61, everything, HybridSettings())
    near = search(index, same, "", 61, everything, HybridSettings())
    ranks = [[hit.path for hit in hits].index("People/Zuleika.md") for hits in (both, near)]
    assert ranks[0] < ranks[1] - 10
    assert near[0].path == "Notes/N7.md"
    only_dense = search(index, same, "Zuleika", 3, everything, HybridSettings(enabled=False))
    assert only_dense[0].path == "Notes/N7.md"
    assert {hit.matched_by for hit in only_dense} == {("dense",)}
    only_words = search(index, None, "Zuleika", 3, everything, HybridSettings())
    assert [hit.path for hit in only_words] == ["People/Zuleika.md"]
    assert search(index, None, "", 3, everything, HybridSettings()) == []
    assert len(search(index, same, "", 3, everything, HybridSettings())) == 3


def test_search_applies_filters_to_both_halves(index: ChunkIndex) -> None:
    odd = SearchFilters(tags=("odd",), folder="Notes/**")
    hits = search(index, vector("some filler text number 8"), "filler Zuleika", 50, odd, HybridSettings())
    assert len(hits) == 30
    assert all(hit.tags == ("odd",) for hit in hits)
