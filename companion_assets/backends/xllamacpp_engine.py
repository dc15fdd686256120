"""The prebuilt stand-in for machines without a compiler: xllamacpp, a whole llama.cpp server as a module.

Installs in seconds and reads prompts at about 0.7 of the compiled runtime's speed (portable build). Runs inside
`llama_worker` like `llama_engine`; the server it opens listens on loopback, on a free port, behind a random key.
Differences: stored prefixes are not used, and `count` does not know of cached replies, so it may overestimate
what is to be evaluated.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx

from companion_assets.backends.control_tokens import neutralise
from companion_assets.backends.llama_options import ModelOptions
from companion_assets.backends.llama_prompt import PromptRenderer, shared_length
from companion_assets.backends.protocols import FinishReason, Token
from companion_assets.contracts.errors import BackendUnavailable, CompanionError
from companion_assets.contracts.records import Message

_REASONS: dict[str, FinishReason] = {"eos": "stop", "word": "stop", "limit": "length"}
# The same loop guard as in `llama_native`.
_SAMPLING = {
    "dry_multiplier": 0.8,
    "dry_base": 1.75,
    "dry_allowed_length": 12,
    "dry_penalty_last_n": 1024,
    "dry_sequence_breakers": ["\u0001"],  # the server insists on one; this never occurs
}


class XllamacppEngine:
    """One model in an in-process llama.cpp server with a single slot.

    Args:
        options: File, context length, threads.

    Raises:
        BackendUnavailable: The model cannot be loaded.
    """

    def __init__(self, options: ModelOptions) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = options.path
        params.n_ctx = options.context_length
        params.n_parallel = 1
        params.n_batch = params.n_ubatch = options.batch
        params.n_gpu_layers = options.gpu_layers
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
        params.warmup = False
        key = secrets.token_urlsafe(24)
        params.api_keys = [key]
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as fault:
            raise BackendUnavailable(
                f"the model {options.path} could not be loaded: {fault}",
                hint="the file may be cut or of a newer kind: fetch it again, or choose another model",
            ) from fault
        self._http = httpx.Client(
            base_url=self._server.listening_address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=None,  # a prompt may take minutes; the parent watches this process
            trust_env=False,
        )
        self.context_length = int(self._post("/props", get=True)["default_generation_settings"]["n_ctx"])
        self._prompt = PromptRenderer(self._render, _ServerVocabulary(self._post))
        self._evaluated: list[int] = []

    def count(self, messages: Sequence[Message]) -> tuple[int, int]:
        """Tokens of the prompt, and how many of them must be evaluated."""
        ids = self._prompt.tokens(messages)
        return len(ids), len(ids) - shared_length(self._evaluated, ids[:-1])

    def warm(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> Token:
        """Evaluate the beginning that all coming prompts share."""
        *_, last = self._complete(self._prompt.beginning(messages), cancelled, n_predict=0)
        return last

    def generate(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float,
        stop: Sequence[str],
        cancelled: Callable[[], bool],
    ) -> Iterator[Token]:
        """Stream a reply; the last token carries the reason and the counts."""
        ids = self._prompt.tokens(messages)
        budget = min(max_tokens, self.context_length - len(ids))
        stops = [mark for mark in stop if mark]
        return self._complete(ids, cancelled, n_predict=budget, temperature=temperature, stop=stops, **_SAMPLING)

    def _complete(self, ids: list[int], cancelled: Callable[[], bool], **settings: object) -> Iterator[Token]:
        if len(ids) >= self.context_length:
            raise CompanionError(
                f"the prompt has {len(ids)} tokens, the model's context holds {self.context_length} with the reply",
                hint="shorten the question or raise model.inference.context_length",
            )
        body = {"prompt": ids, "stream": True, "cache_prompt": True, "return_progress": True, **settings}
        written = 0
        with self._http.stream("POST", "/completion", json=body) as response:
            if response.status_code != httpx.codes.OK:
                raise BackendUnavailable(f"xllamacpp refused the prompt: {response.read()[:200]!r}")
            for event in _events(response):
                self._evaluated = ids
                if cancelled():
                    break
                if event.get("stop"):
                    yield _last(event)
                    return
                written += 1
                if event["content"]:
                    yield Token(event["content"])
        yield Token("", "cancelled", prompt_tokens=len(ids), completion_tokens=written)

    def _render(self, messages: list[dict[str, str]], reply: bool) -> str:
        thinking = {"enable_thinking": False}
        body = {"messages": messages, "add_generation_prompt": reply, "chat_template_kwargs": thinking}
        return str(self._post("/apply-template", body)["prompt"])

    def _post(self, path: str, body: object = None, *, get: bool = False) -> dict[str, Any]:
        response = self._http.get(path) if get else self._http.post(path, json=body)
        if response.is_error:
            raise ValueError(response.text[:300])
        answer: dict[str, Any] = response.json()
        return answer


class _ServerVocabulary:
    """The model's tokens as far as the server tells of them."""

    def __init__(self, post: Callable[..., dict[str, Any]]) -> None:
        self._post = post

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        # The server does not tell control tokens from others, so the spellings are broken as well.
        content = (text if special else neutralise(text)).encode("utf-8", "replace").decode()
        return list(self._post("/tokenize", {"content": content, "parse_special": special})["tokens"])

    def is_control(self, token: int) -> bool:
        return False

    def is_user_defined(self, token: int) -> bool:
        return False

    def special_text(self, token: int) -> str:
        return ""

    def begin(self) -> int | None:
        ids = self._post("/tokenize", {"content": "", "add_special": True})["tokens"]
        return ids[0] if ids else None


def _events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            event = json.loads(line.removeprefix("data: "))
            if "error" in event:
                raise BackendUnavailable(f"xllamacpp failed: {event['error'].get('message', event['error'])}")
            yield event


def _last(event: dict[str, Any]) -> Token:
    timings = event["timings"]
    cached, evaluated = int(timings["cache_n"]), int(timings["prompt_n"])
    return Token(
        event["content"],
        _REASONS.get(event.get("stop_type", ""), "stop"),
        prompt_tokens=cached + evaluated,
        cached_tokens=cached,
        completion_tokens=int(timings["predicted_n"]),
        prefill_seconds=timings["prompt_ms"] / 1000,
    )
