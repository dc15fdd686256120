import json
from pathlib import Path

import pytest

from companion_assets.backends.prefill_speed import GUESS, PrefillSpeed


def test_an_unknown_model_gets_a_guess(tmp_path: Path) -> None:
    assert PrefillSpeed(tmp_path / "speed.json", "model").tokens_per_second == GUESS


def test_measurements_move_the_average_and_survive_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "new" / "speed.json"
    speed = PrefillSpeed(file, "model")
    speed.record(500, 5.0)
    assert speed.tokens_per_second == 100
    speed.record(500, 2.5)
    assert 100 < speed.tokens_per_second < 200
    assert PrefillSpeed(file, "model").tokens_per_second == pytest.approx(speed.tokens_per_second, abs=0.01)
    assert PrefillSpeed(file, "other").tokens_per_second == GUESS


def test_two_models_share_the_file(tmp_path: Path) -> None:
    file = tmp_path / "speed.json"
    PrefillSpeed(file, "one").record(100, 1.0)
    PrefillSpeed(file, "two").record(100, 2.0)
    assert PrefillSpeed(file, "one").tokens_per_second == 100
    assert PrefillSpeed(file, "two").tokens_per_second == 50


def test_short_prompts_say_nothing_about_speed(tmp_path: Path) -> None:
    speed = PrefillSpeed(tmp_path / "speed.json", "model")
    speed.record(5, 1.0)
    speed.record(500, 0.0)
    assert speed.tokens_per_second == GUESS


@pytest.mark.parametrize("content", ["", "[1]", '{"a"', json.dumps({"model": "fast"})])
def test_a_damaged_file_counts_as_empty(tmp_path: Path, content: str) -> None:
    file = tmp_path / "speed.json"
    file.write_text(content)
    speed = PrefillSpeed(file, "model")
    assert speed.tokens_per_second == GUESS
    speed.record(100, 1.0)
    assert PrefillSpeed(file, "model").tokens_per_second == 100
