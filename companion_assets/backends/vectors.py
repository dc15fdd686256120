"""What every embedder does with texts and raw vectors: refuse blanks, cut long texts, check, normalise."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from companion_assets.backends.protocols import Tokenizer, Vectors
from companion_assets.contracts.errors import EmbeddingFailed

BLANK = "the text is empty"
NOT_A_VECTOR = "the model returned no usable vector"


def refuse_blank(texts: Sequence[str]) -> None:
    """Stop before any work when a text has nothing to embed.

    Raises:
        EmbeddingFailed: `failures` names every blank text.
    """
    report(dict.fromkeys((at for at, text in enumerate(texts) if not text.strip()), BLANK))


def report(failures: dict[int, str]) -> None:
    """Raise when there are failures.

    Raises:
        EmbeddingFailed: `failures` is not empty.
    """
    if failures:
        first = next(iter(failures.values()))
        raise EmbeddingFailed(f"{len(failures)} text(s) could not be embedded: {first}", failures)


def is_usable(raw: npt.ArrayLike) -> bool:
    """Whether a raw vector is finite and not zero."""
    vector = np.asarray(raw, np.float32)
    return bool(np.isfinite(vector).all() and vector.any())


def unit(raw: npt.ArrayLike) -> Vectors:
    """float32[d] or float32[n, d] with rows of length 1; rows must be usable."""
    vectors = np.asarray(raw, np.float32)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / lengths, np.float32)


def windows(text: str, tokenizer: Tokenizer, limit: int) -> list[tuple[str, int]]:
    """Cut `text` into pieces of at most `limit` tokens, between words where there are any; nothing is left out.

    Returns:
        The pieces in order, each with its number of tokens.
    """
    begins = [start for start, _ in tokenizer.spans(text)]
    pieces = []
    start = token = 0
    while len(begins) - token > limit:
        stop = begins[token + limit]
        space = max(text.rfind(mark, start, stop) for mark in " \n\t")
        if space > begins[token]:
            stop = space
        following = bisect_left(begins, stop)
        pieces.append((text[start:stop], following - token))
        start, token = stop, following
    return [*pieces, (text[start:], len(begins) - token)]
