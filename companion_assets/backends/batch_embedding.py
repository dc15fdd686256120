"""Embeds texts through an engine that takes batches and may refuse some: one bad text never costs the others.

A refused batch is halved until the bad text stands alone. A text that is too long is embedded in windows; its
vector is the mean of theirs, weighted by their tokens. A row that is zero or not finite is asked for once more
alone. What still has no vector is reported.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from companion_assets.backends.protocols import Tokenizer, Vectors
from companion_assets.backends.vectors import NOT_A_VECTOR, is_usable, refuse_blank, report, unit, windows
from companion_assets.contracts.errors import BackendUnavailable

Raw = npt.NDArray[np.float32]
Engine = Callable[[Sequence[str]], Sequence[npt.ArrayLike]]


class TextTooLong(Exception):
    """An engine's word for a batch in which a text exceeds the model's window."""


class TextRefused(Exception):
    """An engine's word for a batch it cannot embed; another batch may well succeed."""


class BatchEmbedding:
    """The procedure above for one engine.

    Args:
        engine: Texts → one raw vector each; raises `TextTooLong`, `TextRefused` or `BackendUnavailable`.
        tokenizer: Where to cut a text that is too long.
        batch_size: Texts in one call.
        max_tokens: The model's window.
    """

    def __init__(self, engine: Engine, tokenizer: Tokenizer, batch_size: int, max_tokens: int) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._batch_size = batch_size
        self._max_tokens = max_tokens

    def embed(self, texts: Sequence[str], prefix: str = "") -> Vectors:
        """float32[n, d], unit rows; `prefix` goes in front of every text.

        Raises:
            EmbeddingFailed: Some texts are blank or have no vector even alone.
            BackendUnavailable: The engine failed, or refused each of several texts.
        """
        refuse_blank(texts)
        outcomes: list[Raw | str] = []
        for start in range(0, len(texts), self._batch_size):
            outcomes += self._outcomes([prefix + text for text in texts[start : start + self._batch_size]])
        failures = {at: outcome for at, outcome in enumerate(outcomes) if isinstance(outcome, str)}
        if len(failures) == len(texts) > 1:
            raise BackendUnavailable(f"none of {len(texts)} texts could be embedded: {failures[0]}")
        report(failures)
        return np.array(outcomes, np.float32)

    def _outcomes(self, texts: Sequence[str]) -> list[Raw | str]:
        """For each text its unit vector, or why there is none."""
        try:
            rows = self._engine(texts)
        except (TextTooLong, TextRefused) as refusal:
            if len(texts) > 1:
                middle = len(texts) // 2
                return self._outcomes(texts[:middle]) + self._outcomes(texts[middle:])
            return [self._in_windows(texts[0]) if isinstance(refusal, TextTooLong) else str(refusal)]
        return [self._checked(text, row, alone=len(texts) == 1) for text, row in zip(texts, rows, strict=True)]

    def _checked(self, text: str, row: npt.ArrayLike, *, alone: bool) -> Raw | str:
        if is_usable(row):
            return unit(row)
        return NOT_A_VECTOR if alone else self._outcomes([text])[0]

    def _in_windows(self, text: str) -> Raw | str:
        limit = min(self._max_tokens, self._tokenizer.count(text)) // 2
        if limit == 0:
            return "the text is too long for the model and cannot be divided"
        pieces = windows(text, self._tokenizer, limit)
        outcomes = [(self._outcomes([piece])[0], count) for piece, count in pieces]
        for outcome, _ in outcomes:
            if isinstance(outcome, str):
                return outcome
        mean = np.average([outcome for outcome, _ in outcomes], axis=0, weights=[count for _, count in outcomes])
        return unit(mean) if is_usable(mean) else NOT_A_VECTOR
