"""The process that runs a GGUF model: JSON lines in, JSON lines out. Started by `llama_process`.

First line in: the fields of `ModelOptions`. Then one request per line:

    {"id": 1, "op": "generate", "messages": [...], "max_tokens": 300, "temperature": 0.2, "stop": []}
    {"id": 2, "op": "warm", "messages": [...]}
    {"id": 3, "op": "count", "messages": [...]}      answered at once, also during a reply
    {"id": 1, "op": "cancel"}                        the same

Lines out carry `event`: loading, ready, failed (all with id 0), then token, counted or error with the request's id.
Requests that compute run one after the other, in the order they came. The end of the input is the end of the process.
"""

import ctypes
import json
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
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.records import Message

_PR_SET_PDEATHSIG = 1
_SECONDS_BETWEEN_PROGRESS = 0.2


class Engine(Protocol):
    """A loaded model."""

    @property
    def context_length(self) -> int: ...

    def count(self, messages: Sequence[Message]) -> tuple[int, int]: ...

    def warm(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> Token: ...

    def generate(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float,
        stop: Sequence[str],
        cancelled: Callable[[], bool],
    ) -> Iterator[Token]: ...


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
        self._open: set[int] = set()
        self._cancelled: set[int] = set()
        self._reported = 0.0

    def run(self) -> int:
        """Load the model, then serve until the input ends. Returns the exit status."""
        options = ModelOptions(**json.loads(self._lines.readline()))
        # From here on the end of the input ends the process, even in the middle of loading.
        engine_ready: queue.SimpleQueue[Engine] = queue.SimpleQueue()
        threading.Thread(target=self._receive, args=(engine_ready,), daemon=True).start()
        try:
            engine = _open_engine(options, self._loading)
        except CompanionError as fault:
            self._emit(0, "failed", message=fault.message, hint=fault.hint)
            return 1
        engine_ready.put(engine)
        self._emit(0, "ready", context_length=engine.context_length)
        while True:
            job = self._jobs.get()
            self._serve(engine, job)
            self._open.discard(job["id"])
            self._cancelled.discard(job["id"])

    def _receive(self, engine_ready: "queue.SimpleQueue[Engine]") -> None:
        """Read requests. Counting and cancelling are done here, beside a running computation."""
        engine: Engine | None = None
        for line in self._lines:
            request = json.loads(line)
            if request["op"] == "cancel":
                self._cancelled |= {request["id"]} & self._open
            elif request["op"] == "count":
                engine = engine or engine_ready.get()
                self._count(engine, request)
            else:
                self._open.add(request["id"])
                self._jobs.put(request)
        os._exit(0)  # the parent is gone; a computation may be running, so no orderly way out

    def _count(self, engine: Engine, request: dict[str, Any]) -> None:
        try:
            tokens, uncached = engine.count(_messages(request))
        except CompanionError as fault:
            self._emit(request["id"], "error", message=fault.message, hint=fault.hint)
        else:
            self._emit(request["id"], "counted", tokens=tokens, uncached=uncached)

    def _serve(self, engine: Engine, job: dict[str, Any]) -> None:
        number = job["id"]

        def cancelled() -> bool:
            return number in self._cancelled

        try:
            if job["op"] == "warm":
                self._emit(number, "token", **asdict(engine.warm(_messages(job), cancelled)))
                return
            settings = (job["max_tokens"], job["temperature"], job["stop"])
            for token in engine.generate(_messages(job), *settings, cancelled):
                self._emit(number, "token", **asdict(token))
        except CompanionError as fault:
            self._emit(number, "error", message=fault.message, hint=fault.hint)

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


def main() -> int:
    """Run the worker on standard input and output."""
    _die_with_parent()
    # Ctrl-C goes to the whole terminal group; only the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return Worker(sys.stdin, _private_output()).run()


if __name__ == "__main__":
    sys.exit(main())
