"""What every request must pass, for page and API alike, and the headers every response carries."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from companion_assets.contracts.settings import is_loopback

MOST_BYTES = 2_000_000  # of a request; the longest question has some 30 kB
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}

# Nothing is fetched from anywhere but here. Gradio renders its HTML components from templates and needs `eval` and
# inline code for that; what notes and model say never reaches a template unescaped (`companion_app.ui.safe_markdown`).
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class ResponseHeaders:
    """Adds the policy that keeps the page on this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; its response gets the headers."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, with_headers)


class OnlyThisHost:
    """Refuses requests meant for another host name, and changes asked for by other sites.

    A hostile site can point its own name at 127.0.0.1 (DNS rebinding) or post to us from a person's browser; both
    give themselves away, by `Host` and by `Origin`.

    Args:
        app: What is guarded.
        host: The address we listen on; its name is accepted beside the loopback names.
        origins: Sites that may call the API (`api.cors_origins`).
    """

    def __init__(self, app: ASGIApp, host: str, origins: Iterable[str]) -> None:
        self._app = app
        self._host = host.strip("[]").lower()
        self._origins = {origin.rstrip("/") for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_ours(f"//{headers.get('host', '')}"):
            await _refusal(400, "this host name is not ours", "open the address `companion up` prints")(
                scope, receive, send
            )
        elif not self._may_ask(scope, headers.get("origin")):
            await _refusal(403, "this site may not use Companion", "add it to api.cors_origins if you trust it")(
                scope, receive, send
            )
        else:
            await self._app(scope, receive, send)

    def _may_ask(self, scope: Scope, origin: str | None) -> bool:
        if origin is None or (scope["type"] == "http" and scope["method"] in _SAFE_METHODS):
            return True
        return origin in self._origins or self._is_ours(origin)

    def _is_ours(self, address: str) -> bool:
        try:
            name = urlsplit(address).hostname or ""
        except ValueError:
            return False
        return is_loopback(name) or (bool(self._host) and name == self._host)


class BodyLimit:
    """Refuses request bodies beyond a size, whether announced or not.

    Args:
        app: What is guarded.
        most: Bytes.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; reading its body fails once it is too long."""
        announced = Headers(scope=scope).get("content-length", "0") if scope["type"] == "http" else "0"
        if announced.isdecimal() and int(announced) > self._most:
            await _refusal(413, *_too_long(self._most))(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._most:
                raise HTTPException(413, _too_long(self._most)[0])
            return message

        await self._app(scope, counted, send)


def _too_long(most: int) -> tuple[str, str]:
    return f"the request has more than {most:,} bytes", "send less at once"


def _refusal(status: int, error: str, hint: str) -> JSONResponse:
    return JSONResponse({"error": error, "hint": hint}, status)
