"""From messages to token ids, so that no message can speak with the template's voice.

The model's own chat template is rendered with a unique placeholder in place of every message. What the template
wrote around the placeholders is tokenised with control tokens on, the messages themselves with control tokens off.
So `<|im_end|>` inside a note stays the six characters it is, with every model and every template, and the text
need not be changed at all.
"""

import re
import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, Protocol

from companion_assets.backends.control_tokens import neutralise
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.records import Message

Render = Callable[[list[dict[str, str]], bool], str]
"""(messages, with the opening of the reply) -> prompt text. Raises ValueError where the template refuses."""


class Vocabulary(Protocol):
    """What the renderer needs of a model."""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Ids of `text`; control tokens are recognised only with `special`."""
        ...

    def is_control(self, token: int) -> bool:
        """Whether the token steers the model."""
        ...

    def is_user_defined(self, token: int) -> bool:
        """Whether the token is matched in any text."""
        ...

    def special_text(self, token: int) -> str:
        """How the token is spelled."""
        ...

    def begin(self) -> int | None:
        """The token every prompt begins with, if any."""
        ...


class PromptRenderer:
    """Renders prompts of one model.

    Args:
        render: The model's chat template.
        vocabulary: The model's tokens.
    """

    def __init__(self, render: Render, vocabulary: Vocabulary) -> None:
        self._render = render
        self._vocabulary = vocabulary
        # No message can contain it: it is drawn anew in every process.
        self._mark = f"text{secrets.token_hex(8)}n"
        self._parts = re.compile(rf"( ?){self._mark}(\d+)x( ?)")
        # Persona, examples and history come again with every question.
        self._content_tokens = lru_cache(maxsize=256)(self._tokenize_content)
        self._template_tokens = lru_cache(maxsize=256)(lambda text: tuple(vocabulary.tokenize(text, special=True)))
        self._template_words: frozenset[int] = frozenset()
        turns = self.tokens([Message("user", "a"), Message("assistant", "b"), Message("user", "c")])
        # Some makers mark their turn words as user-defined: those would be matched in content too.
        self._template_words = frozenset(token for token in turns if vocabulary.is_user_defined(token))
        self._content_tokens.cache_clear()

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of the prompt, up to where the model's answer begins.

        Raises:
            BackendUnavailable: The template cannot render these messages.
        """
        contents, rendered = self._rendered(messages, reply=True)
        ids: list[int] = []
        position = 0
        for part in self._parts.finditer(rendered):
            ids += self._template_tokens(rendered[position : part.start()])
            content = contents[int(part.group(2))]
            # The spaces around the placeholder tell whether the template trims what it is given.
            content = content if part.group(1) else content.lstrip()
            ids += self._content_tokens(content if part.group(3) else content.rstrip())
            position = part.end()
        ids += self._template_tokens(rendered[position:])
        begin = self._vocabulary.begin()
        return ids if begin is None or ids[:1] == [begin] else [begin, *ids]

    def beginning(self, messages: Sequence[Message]) -> list[int]:
        """The token ids with which every prompt starts whose first messages are `messages`.

        Found by comparing two continuations, because templates differ in what they put between messages, and
        some write the system message into the first question.
        """
        role: Literal["user", "assistant"] = "assistant" if messages and messages[-1].role == "user" else "user"
        one, other = (self.tokens([*messages, Message(role, text)]) for text in ("1", "a"))
        return one[: shared_length(one, other)]

    def turn_end(self) -> int | None:
        """The control token with which the template closes the assistant's turn, if it uses one.

        A converted model may name another end token in its header than the one it was taught.
        """
        turn = [Message("user", "a"), Message("assistant", "b")]
        _, rendered = self._rendered(turn, reply=False)
        after = list(self._parts.finditer(rendered))[-1].end()
        closing = self._template_tokens(rendered[after:])[:1]
        return next((token for token in closing if self._vocabulary.is_control(token)), None)

    def _rendered(self, messages: Sequence[Message], reply: bool) -> tuple[list[str], str]:
        """The messages' texts and the rendered template with placeholders for them."""
        if not messages:
            raise BackendUnavailable("a prompt needs at least one message")
        fault: Exception | None = None
        for form in (list(messages), _folded(messages)):
            try:
                return [message.content for message in form], self._render(self._placeheld(form), reply)
            except ValueError as refusal:
                fault = refusal
        raise BackendUnavailable(
            f"the model's chat template cannot render the conversation: {fault}",
            hint="choose an instruct model; its file brings a template for system, user and assistant",
        ) from fault

    def _placeheld(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        return [
            {"role": message.role, "content": f" {self._mark}{number}x " if message.content.strip() else ""}
            for number, message in enumerate(messages)
        ]

    def _tokenize_content(self, content: str) -> tuple[int, ...]:
        ids = self._vocabulary.tokenize(content, special=False)
        steering = {token for token in ids if self._vocabulary.is_control(token) or token in self._template_words}
        if steering:
            spellings = [self._vocabulary.special_text(token) for token in steering]
            ids = self._vocabulary.tokenize(neutralise(content, spellings), special=False)
        return tuple(ids)


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences have in common from their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _folded(messages: Sequence[Message]) -> list[Message]:
    """The conversation for templates without a system role: it opens the first question; equal roles are joined."""
    folded: list[Message] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if folded and folded[-1].role == role:
            folded[-1] = Message(role, f"{folded[-1].content}\n\n{message.content}")
        else:
            folded.append(Message(role, message.content))
    return folded
