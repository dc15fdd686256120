"""A generator that says what it is told to: for tests and for demos without a model."""

import re
from collections.abc import Callable, Generator, Sequence

from companion_assets.backends.protocols import FinishReason, Token
from companion_assets.backends.reply_text import ReplyText
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.records import Message

Script = str | Callable[[Sequence[Message]], str]
# Chat templates spend about this many tokens on a message's frame.
_FRAME_TOKENS = 4


class ScriptedGenerator:
    """A deterministic `Generator` without a model; a token is a word with the space before it.

    Args:
        script: The reply, or a function from the messages to the reply.
        context_length: Words of prompt and reply together.
        prefill_tokens_per_second: What to claim; nothing takes time here.

    Attributes:
        prompts: Every prompt given to `generate`, in order.
    """

    model = "scripted"

    def __init__(
        self, script: Script, *, context_length: int = 4096, prefill_tokens_per_second: float = 1000.0
    ) -> None:
        self._script = script
        self._cached: list[str] = []
        self.context_length = context_length
        self.prefill_tokens_per_second = prefill_tokens_per_second
        self.prompts: list[tuple[Message, ...]] = []

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Words and frames of the prompt."""
        return len(_words(messages))

    def uncached_tokens(self, messages: Sequence[Message]) -> int:
        """Words from the first one that differs from the last prompt; at least one."""
        words = _words(messages)
        return len(words) - self._shared(words[:-1])

    def warm(self, messages: Sequence[Message]) -> None:
        """Remember the prompt as the last one."""
        self._cached = _words(messages)

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float,
        stop: Sequence[str] = (),
    ) -> Generator[Token, None, None]:
        """Stream the script. `temperature` changes nothing.

        Raises:
            CompanionError: The prompt alone fills the context.
        """
        words = _words(messages)
        if len(words) >= self.context_length:
            raise CompanionError(
                f"the prompt has {len(words)} tokens, the context holds {self.context_length} with the reply"
            )
        self.prompts.append(tuple(messages))
        cached = self._shared(words[:-1])
        self._cached = words
        text = self._script if isinstance(self._script, str) else self._script(messages)
        pieces = re.findall(r"\s*\S+|\s+$", text)
        budget = max(0, min(max_tokens, self.context_length - len(words)))
        reason: FinishReason = "stop" if len(pieces) <= budget else "length"
        reply, written = ReplyText(stop), 0
        for piece in pieces[:budget]:
            written += 1
            if shown := reply.feed(piece.encode()):
                yield Token(shown)
            if reply.stopped:
                reason = "stop"
                break
        yield Token(reply.finish(), reason, len(words), cached, written, 0.0)

    def close(self) -> None:
        """Nothing to free."""

    def _shared(self, words: Sequence[str]) -> int:
        length = 0
        for old, new in zip(self._cached, words, strict=False):
            if old != new:
                break
            length += 1
        return length


def _words(messages: Sequence[Message]) -> list[str]:
    words: list[str] = []
    for message in messages:
        words += [f"<{message.role}>"] * _FRAME_TOKENS
        words += message.content.split()
    return words
