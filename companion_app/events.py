"""What a turn tells the surface that shows it, and how a surface stops it."""

import threading
from dataclasses import dataclass, field

from companion_assets.backends.protocols import TokenStream
from companion_assets.contracts.records import Citation, Turn


@dataclass(frozen=True, slots=True)
class Sources:
    """What was found, before the first token."""

    citations: tuple[Citation, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know about this turn (the model failed, quoting instead)."""

    text: str


@dataclass(frozen=True, slots=True)
class Final:
    """The finished turn; `turn.reply` replaces what was streamed.

    Attributes:
        timings: Seconds by step: `retrieval`, `plan`, `first_token`, `total`, and `prefill` as the model reports it.
        counts: Tokens: `prompt`, `cached`, `uncached`, `budget`, `completion`.
    """

    turn: Turn
    timings: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


ReplyEvent = Sources | Delta | Notice | Final


class Stop:
    """Ends one reply from any thread, also while the model still reads the prompt. What was written is kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stream: TokenStream | None = None
        self.asked = False

    def __call__(self) -> None:
        """Stop the reply; no effect on one that has ended."""
        with self._lock:
            self.asked = True
            stream = self._stream
        if stream is not None:
            stream.close()

    def watch(self, stream: TokenStream) -> None:
        """The stream to close; closed at once if the stop came before it."""
        with self._lock:
            self._stream = stream
            asked = self.asked
        if asked:
            stream.close()
