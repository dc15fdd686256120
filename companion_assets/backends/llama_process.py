"""Keeps the model's process: starts it when needed, speaks with it, notices its death, starts it again.

The model has a process of its own because llama.cpp aborts the whole process on misuse and on some broken files,
and because its threads must be told at start not to spin (`GOMP_SPINCOUNT`). The person's program lives on.
"""

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import companion_assets
from companion_assets.backends.llama_options import ModelOptions
from companion_assets.contracts.errors import BackendUnavailable, CompanionError

Event = dict[str, Any]
_LOST: Event = {"id": 0, "event": "lost"}
_LOG_BYTES = 1_000_000
# A cancelled computation ends within a few milliseconds; a process that takes longer than this hangs.
_CANCEL_SECONDS = 10.0
_EXIT_SECONDS = 5.0
# Source: notes on inference, measured: beside two busy processes decode runs at 28 tokens/s with this spin count,
# at 19 with the default, and quiet speed is the same. The second keeps a crash from hanging in a debugger.
_ENVIRONMENT = {"GOMP_SPINCOUNT": "1000", "GGML_NO_BACKTRACE": "1"}


class LlamaProcess:
    """A supervised model process; requests from several threads queue in it.

    Args:
        options: The model to load.
        log_file: Where native messages go; None drops them. They never reach the terminal.
        idle_seconds: The process ends after this long without a request and comes back with the next one.
        on_load: Called with the loaded fraction, from another thread, while the model loads.
    """

    def __init__(
        self,
        options: ModelOptions,
        *,
        log_file: Path | None = None,
        idle_seconds: float = 900.0,
        on_load: Callable[[float], None] | None = None,
    ) -> None:
        self._options = options
        self._log_file = log_file
        self._idle_seconds = idle_seconds
        self._on_load = on_load
        self._lock = threading.Lock()
        self._life: _Life | None = None
        self._context_length = options.context_length
        self._requests = 0
        self._timer: threading.Timer | None = None

    @property
    def pid(self) -> int | None:
        """Process id while the model is loaded or loading."""
        life = self._life
        return life.pid if life and life.alive else None

    @property
    def context_length(self) -> int:
        """As the model was opened; as it was asked for before that."""
        return self._context_length

    def request(self, op: str, **fields: Any) -> Generator[Event, None, None]:
        """Send a request and yield its events. Closing the iterator cancels the request.

        Raises:
            BackendUnavailable: The model cannot be loaded, or its process ended during the request.
            CompanionError: The model's process refused the request.
        """
        life = self._enter()
        try:
            yield from life.request(op, fields)
        finally:
            self._leave()

    def close(self) -> None:
        """End the process; safe to call twice. The next request starts a new one."""
        with self._lock:
            self._end()

    def _enter(self) -> "_Life":
        with self._lock:
            if self._timer:
                self._timer.cancel()
            if not self._life or not self._life.alive:
                self._life = _Life(self._options, self._log_file, self._on_load)
            self._requests += 1
            life = self._life
        try:
            life.wait_until_ready()
        except BaseException:
            self._leave()
            raise
        self._context_length = life.context_length
        return life

    def _leave(self) -> None:
        with self._lock:
            self._requests -= 1
            if self._requests == 0 and self._life:
                self._timer = threading.Timer(self._idle_seconds, self._unload_if_idle)
                self._timer.daemon = True
                self._timer.start()

    def _unload_if_idle(self) -> None:
        with self._lock:
            if self._requests == 0:
                self._end()

    def _end(self) -> None:
        if self._timer:
            self._timer.cancel()
        if self._life:
            self._life.close()
            self._life = None


