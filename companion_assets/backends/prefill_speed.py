"""How fast a model reads prompts on this machine, remembered between starts.

The prompt budget is made from this number, so the first question after a start should not be budgeted by a guess.
"""

import contextlib
import json
import os
import platform
from pathlib import Path

SPEEDS_FILE = "prefill_speed.json"
GUESS = 60.0
"""Tokens per second before any measurement: the 1.5B model on two slow shared cores."""
_WEIGHT_OF_NEW = 0.3
# Below this, start-up costs of a batch hide the speed.
_ENOUGH_TOKENS = 48


class PrefillSpeed:
    """Exponential average of measured prefill speed, one number per model and machine.

    Args:
        file: JSON file shared by all models; damaged or missing counts as empty. None keeps nothing.
        key: Identity of model and settings; the machine's name is added to it.
    """

    def __init__(self, file: Path | None, key: str) -> None:
        self._file = file
        self._key = f"{key}@{platform.node()}"
        self._value = self._read().get(self._key)

    @property
    def tokens_per_second(self) -> float:
        """The average, or `GUESS`."""
        return self._value or GUESS

    def record(self, tokens: int, seconds: float) -> None:
        """Take one real prefill into the average. Too short ones are ignored."""
        if tokens < _ENOUGH_TOKENS or seconds <= 0:
            return
        speed = tokens / seconds
        self._value = speed if self._value is None else self._value + _WEIGHT_OF_NEW * (speed - self._value)
        # Losing this file costs one guess, so a full or read-only disk is no reason to fail a reply.
        if self._file:
            with contextlib.suppress(OSError):
                _write(self._file, {**self._read(), self._key: round(self._value, 2)})

    def _read(self) -> dict[str, float]:
        if not self._file:
            return {}
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(stored, dict):
            return {}
        return {key: float(value) for key, value in stored.items() if isinstance(value, int | float) and value > 0}


def _write(file: Path, speeds: dict[str, float]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(f".{os.getpid()}.part")
    draft.write_text(json.dumps(speeds, indent=1, sort_keys=True), encoding="utf-8")
    draft.replace(file)
