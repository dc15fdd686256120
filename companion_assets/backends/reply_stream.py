"""A reply that another thread may stop: the person presses "stop" while the page's thread waits for a token."""

import threading
from collections.abc import Callable, Generator

from companion_assets.backends.protocols import Token


class ReplyStream:
    """Wraps the generator that produces a reply; implements `TokenStream`.

    Python forbids closing a generator that is running in another thread, which is just when it matters most
    (a long prompt is being read). Then the engine is asked to stop instead, and the waiting thread gets the
    last token with `cancelled`.

    Args:
        tokens: The reply; closing it ends the computation.
        cancel: Makes a running `tokens` end soon; called from another thread.
    """

    def __init__(self, tokens: Generator[Token, None, None], cancel: Callable[[], None]) -> None:
        self._tokens = tokens
        self._cancel = cancel
        self._turn = threading.Lock()

    def __iter__(self) -> "ReplyStream":
        return self

    def __next__(self) -> Token:
        with self._turn:
            return next(self._tokens)

    def close(self) -> None:
        """Stop the model; from any thread, any number of times."""
        if self._turn.acquire(blocking=False):
            try:
                self._tokens.close()
            finally:
                self._turn.release()
        else:
            self._cancel()
