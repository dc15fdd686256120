"""When a process that ended is started again: at once if it lived long, later and later if it keeps ending."""

_LONG_SECONDS = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


class Revival:
    """The pauses of one process. All times are seconds of one clock.

    Args:
        now: When it was started first.
    """

    def __init__(self, now: float) -> None:
        self._born = now
        self._pause = 0.0
        self._due: float | None = None

    def note_end(self, now: float) -> None:
        """It has ended."""
        lived_long = now - self._born >= _LONG_SECONDS
        self._pause = 0.0 if lived_long else min(_LONGEST_PAUSE, max(_FIRST_PAUSE, 2 * self._pause))
        self._due = now + self._pause

    def is_due(self, now: float) -> bool:
        """It may be started; that is then taken for done."""
        if self._due is None or now < self._due:
            return False
        self._born, self._due = now, None
        return True
