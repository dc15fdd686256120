"""A chat model on an Ollama server, through the official client.

The server keeps the tokenizer and the cache to itself, so counts are estimates, high on purpose
(`estimated_tokenizer`), and what is cached is taken to be the beginning shared with the last prompt.
"""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from companion_assets.backends.control_tokens import neutralise
from companion_assets.backends.estimated_tokenizer import EstimatedTokenizer
from companion_assets.backends.ollama_client import ModelCard, explain, look_up
from companion_assets.backends.ollama_link import OllamaLink
from companion_assets.backends.prefill_speed import SPEEDS_FILE, PrefillSpeed
from companion_assets.backends.protocols import FinishReason, Token
from companion_assets.backends.reply_stream import ReplyStream
from companion_assets.contracts.errors import BackendUnavailable, CompanionError
from companion_assets.contracts.records import Message

if TYPE_CHECKING:
    import ollama

_REASONS: dict[str, FinishReason] = {"stop": "stop", "length": "length"}
# Turn marks that a chat template puts around one message.
_FRAME_TOKENS = 8
_NANOSECONDS = 1e9
_AGAIN = "try again; if it happens again, look at the server's log"


class OllamaGenerator:
    """A `Generator` over an Ollama server. Opening it connects to nothing; the first request looks the model up.

    Args:
        model: As `ollama list` shows it; without a tag it means `:latest`.
        base_url: Address of the server.
        context_length: Tokens of prompt and reply together; cut to what the model was trained for. Always sent:
            the server's own default is small, and it drops the oldest messages silently.
        keep_alive: How long the server keeps the model in memory after a reply (seconds, or "10m"; -1 for ever).
        models_dir: Where the measured speed is kept; None forgets it at the end.
        timeout: Seconds without a byte before a request fails. Long, because the server sends nothing while it
            loads the model and reads the prompt.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "http://localhost:11434",
        context_length: int = 4096,
        keep_alive: float | str = "30m",
        models_dir: Path | None = None,
        timeout: float = 300.0,
    ) -> None:
        self._model = model
        self._base_url = base_url
        self._context_length = context_length
        self._keep_alive = keep_alive
        self._timeout = timeout
        self._tokenizer = EstimatedTokenizer()
        self._card: ModelCard | None = None
        self._looking_up = threading.Lock()
        self._last: tuple[Message, ...] = ()
        self._speed = PrefillSpeed(models_dir / SPEEDS_FILE if models_dir else None, f"ollama/{base_url}/{model}")
        OllamaLink(base_url, timeout).close()  # a wrong address or a missing package is said at once

    @property
    def model(self) -> str:
        """Name as configured."""
        return self._model

    @property
    def context_length(self) -> int:
        """Tokens of prompt and reply together; never more than the model was trained for, once that is known."""
        trained = self._card.context_length if self._card else None
        return min(self._context_length, trained) if trained else self._context_length

    @property
    def prefill_tokens_per_second(self) -> float:
        """Average of what the server reports; a guess before the first reply."""
        return self._speed.tokens_per_second

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the rendered prompt, estimated high."""
        return sum(_FRAME_TOKENS + self._tokenizer.count(message.content) for message in messages)

    def uncached_tokens(self, messages: Sequence[Message]) -> int:
        """Estimate: all messages from the first one that differs from the last prompt."""
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._last, messages, strict=False)))
        return max(1, self.count_tokens(messages[same:]))

    def warm(self, messages: Sequence[Message]) -> None:
        """Load the model and let the server read the stable beginning.

        Raises:
            BackendUnavailable: The server or the model is not there.
        """
        for _ in self.generate(messages, max_tokens=1, temperature=0.0):
            pass

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float,
        stop: Sequence[str] = (),
    ) -> ReplyStream:
        """Stream the reply; see `Generator`.

        Raises:
            BackendUnavailable: The server, the model or the connection failed.
            CompanionError: The prompt alone fills the context.
        """
        link = OllamaLink(self._base_url, self._timeout)
        options = {
            "num_ctx": self._context_length,
            "num_predict": max_tokens,
            "temperature": max(0.0, temperature),
            "stop": [mark for mark in stop if mark],
        }
        return ReplyStream(self._reply(link, tuple(messages), options), cancel=link.cut)

    def close(self) -> None:
        """Nothing is held open; the server unloads the model by itself after `keep_alive`."""

    def _reply(
        self, link: OllamaLink, messages: tuple[Message, ...], options: dict[str, object]
    ) -> Generator[Token, None, None]:
        self._check_room(messages)
        uncached = self.uncached_tokens(messages)
        try:
            card = self._look_up(link)
            options["num_ctx"] = self.context_length
            with closing(self._parts(link, card, messages, options)) as parts:
                for part in parts:
                    if part.done:
                        self._last = messages
                        yield self._last_token(part, uncached)
                        return
                    if part.message.content:
                        yield Token(part.message.content)
        except CompanionError:
            raise
        except Exception as fault:
            if not link.is_cut:
                raise explain(fault, self._model, self._base_url) from fault
            yield Token("", "cancelled")
        finally:
            link.close()

    def _parts(
        self, link: OllamaLink, card: ModelCard, messages: Sequence[Message], options: dict[str, object]
    ) -> Generator["ollama.ChatResponse", None, None]:
        sent = [{"role": message.role, "content": neutralise(message.content)} for message in messages]
        # Reasoning models would otherwise spend the reply on thoughts the person did not ask for.
        think = False if "thinking" in card.capabilities else None
        parts: Iterator[ollama.ChatResponse] = link.client.chat(
            card.name, messages=sent, stream=True, think=think, options=options, keep_alive=self._keep_alive
        )
        done = False
        for part in parts:
            done = bool(part.done)
            yield part
        if not done:
            raise BackendUnavailable(f"the Ollama server at {self._base_url} ended the reply in the middle", _AGAIN)

    def _look_up(self, link: OllamaLink) -> ModelCard:
        with self._looking_up:
            if self._card is None:
                self._card = look_up(link.client, self._model, self._base_url)
            return self._card

    def _check_room(self, messages: Sequence[Message]) -> None:
        # The estimate is up to twice the truth; refuse only what cannot fit in any case.
        tokens, room = self.count_tokens(messages) // 2, self.context_length
        if tokens >= room:
            raise CompanionError(
                f"the prompt has at least {tokens} tokens, the model's context holds {room} with the reply",
                hint="shorten the question or raise model.inference.context_length",
            )

    def _last_token(self, part: "ollama.ChatResponse", uncached: int) -> Token:
        prompt = part.prompt_eval_count or 0
        seconds = (part.prompt_eval_duration or 0) / _NANOSECONDS
        # Servers differ in whether cached tokens are counted; the smaller number is surely not too fast.
        evaluated = min(prompt, uncached)
        self._speed.record(evaluated, seconds)
        return Token(
            part.message.content or "",
            _REASONS.get(part.done_reason or "", "stop"),
            prompt_tokens=prompt,
            cached_tokens=prompt - evaluated,
            completion_tokens=part.eval_count or 0,
            prefill_seconds=seconds,
        )
