"""From the bytes of single tokens to the text a person sees."""

import codecs
from collections.abc import Sequence


class ReplyText:
    """Joins token bytes to whole characters and ends the text at the first stop string.

    A character may be spread over several tokens (emoji, Chinese), and so may a stop string: what could still
    become one is held back until it is clear that it does not.

    Args:
        stop: Strings that end the reply; they are not part of it. Empty ones are ignored.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(mark for mark in stop if mark)
        self._held = ""
        self.stopped = False

    def feed(self, piece: bytes) -> str:
        """The text that `piece` completes; "" where more is needed."""
        self._held += self._decoder.decode(piece)
        cut = min((at for mark in self._stop if (at := self._held.find(mark)) >= 0), default=None)
        if cut is not None:
            self.stopped = True
            text, self._held = self._held[:cut], ""
            return text
        return self._release(len(self._held) - self._open_tail())

    def finish(self) -> str:
        """What was held back, at the end of the reply. Half a character is dropped."""
        return self._release(len(self._held))

    def _release(self, end: int) -> str:
        text, self._held = self._held[:end], self._held[end:]
        return text

    def _open_tail(self) -> int:
        """Length of the longest end of the held text that begins a stop string."""
        longest = max((len(mark) for mark in self._stop), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(mark.startswith(self._held[-length:]) for mark in self._stop):
                return length
        return 0
