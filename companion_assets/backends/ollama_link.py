"""One connection to an Ollama server that another thread can cut.

The server starts to answer only when it has read the whole prompt, and it stops working when the connection
breaks. A thread that waits in a socket is woken by shutting the socket down, not by closing it, so the socket
has to be known as soon as it is connected.
"""

import contextlib
import socket
from collections.abc import Mapping
from typing import Any

import httpx

from companion_assets.backends.ollama_client import open_client

_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class OllamaLink:
    """A client for one reply.

    Args:
        base_url: Address of the server.
        timeout: Seconds without a byte before a request fails.

    Raises:
        BackendUnavailable: The package is missing or the address is none.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        self.client = open_client(base_url, timeout)
        self.is_cut = False
        self._socket: socket.socket | None = None
        # The client offers no hook of its own; httpx does.
        self.client._client.event_hooks = {"request": [self._watch]}

    def cut(self) -> None:
        """Break the connection, now or as soon as there is one; a waiting call fails."""
        self.is_cut = True
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection back; for the thread that uses it."""
        self._socket = None
        self.client.close()  # type: ignore[no-untyped-call]

    def _watch(self, request: httpx.Request) -> None:
        request.extensions["trace"] = self._traced

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            self._socket = info["return_value"].get_extra_info("socket")
            if self.is_cut:
                self.cut()
