"""Keeps the model's process: starts it when needed, speaks with it, notices its death, starts it again.

The model has a process of its own because llama.cpp aborts the whole process on misuse and on some broken files,
and because its threads must be told at start not to spin (`GOMP_SPINCOUNT`). The person's program lives on.
"""

import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from companion_assets.backends.llama_child import Event, Inbox, LlamaChild
from companion_assets.backends.llama_options import ModelOptions


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
        self._child: LlamaChild | None = None
        self._context_length = options.context_length
        self._requests = 0
        self._timer: threading.Timer | None = None

    @property
    def pid(self) -> int | None:
        """Process id while the model is loaded or loading."""
        child = self._child
        return child.pid if child and child.alive else None

    @property
    def context_length(self) -> int:
        """As the model was opened; as it was asked for before that."""
        return self._context_length

    def request(self, inbox: Inbox, op: str, **fields: Any) -> Generator[Event, None, None]:
        """Send a request and yield its events. Closing the iterator cancels the request.

        Args:
            inbox: An empty queue; the events of this request come in there.
            op: What to do; see `llama_worker`.
            fields: The request's other fields.

        Raises:
            BackendUnavailable: The model cannot be loaded, or its process ended during the request.
            CompanionError: The model's process refused the request.
        """
        child = self._enter()
        try:
            yield from child.request(inbox, op, fields)
        finally:
            self._leave()

    def close(self) -> None:
        """End the process; safe to call twice. The next request starts a new one."""
        with self._lock:
            self._end()

    def _enter(self) -> LlamaChild:
        with self._lock:
            if self._timer:
                self._timer.cancel()
            if not self._child or not self._child.alive:
                self._child = LlamaChild(self._options, self._log_file, self._on_load)
            self._requests += 1
            child = self._child
        try:
            child.wait_until_ready()
        except BaseException:
            self._leave()
            raise
        self._context_length = child.context_length
        return child

    def _leave(self) -> None:
        with self._lock:
            self._requests -= 1
            if self._requests == 0 and self._child:
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
        if self._child:
            self._child.close()
            self._child = None