class _Life:
    """One process from start to death. A thread of its own starts it, reads it and waits for its end.

    The thread matters: Linux kills the child when the *thread* that started it ends (parent-death signal).
    """

    def __init__(
        self, options: ModelOptions, log_file: Path | None, on_load: Callable[[float], None] | None
    ) -> None:
        self._options = options
        self._log_file = log_file
        self._on_load = on_load
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()
        self._streams: dict[int, queue.SimpleQueue[Event]] = {}
        self._ready = threading.Event()
        self._refusal: BackendUnavailable | None = None
        self._process: subprocess.Popen[str] | None = None
        self._closing = False
        self.alive = True
        self.context_length = options.context_length
        self._thread = threading.Thread(target=self._live, name="companion-model", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def wait_until_ready(self) -> None:
        self._ready.wait()
        if self._refusal:
            raise self._refusal

    def request(self, op: str, fields: dict[str, Any]) -> Iterator[Event]:
        number = next(self._numbers)
        stream = self._streams[number] = queue.SimpleQueue()
        finished = False
        try:
            self._send({"id": number, "op": op, **fields})
            while not finished:
                event = self._checked(stream.get())
                finished = event["event"] != "token" or event["finish_reason"] is not None
                yield event
        except CompanionError:
            finished = True
            raise
        finally:
            if not finished:
                self._cancel(number, stream)
            del self._streams[number]

    def _checked(self, event: Event) -> Event:
        if event["event"] == "error":
            kind = BackendUnavailable if event["unavailable"] else CompanionError
            raise kind(event["message"], hint=event["hint"])
        if event["event"] == "lost":
            raise self._lost("The model's process ended during the reply")
        return event

    def _cancel(self, number: int, stream: "queue.SimpleQueue[Event]") -> None:
        """Stop a request and see that it has stopped; a process that does not listen is killed."""
        with contextlib.suppress(BackendUnavailable):
            self._send({"id": number, "op": "cancel"})
        try:
            while self.alive and (event := stream.get(timeout=_CANCEL_SECONDS)):
                if event["event"] != "token" or event["finish_reason"] is not None:
                    return
        except queue.Empty:
            self._kill()

    def _send(self, message: dict[str, Any]) -> None:
        process = self._process
        if not process or not process.stdin or not self.alive:
            raise self._lost("The model's process has ended")
        try:
            with self._writing:
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
        except (OSError, ValueError) as fault:  # the pipe is broken, or `close` was called meanwhile
            raise self._lost("The model's process has ended") from fault

    def _lost(self, what: str) -> BackendUnavailable:
        if self._closing:
            return BackendUnavailable("The model was closed during the reply")
        status = self._process.poll() if self._process else None
        log = f" Details: {self._log_file}" if self._log_file else ""
        detail = f" (exit status {status})" if status is not None else ""
        return BackendUnavailable(f"{what}{detail}", hint=f"Ask again: the model starts anew by itself.{log}")

    def _live(self) -> None:
        try:
            with self._open_log() as log:
                self._process = process = _start(log)
            self._send(asdict(self._options))
            assert process.stdout
            for line in process.stdout:
                self._receive(json.loads(line))
            process.wait()
        except OSError as fault:
            self._refusal = BackendUnavailable(f"The model's process could not be started: {fault}")
        except BackendUnavailable as fault:
            self._refusal = fault
        finally:
            self._die()

    def _die(self) -> None:
        self.alive = False
        if not self._ready.is_set():
            self._refusal = self._refusal or self._lost("The model's process ended while loading")
            self._ready.set()
        for stream in list(self._streams.values()):
            stream.put(_LOST)
        self._kill()
        if self._process:
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    if pipe:
                        pipe.close()

    def _receive(self, event: Event) -> None:
        match event:
            case {"event": "loading", "fraction": fraction}:
                if self._on_load:
                    self._on_load(fraction)
            case {"event": "ready", "context_length": length}:
                self.context_length = length
                self._ready.set()
            case {"id": 0, "event": "error", "message": message, "hint": hint}:
                self._refusal = BackendUnavailable(message, hint=hint)
                self.alive = False
                self._ready.set()
            case {"id": number} if stream := self._streams.get(number):
                stream.put(event)

    def _open_log(self) -> Any:
        if not self._log_file:
            return Path(os.devnull).open("ab")
        self._log_file.parent.mkdir(parents=True, exist_ok=True)
        full = self._log_file.exists() and self._log_file.stat().st_size > _LOG_BYTES
        return self._log_file.open("wb" if full else "ab")

    def close(self) -> None:
        """End the process: politely by closing its input, then by force."""
        self._closing = True
        self.alive = False
        self._ready.wait(timeout=_EXIT_SECONDS)
        process = self._process
        if not process:
            return
        with contextlib.suppress(OSError), self._writing:
            if process.stdin:
                process.stdin.close()
        try:
            process.wait(timeout=_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
        self._thread.join(timeout=_EXIT_SECONDS)

    def _kill(self) -> None:
        self.alive = False
        if self._process:
            self._process.kill()
            self._process.wait()


def _start(log: Any) -> "subprocess.Popen[str]":
    package_root = str(Path(companion_assets.__file__).parent.parent)
    search_path = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        # -P: the folder a person happens to be in must not be able to replace a module.
        [sys.executable, "-P", "-m", "companion_assets.backends.llama_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        encoding="utf-8",
        env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": search_path},
    )
