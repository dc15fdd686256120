"""The pauses between the lives of the worker."""

from companion_assets.daemon.revival import Revival


def pauses(lives: list[float]) -> list[float]:
    """How long it is away each time, if it lives for so many seconds in turn."""
    now, found = 0.0, []
    revival = Revival(now)
    for life in lives:
        now += life
        revival.note_end(now)
        ended = now
        while not revival.is_due(now):
            now += 0.25
        found.append(now - ended)
    return found


def test_one_that_keeps_ending_is_started_ever_more_rarely() -> None:
    assert pauses([0.5] * 9) == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_one_that_lived_long_is_started_at_once() -> None:
    assert pauses([3600, 5, 5, 3600, 5]) == [0, 1, 2, 0, 1]


def test_one_that_lives_is_not_started() -> None:
    assert not Revival(0).is_due(1000)
