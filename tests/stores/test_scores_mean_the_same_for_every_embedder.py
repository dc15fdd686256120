import numpy as np
import pytest

from companion_assets.contracts.manifests import Calibration
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.calibration import PROBES, calibrated, draw_background
from companion_assets.stores.index_writer import open_writer
from tests.stores.samples import SPEC, chunk, question, rows

E5 = Calibration(p50=0.75, p999=0.83, pairs=1000, chunks=1000)
MINILM = Calibration(p50=0.0, p999=0.3, pairs=1000, chunks=1000)


def test_the_scale_is_fixed_by_the_background() -> None:
    for background in (E5, MINILM):
        spread = background.p999 - background.p50
        at = [calibrated(background.p50 + z * spread, background) for z in (-100, 0, 1, 1.11, 2, 100)]
        assert at == sorted(at)
        assert (at[0], at[-1]) == (pytest.approx(0, abs=1e-9), pytest.approx(1))
        assert at[1] < 0.11
        assert 0.6 <= at[2] <= 0.7
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
