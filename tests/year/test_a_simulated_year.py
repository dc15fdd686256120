"""Whatever happens to a vault, and wherever its syncs die: readers lose nothing, and all ends as if made afresh."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.year.history import History
from tests.year.steps import Step, draw_step

STEPS_BETWEEN_CHECKS = 20


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """One step; it shrinks to a created note."""
    return draw_step(lambda low, high: draw(st.integers(low, high)))


@settings(
    max_examples=8,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.lists(steps(), min_size=40, max_size=60))
def test_every_look_finds_what_was_there_and_every_check_equals_a_fresh_build(history: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as room:
        year = History(Path(room), notes=40)
        for start in range(0, len(history), STEPS_BETWEEN_CHECKS):
            year.live(history[start : start + STEPS_BETWEEN_CHECKS])
            year.check()
