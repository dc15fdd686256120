"""A chat model in this process: renders, keeps the cache across calls, streams. One caller at a time.

What has been evaluated stays: a prompt is read only from where it first differs from the previous one, or from
the longest prefix stored on disk if that reaches further. Runs inside `llama_worker`.
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from companion_assets.backends.llama_native import NativeModel
from companion_assets.backends.llama_options import ModelOptions
from companion_assets.backends.llama_prompt import PromptRenderer, Render, shared_length
from companion_assets.backends.prefix_cache import PrefixCache
from companion_assets.backends.protocols import FinishReason, Token
from companion_assets.backends.reply_text import ReplyText
from companion_assets.contracts.errors import BackendUnavailable, CompanionError
from companion_assets.contracts.records import Message

# Loading a state costs about as much as evaluating this many tokens.
_WORTH_LOADING = 16


class LlamaEngine:
    """One model, opened and ready.

    Args:
        options: File, context length, threads.
        on_progress: Called with the loaded fraction while loading.

    Raises:
        BackendUnavailable: The model cannot be loaded or has no chat template.
    """

    def __init__(self, options: ModelOptions, on_progress: Callable[[float], None]) -> None:
        import llama_cpp

        self._cancelled: Callable[[], bool] = lambda: False
        self._model = NativeModel(options, on_progress, lambda: self._cancelled())
        self._prompt = PromptRenderer(_chat_template(self._model, options.path), self._model)
        self._turn_end = self._prompt.turn_end()
        self._evaluated: list[int] = []  # the tokens whose state is in the context now
        identity = f"{options.identity}/{self.context_length}/{options.gpu_layers}/llama-cpp {llama_cpp.__version__}"
        self._prefixes = PrefixCache(Path(options.prefix_dir), identity) if options.prefix_dir else None

    @property
    def context_length(self) -> int:
        """Tokens of prompt and reply together, as opened."""
        return self._model.context_length

    def count(self, messages: Sequence[Message]) -> tuple[int, int]:
        """Tokens of the prompt, and how many of them must be evaluated. May run beside `generate`."""
        ids = self._prompt.tokens(messages)
        return len(ids), len(ids) - max(self._shared(ids[:-1]), self._stored(ids[:-1]))

    def warm(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> Token:
        """Evaluate the beginning that all coming prompts share and keep it on disk."""
        ids = self._prompt.beginning(messages)
        self._check_room(ids)
        self._cancelled = cancelled
        cached, seconds = self._prefill(ids)
        complete = len(self._evaluated) == len(ids)
        if complete and self._prefixes:
            self._prefixes.save(ids, lambda file: self._model.save(file, ids))
        reason: FinishReason = "stop" if complete else "cancelled"
        return Token("", reason, prompt_tokens=len(ids), cached_tokens=cached, prefill_seconds=seconds)

    def generate(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float,
        stop: Sequence[str],
        cancelled: Callable[[], bool],
    ) -> Iterator[Token]:
        """Stream a reply; the last token carries the reason and the counts.

        Raises:
            CompanionError: The prompt alone fills the context.
        """
        ids = self._prompt.tokens(messages)
        self._check_room(ids)
        self._cancelled = cancelled
        # The last token is evaluated anew and alone. Its result is where the reply starts, and kernels round
        # differently in a batch: this way the same prompt gets the same reply, whether it was cached or not.
        cached, seconds = self._prefill(ids[:-1], ids[-1:])
        reply = ReplyText(stop)
        reason: FinishReason = "cancelled"
        written = 0
        if len(self._evaluated) == len(ids):
            budget = min(max_tokens, self.context_length - len(ids))
            reason, written = yield from self._decode(reply, budget, temperature)
        yield Token(reply.finish(), reason, len(ids), cached, written, seconds)

    def _decode(
        self, reply: ReplyText, budget: int, temperature: float
    ) -> Generator[Token, None, tuple[FinishReason, int]]:
        """Stream the text; returns why it ended and after how many tokens."""
        sampler = self._model.sampler(temperature)
        try:
            for written in range(1, budget + 1):
                token = sampler.next()
                if token == self._turn_end or self._model.is_end(token):
                    return "stop", written - 1
                if text := reply.feed(self._model.piece(token)):
                    yield Token(text)
                if reply.stopped:
                    return "stop", written
                # The last token is not evaluated: nothing follows it.
                if written < budget and (self._cancelled() or not self._append([token])):
                    return "cancelled", written
            return "length", max(0, budget)
        finally:
            sampler.close()

    def _check_room(self, ids: Sequence[int]) -> None:
        if len(ids) >= self.context_length:
            raise CompanionError(
                f"the prompt has {len(ids)} tokens, the model's context holds {self.context_length} with the reply",
                hint="shorten the question or raise model.inference.context_length",
            )

    def _prefill(self, ids: list[int], last: Sequence[int] = ()) -> tuple[int, float]:
        """Evaluate `ids`, taking over what is available of them, then `last`; an interruption leaves a beginning.

        Returns:
            Tokens taken over, and the seconds spent on the others.
        """
        cached = self._take_over(ids)
        started = time.perf_counter()
        step = self._model.batch
        steps = [ids[position : position + step] for position in range(cached, len(ids), step)]
        for tokens in [*steps, list(last)] if last else steps:
            if self._cancelled() or not self._append(tokens):
                break
        return cached, time.perf_counter() - started

    def _take_over(self, ids: list[int]) -> int:
        """Bring the context to the longest available beginning of `ids`; returns its length."""
        shared, stored = self._shared(ids), self._stored(ids)
        if self._prefixes and stored > shared:
            # A refused file may have left anything in the context, so the state counts as empty until it is known.
            self._evaluated = []
            shared = self._prefixes.load(ids, self._model.load)
            self._evaluated = ids[:shared]
        if not self._model.truncate(shared):
            shared = 0
        del self._evaluated[shared:]
        return shared

    def _append(self, ids: list[int]) -> bool:
        if not self._model.decode(ids):
            self._model.truncate(len(self._evaluated))
            return False
        self._evaluated += ids
        return True

    def _shared(self, ids: Sequence[int]) -> int:
        length = shared_length(self._evaluated, ids)
        return length if self._model.can_truncate or length == len(self._evaluated) else 0

    def _stored(self, ids: Sequence[int]) -> int:
        stored = self._prefixes.longest(ids) if self._prefixes else 0
        return stored if stored > self._shared(ids) + _WORTH_LOADING else 0

    def close(self) -> None:
        """Free the model."""
        self._model.close()


def _chat_template(model: NativeModel, path: str) -> Render:
    """The template in the model's own file, as a function."""
    import jinja2
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    template = model.metadata("tokenizer.chat_template")
    if not template:
        raise BackendUnavailable(
            f"the model {Path(path).name} has no chat template, so it cannot hold a conversation",
            hint="choose an instruct model, not a base model",
        )
    formatters = {
        reply: Jinja2ChatFormatter(template, model.eos_text, model.bos_text, add_generation_prompt=reply)
        for reply in (True, False)
    }

    def render(messages: list[dict[str, str]], reply: bool) -> str:
        try:
            # Reasoning models would otherwise spend the whole reply on thoughts the person did not ask for.
            return formatters[reply](messages=messages, enable_thinking=False).prompt  # type: ignore[arg-type]
        except jinja2.TemplateError as fault:
            raise ValueError(str(fault)) from fault

    return render
