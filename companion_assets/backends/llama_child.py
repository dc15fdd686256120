"""One life of the model's process: started, spoken with, ended. `llama_process` gives it more than one."""

import contextlib
import itertools
import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from companion_assets.backends.llama_options import ModelOptions
from companion_assets.backends.model_process import start_model_process
from companion_assets.contracts.errors import BackendUnavailable, CompanionError

Event = dict[str, Any]
Inbox = queue.SimpleQueue[Event]
CANCEL: Event = {"id": 0, "event": "cancel"}
"""Put into the inbox of a request, from any thread, it ends the request; the last token says so."""
_LOST: Event = {"id": 0, "event": "lost"}
_WORKER = "companion_assets.backends.llama_worker"
_LOG_BYTES = 1_000_000
# A cancelled computation ends within a few milliseconds; a process that takes longer than this hangs.
_CANCEL_SECONDS = 10.0
_EXIT_SECONDS = 5.0


class LlamaChild:
    """One process from start to death. A thread of its own starts it, reads it and waits for its end.

    The thread matters: Linux kills the child when the *thread* that started it ends (parent-death signal).
    """

    def __init__(self, options: ModelOptions, log_file: Path | None, on_load: Callable[[float], None] | None) -> None:
        self._options = options
        self._log_file = log_file
        self._on_load = on_load
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()
        self._streams: dict[int, Inbox] = {}
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
        """Process id, once there is one."""
        return self._process.pid if self._process else None

    def wait_until_ready(self) -> None:
        """Wait until the model is loaded.

        Raises:
            BackendUnavailable: It could not be.
        """
        self._ready.wait()
        if self._refusal:
            raise self._refusal

    def request(self, inbox: Inbox, op: str, fields: dict[str, Any]) -> Iterator[Event]:
        """Send a request and yield its events; see `LlamaProcess.request`."""
        number = next(self._numbers)
        self._streams[number] = inbox
        finished = False
        try:
            self._send({"id": number, "op": op, **fields})
            while not finished:
                event = self._checked(inbox.get())
                if event is CANCEL:
                    event = self._cancel(number, inbox)
                finished = _is_last(event)
                yield event
        except CompanionError:
            finished = True
            raise
        finally:
            if not finished:
                with contextlib.suppress(CompanionError):
                    self._cancel(number, inbox)
            del self._streams[number]

    def _checked(self, event: Event) -> Event:
        if event["event"] == "error":
            kind = BackendUnavailable if event["unavailable"] else CompanionError
            raise kind(event["message"], hint=event["hint"])
        if event["event"] == "lost":
            raise self._lost("the model's process ended during the reply")
        return event

    def _cancel(self, number: int, inbox: Inbox) -> Event:
        """Stop a request and return its last event; a process that does not listen is killed."""
        self._send({"id": number, "op": "cancel"})
        try:
            while True:
                event = self._checked(inbox.get(timeout=_CANCEL_SECONDS))
                if event is not CANCEL and _is_last(event):
                    return event
        except queue.Empty:
            self._kill()
            raise self._lost("the model did not stop when asked and was ended") from None

    def _send(self, message: dict[str, Any]) -> None:
        process = self._process
        if not process or not process.stdin or not self.alive:
            raise self._lost("the model's process has ended")
        try:
            with self._writing:
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
        except (OSError, ValueError) as fault:  # the pipe is broken, or `close` was called meanwhile
            raise self._lost("the model's process has ended") from fault

    def _lost(self, what: str) -> BackendUnavailable:
        if self._closing:
            return BackendUnavailable("the model was closed during the reply")
        status = self._process.poll() if self._process else None
        log = f"; details: {self._log_file}" if self._log_file else ""
        detail = f" (exit status {status})" if status is not None else ""
        return BackendUnavailable(f"{what}{detail}", hint=f"ask again: the model starts anew by itself{log}")

    def _live(self) -> None:
        try:
            with self._open_log() as log:
                self._process = process = start_model_process(_WORKER, log)
            self._send(asdict(self._options))
            assert process.stdout
            for line in process.stdout:
                self._receive(json.loads(line))
            process.wait()
        except OSError as fault:
            self._refusal = BackendUnavailable(f"the model's process could not be started: {fault}")
        except BackendUnavailable as fault:
            self._refusal = fault
        finally:
            self._die()

    def _die(self) -> None:
        self.alive = False
        if not self._ready.is_set():
            self._refusal = self._refusal or self._lost("the model's process ended while loading")
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

    def _open_log(self) -> IO[bytes]:
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


def _is_last(event: Event) -> bool:
    return event["event"] != "token" or event["finish_reason"] is not None
