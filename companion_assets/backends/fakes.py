"""Engines without a model: deterministic, offline, instant. For tests, demonstrations and development."""

import functools
import hashlib
import re
from collections.abc import Sequence

import numpy as np

from companion_assets.backends.protocols import Vectors
from companion_assets.backends.vectors import refuse_blank, unit
from companion_assets.contracts.manifests import EmbedderSpec

WORDS = re.compile(r"\w+|[^\w\s]")


class WordTokenizer:
    """A `Tokenizer`: words and punctuation marks."""

    def count(self, text: str) -> int:
        """Words and marks in `text`."""
        return sum(1 for _ in WORDS.finditer(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Their character spans."""
        return [match.span() for match in WORDS.finditer(text)]


class HashEmbedder:
    """An `Embedder` that knows words by their hash: texts that share words are similar, others are not.

    Args:
        dimensions: Length of a vector; the more, the fewer accidental similarities.
        max_tokens: The window it claims.
    """

    def __init__(self, dimensions: int = 256, max_tokens: int = 512) -> None:
        self._tokenizer = WordTokenizer()
        self._spec = EmbedderSpec("fake", "word-hash", "1", dimensions, max_tokens)

    @property
    def spec(self) -> EmbedderSpec:
        """The identity of these vectors."""
        return self._spec

    @property
    def tokenizer(self) -> WordTokenizer:
        """Words and marks."""
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32[n, d], rows as in `texts`, unit length.

        Raises:
            EmbeddingFailed: A text is blank.
        """
        refuse_blank(texts)
        rows = [self._sum_of_words(text) for text in texts]
        return unit(np.array(rows, np.float32).reshape(len(texts), self._spec.dimensions))

    def embed_query(self, text: str) -> Vectors:
        """float32[d], unit length; the same as for a passage.

        Raises:
            EmbeddingFailed: The text is blank.
        """
        row: Vectors = self.embed_passages([text])[0]
        return row

    def close(self) -> None:
        """Nothing to free."""

    def _sum_of_words(self, text: str) -> Vectors:
        words = (text[start:end].casefold() for start, end in self._tokenizer.spans(text))
        marks = np.array([_signs(word, self._spec.dimensions) for word in words], np.float32)
        return np.asarray(marks.sum(axis=0), np.float32)


@functools.lru_cache(maxsize=4096)
def _signs(word: str, dimensions: int) -> Vectors:
    """float32[d] of ±1 drawn from the hash of a word."""
    digest = hashlib.shake_128(word.encode("utf-8", "replace")).digest(-(-dimensions // 8))
    bits = np.unpackbits(np.frombuffer(digest, np.uint8), count=dimensions)
    return np.where(bits, np.float32(1), np.float32(-1))
