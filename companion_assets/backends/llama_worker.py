"""The process that runs a GGUF model: JSON lines in, JSON lines out. Started by `llama_process`.

First line in: the fields of `ModelOptions`. Then one request per line:

    {"id": 1, "op": "generate", "messages": [...], "max_tokens": 300, "temperature": 0.2, "stop": []}
    {"id": 2, "op": "warm", "messages": [...]}
    {"id": 3, "op": "count", "messages": [...]}      answered at once, also during a reply
    {"id": 1, "op": "cancel"}                        the same

Lines out carry `event`: loading and ready with id 0, then token, counted or error with the request's id (error
with id 0: the model could not be loaded).
Requests that compute run one after the other, in the order they came. The end of the input is the end of the process.
"""

import ctypes
import json
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Protocol, TextIO

from companion_assets.backends.llama_options import ModelOptions
from companion_assets.backends.protocols import Token
from companion_assets.contracts.errors import BackendUnavailable, CompanionError
from companion_assets.contracts.records import Message

_PR_SET_PDEATHSIG = 1
_SECONDS_BETWEEN_PROGRESS = 0.2


class Engine(Protocol):
    """A loaded model."""

    @property
    def context_length(self) -> int:
        """Tokens of prompt and reply together."""
        ...

    def count(self, messages: Sequence[Message]) -> tuple[int, int]:
        """(tokens of the prompt, those to be evaluated)."""
        ...

    def warm(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> Token:
        """Evaluate the beginning that coming prompts share."""
        ...

    def generate(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float,
        stop: Sequence[str],
        cancelled: Callable[[], bool],
    ) -> Iterator[Token]:
        """Stream a reply."""
        ...


class Worker:
    """Serves the requests of one parent.

    Args:
        lines: Where requests come from.
        out: Where events go.
    """

    def __init__(self, lines: TextIO, out: TextIO) -> None:
        self._lines = lines
        self._out = out
        self._writing = threading.Lock()
        self._jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._turns = threading.Lock()  # guards the two below
        self._waiting: set[int] = set()
        self._running: int | None = None
        self._stop = threading.Event()
        self._reported = 0.0

    def run(self) -> int:
        """Load the model, then serve until the input ends. Returns the exit status."""
        options = ModelOptions(**json.loads(self._lines.readline()))
        # From here on the end of the input ends the process, even in the middle of loading.
        loaded: queue.SimpleQueue[Engine] = queue.SimpleQueue()
        threading.Thread(target=self._receive, args=(loaded,), daemon=True).start()
        try:
            engine = _open_engine(options, self._loading)
        except CompanionError as fault:
            self._refuse(0, fault)
            return 1
        loaded.put(engine)
        self._emit(0, "ready", context_length=engine.context_length)
        while True:
            job = self._jobs.get()
            if self._starts(job["id"]):
                self._serve(engine, job)

    def _starts(self, number: int) -> bool:
        """Give the model to a request, unless it was cancelled while it waited."""
        with self._turns:
            wanted = number in self._waiting
            self._waiting.discard(number)
            self._running = number if wanted else None
            self._stop.clear()
        return wanted

    def _receive(self, loaded: "queue.SimpleQueue[Engine]") -> None:
        """Read requests. Counting and cancelling are done here, beside a running computation."""
        engine: Engine | None = None
        try:
            for line in self._lines:
                request = json.loads(line)
                if request["op"] == "cancel":
                    self._cancel(request["id"])
                elif request["op"] == "count":
                    engine = engine or loaded.get()
                    self._count(engine, request)
                else:
                    with self._turns:
                        self._waiting.add(request["id"])
                    self._jobs.put(request)
        finally:
            # The parent is gone, or this thread failed; a computation may be running, so no orderly way out.
            os._exit(0)

    def _cancel(self, number: int) -> None:
        with self._turns:
            waiting = number in self._waiting
            self._waiting.discard(number)
            if number == self._running:
                self._stop.set()
        if waiting:
            self._emit(number, "token", **asdict(Token("", "cancelled")))

    def _count(self, engine: Engine, request: dict[str, Any]) -> None:
        try:
            tokens, uncached = engine.count(_messages(request))
        except CompanionError as fault:
            self._refuse(request["id"], fault)
        else:
            self._emit(request["id"], "counted", tokens=tokens, uncached=uncached)

    def _serve(self, engine: Engine, job: dict[str, Any]) -> None:
        number, cancelled = job["id"], self._stop.is_set
        try:
            if job["op"] == "warm":
                self._emit(number, "token", **asdict(engine.warm(_messages(job), cancelled)))
                return
            settings = (job["max_tokens"], job["temperature"], job["stop"])
            for token in engine.generate(_messages(job), *settings, cancelled):
                self._emit(number, "token", **asdict(token))
        except CompanionError as fault:
            self._refuse(number, fault)

    def _refuse(self, number: int, fault: CompanionError) -> None:
        unavailable = isinstance(fault, BackendUnavailable)
        self._emit(number, "error", message=fault.message, hint=fault.hint, unavailable=unavailable)

    def _loading(self, fraction: float) -> None:
        if fraction >= 1 or time.monotonic() > self._reported + _SECONDS_BETWEEN_PROGRESS:
            self._reported = time.monotonic()
            self._emit(0, "loading", fraction=fraction)

    def _emit(self, number: int, event: str, **fields: Any) -> None:
        with self._writing:
            self._out.write(json.dumps({"id": number, "event": event, **fields}) + "\n")
            self._out.flush()


def _messages(request: dict[str, Any]) -> list[Message]:
    return [Message(role, content) for role, content in request["messages"]]


def _open_engine(options: ModelOptions, on_progress: Callable[[float], None]) -> Engine:
    if options.engine == "xllamacpp":
        from companion_assets.backends.xllamacpp_engine import XllamacppEngine

        return XllamacppEngine(options)
    from companion_assets.backends.llama_engine import LlamaEngine

    return LlamaEngine(options, on_progress)


def _die_with_parent() -> None:
    """Linux: be killed when the parent's thread ends, even if something else keeps the input open."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _private_output() -> TextIO:
    """The pipe to the parent, out of reach of native code that prints: its output goes to the log instead."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(pipe, "w", encoding="utf-8")


def main() -> None:
    """Run the worker on standard input and output; does not return."""
    _die_with_parent()
    # Ctrl-C goes to the whole terminal group; only the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = 1
    try:
        status = Worker(sys.stdin, _private_output()).run()
    except Exception:
        logging.getLogger(__name__).exception("the model process failed")
    # Not sys.exit: the reading thread holds the input's lock, and Python would abort on that at its end.
    os._exit(status)


if __name__ == "__main__":
    main()
