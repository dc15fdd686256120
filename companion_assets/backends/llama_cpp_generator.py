"""Any GGUF chat model on this machine, through llama.cpp in a process of its own."""

import importlib.util
import queue
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

from companion_assets.backends.gguf_file import check_gguf, check_memory, model_fingerprint
from companion_assets.backends.llama_child import CANCEL, Event, Inbox
from companion_assets.backends.llama_options import EngineName, ModelOptions, default_threads
from companion_assets.backends.llama_process import LlamaProcess
from companion_assets.backends.prefill_speed import SPEEDS_FILE, PrefillSpeed
from companion_assets.backends.prefix_cache import FOLDER
from companion_assets.backends.protocols import Token
from companion_assets.backends.reply_stream import ReplyStream
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.records import Message

_PACKAGES: dict[EngineName, str] = {"llama_cpp": "llama", "xllamacpp": "xllamacpp"}


class LlamaCppGenerator:
    """A `Generator` over a GGUF file. Opening it checks the file; the model loads with the first request.

    Args:
        path: The GGUF file of a chat model.
        models_dir: Where measured speeds and evaluated prompt beginnings are kept.
        name: For people and traces; the file's name if empty.
        context_length: Tokens of prompt and reply together.
        threads: Compute threads; None takes the physical cores this process may use.
        gpu_layers: Layers on the graphics card, -1 for all.
        batch: Prompt tokens per step.
        log_file: Where native messages go; None drops them.
        idle_seconds: The model is unloaded after this long without a request.
        on_load: Called with the loaded fraction while the model loads.
        engine: The runtime.

    Raises:
        BackendUnavailable: The runtime is not installed, or the file cannot be a model.
    """

    def __init__(
        self,
        path: Path,
        *,
        models_dir: Path,
        name: str = "",
        context_length: int = 4096,
        threads: int | None = None,
        gpu_layers: int = 0,
        batch: int = 256,
        log_file: Path | None = None,
        idle_seconds: float = 900.0,
        on_load: Callable[[float], None] | None = None,
        engine: EngineName = "llama_cpp",
    ) -> None:
        _check_installed(engine)
        check_gguf(path)
        self._path = path
        self._name = name or path.stem
        options = ModelOptions(
            path=str(path),
            identity=model_fingerprint(path),
            context_length=context_length,
            threads=threads or default_threads(),
            gpu_layers=gpu_layers,
            batch=batch,
            prefix_dir=str(models_dir / FOLDER),
            engine=engine,
        )
        self._options = options
        speed_key = f"{options.identity}/{engine}/{options.threads}/{gpu_layers}"
        self._speed = PrefillSpeed(models_dir / SPEEDS_FILE, speed_key)
        self._process = LlamaProcess(options, log_file=log_file, idle_seconds=idle_seconds, on_load=on_load)

    @property
    def model(self) -> str:
        """Name for people and traces."""
        return self._name

    @property
    def context_length(self) -> int:
        """Tokens of prompt and reply together; after the first request never more than the model was trained for."""
        return self._process.context_length

    @property
    def prefill_tokens_per_second(self) -> float:
        """Average over real calls, remembered between starts."""
        return self._speed.tokens_per_second

    @property
    def process_id(self) -> int | None:
        """The model's process, while there is one."""
        return self._process.pid

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the rendered prompt, exact."""
        return int(self._count(messages)["tokens"])

    def uncached_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the rendered prompt that the next `generate` would have to evaluate; at least one."""
        return int(self._count(messages)["uncached"])

    def warm(self, messages: Sequence[Message]) -> None:
        """Evaluate the stable beginning, or load it from disk, and keep it there."""
        for _ in self._tokens(self._request(queue.SimpleQueue(), "warm", messages)):
            pass

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float,
        stop: Sequence[str] = (),
    ) -> ReplyStream:
        """Stream the reply; see `Generator`. `max_tokens` is cut to what the context still holds.

        Raises:
            BackendUnavailable: The model or its process failed; the next call starts it anew.
            CompanionError: The prompt alone fills the context.
        """
        settings = {"max_tokens": max_tokens, "temperature": temperature, "stop": list(stop)}
        inbox: Inbox = queue.SimpleQueue()
        events = self._request(inbox, "generate", messages, **settings)
        return ReplyStream(self._tokens(events), cancel=lambda: inbox.put(CANCEL))

    def close(self) -> None:
        """Unload the model; safe to call twice."""
        self._process.close()

    def _request(
        self, inbox: Inbox, op: str, messages: Sequence[Message], **fields: object
    ) -> Generator[Event, None, None]:
        if self._process.pid is None and self._options.gpu_layers == 0:
            check_memory(self._path, self._options.context_length)
        sent = [[message.role, message.content] for message in messages]
        yield from self._process.request(inbox, op, messages=sent, **fields)

    def _count(self, messages: Sequence[Message]) -> Event:
        with closing(self._request(queue.SimpleQueue(), "count", messages)) as events:
            return next(events)

    def _tokens(self, events: Generator[Event, None, None]) -> Generator[Token, None, None]:
        with closing(events):
            for event in events:
                token = Token(**{key: value for key, value in event.items() if key not in ("id", "event")})
                if token.finish_reason in ("stop", "length"):
                    self._speed.record(token.prompt_tokens - token.cached_tokens, token.prefill_seconds)
                yield token


def _check_installed(engine: EngineName) -> None:
    if importlib.util.find_spec(engine) is None:
        raise BackendUnavailable(
            f"the package {engine.replace('_', '-')} is not installed, so GGUF models cannot run",
            hint=f"pip install 'companion[{_PACKAGES[engine]}]'",
        )
