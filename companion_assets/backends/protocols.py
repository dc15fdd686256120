"""What every engine offers. Engines are opened by `backends.factory`, nobody else names one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.records import Message

Vectors = npt.NDArray[np.float32]


class Tokenizer(Protocol):
    """Token counts of one model."""

    def count(self, text: str) -> int:
        """Tokens of `text`, special tokens not included."""
        ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Character spans of the tokens, in order; a token without characters is left out."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def spec(self) -> EmbedderSpec:
        """What identifies this embedding space."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32[n, d], rows as in `texts`, unit length.

        Raises:
            EmbeddingFailed: Some texts failed even alone; `failures` names them.
            BackendUnavailable: The engine cannot be used at all.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """float32[d], unit length."""
        ...

    def close(self) -> None:
        """Free the engine; safe to call twice."""
        ...


FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the stream. The last one has a `finish_reason` and the counts."""

    text: str
    finish_reason: FinishReason | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    prefill_seconds: float = 0.0


class TokenStream(Protocol):
    """A reply being written: an iterator that can be stopped."""

    def __iter__(self) -> Iterator[Token]: ...

    def __next__(self) -> Token: ...

    def close(self) -> None:
        """Stop the model at once; may be called from any thread, also while another waits for the next token.

        A thread that waits then gets the last token with `finish_reason` "cancelled".
        """
        ...


class Generator(Protocol):
    """Writes a reply, token by token."""

    @property
    def model(self) -> str:
        """Name for people and traces."""
        ...

    @property
    def context_length(self) -> int:
        """Tokens of prompt and reply together."""
        ...

    @property
    def prefill_tokens_per_second(self) -> float:
        """Measured on this machine; a conservative guess before the first measurement."""
        ...

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the rendered prompt."""
        ...

    def uncached_tokens(self, messages: Sequence[Message]) -> int:
        """How many tokens of the rendered prompt are not in the model's KV cache now."""
        ...

    def warm(self, messages: Sequence[Message]) -> None:
        """Put the rendered prompt of `messages` (the stable prefix) in the KV cache ahead of the question."""
        ...

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float,
        stop: Sequence[str] = (),
    ) -> TokenStream:
        """Stream the reply. Nothing runs before the first token is asked for.

        Raises:
            BackendUnavailable: The model, its process or its server failed.
        """
        ...

    def close(self) -> None:
        """End the engine; safe to call twice."""
        ...
