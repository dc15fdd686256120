"""A double of the Ollama server: the wire shapes and the failures of the real one, over real HTTP.

    with OllamaDouble() as server:
        server.models["mxbai-embed-large:latest"] = embedding_model(dimensions=8, context=16)
        client = ollama.Client(host=server.url)

Switches are plain attributes and may be changed between requests; see `OllamaDouble`.
"""

import hashlib
import json
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODIFIED = "2026-08-01T10:00:00.000000000Z"


@dataclass
class DoubleModel:
    """One pulled model."""

    capabilities: tuple[str, ...]
    context: int = 512
    dimensions: int = 8
    architecture: str = "bert"
    digest: str = "0" * 64


def embedding_model(dimensions: int = 8, context: int = 512, digest: str = "a" * 64) -> DoubleModel:
    return DoubleModel(("embedding",), context, dimensions, "bert", digest)


def chat_model(context: int = 32768, digest: str = "b" * 64) -> DoubleModel:
    return DoubleModel(("completion", "tools"), context, 1024, "llama", digest)


@dataclass
class OllamaDouble:
    """The server and its switches.

    `models`: name with tag → model.  `reply`: text of the next chats, or a function of the messages.
    `delay`: seconds before any answer.  `piece_delay`: seconds between the pieces of a stream.
    `drop_after`: cut the connection after that many pieces (0: before the first byte of any answer).
    `error_after`: write an `{"error": …}` line after that many pieces.
    `busy`: answer 503, queue full, to that many requests.
    `nan_texts`: their vectors hold NaN, which the real server's JSON encoder refuses: 500 for the whole batch.
    `literal_nan`: write NaN into the JSON instead (as some proxies do).  `zero_texts`: their vectors are zero.
    `requests`: (path, body) of everything received.  `cancelled`: streams the client closed early.
    """

    models: dict[str, DoubleModel] = field(default_factory=dict)
    reply: str | Callable[[list[dict[str, Any]]], str] = "Hello there, friend."
    delay: float = 0.0
    piece_delay: float = 0.0
    drop_after: int | None = None
    error_after: int | None = None
    busy: int = 0
    nan_texts: set[str] = field(default_factory=set)
    zero_texts: set[str] = field(default_factory=set)
    literal_nan: bool = False
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    cancelled: int = 0

    def __enter__(self) -> Self:
        double = self

        class Bound(_Handler):
            state = double

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """What was sent to one endpoint, in order."""
        return [body for seen, body in self.requests if seen == path]


def token_count(text: str) -> int:
    """The double's tokenizer: words, and every character outside ASCII alone, plus two specials."""
    return len(re.findall(r"[^\x00-\x7f]|[^\s\x80-\U0010ffff]+", text)) + 2


def vector(text: str, dimensions: int) -> list[float]:
    """A unit vector that depends on the text only."""
    source = random.Random(hashlib.sha256(text.encode()).digest())
    raw = [source.gauss(0, 1) for _ in range(dimensions)]
    norm = sum(x * x for x in raw) ** 0.5
    return [x / norm for x in raw]


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    state: OllamaDouble
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        routes = {"/api/tags": self._tags, "/api/version": lambda: {"version": "0.12.6"}, "/api/ps": self._ps}
        self._serve({}, routes)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.loads(raw) if raw else {}
        routes = {
            "/api/show": lambda: self._show(body),
            "/api/embed": lambda: self._embed(body),
            "/api/chat": lambda: self._chat(body),
        }
        self._serve(body, routes)

    def _serve(self, body: dict[str, Any], routes: dict[str, Callable[[], dict[str, Any] | None]]) -> None:
        state = self.state
        state.requests.append((self.path, body))
        if state.delay:
            time.sleep(state.delay)
        if state.drop_after == 0:
            self.close_connection = True
            self.connection.close()
            return
        try:
            if state.busy > 0:
                state.busy -= 1
                raise _Refused(503, "server busy, please try again.  maximum pending requests exceeded")
            if self.path not in routes:
                raise _Refused(404, "404 page not found")
            answer = routes[self.path]()
            if answer is not None:
                self._send(200, answer)
        except _Refused as refusal:
            self._send(refusal.status, {"error": str(refusal)})
        except (BrokenPipeError, ConnectionResetError):
            state.cancelled += 1
            self.close_connection = True

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    # -- endpoints

    def _model(self, body: dict[str, Any]) -> tuple[str, DoubleModel]:
        if not body:
            raise _Refused(400, "missing request body")
        asked = str(body.get("model", ""))
        if not asked:
            raise _Refused(400, "model is required")
        name = asked if ":" in asked else f"{asked}:latest"
        if name not in self.state.models:
            raise _Refused(404, f"model '{asked}' not found")
        self._check_keep_alive(body.get("keep_alive"))
        return asked, self.state.models[name]

    @staticmethod
    def _check_keep_alive(value: object) -> None:
        if isinstance(value, str) and value.lstrip("-").isdigit():
            raise _Refused(400, f'time: missing unit in duration "{value}"')

    def _details(self, model: DoubleModel) -> dict[str, Any]:
        family = model.architecture
        return {
            "parent_model": "",
            "format": "gguf",
            "family": family,
            "families": [family],
            "parameter_size": "334M",
            "quantization_level": "F16",
        }

    def _tags(self) -> dict[str, Any]:
        rows = [
            {
                "name": name,
                "model": name,
                "modified_at": MODIFIED,
                "size": 669615493,
                "digest": model.digest,
                "details": self._details(model),
            }
            for name, model in self.state.models.items()
        ]
        return {"models": rows}

    def _ps(self) -> dict[str, Any]:
        rows = self._tags()["models"]
        return {"models": [{**row, "expires_at": MODIFIED, "size_vram": 0, "context_length": 4096} for row in rows]}

    def _show(self, body: dict[str, Any]) -> dict[str, Any]:
        _, model = self._model(body)
        family = model.architecture
        info = {
            "general.architecture": family,
            f"{family}.context_length": model.context,
            f"{family}.embedding_length": model.dimensions,
        }
        return {
            "modelfile": "",
            "parameters": f"num_ctx {model.context}",
            "template": "{{ .Prompt }}",
            "details": self._details(model),
            "model_info": info,
            "capabilities": list(model.capabilities),
            "modified_at": MODIFIED,
        }

    def _embed(self, body: dict[str, Any]) -> dict[str, Any]:
        asked, model = self._model(body)
        state = self.state
        given = body.get("input")
        texts = [given] if isinstance(given, str) else list(given or [])
        if given == "":
            texts = []
        if not body.get("truncate", True) and any(token_count(text) > model.context for text in texts):
            raise _Refused(400, "the input length exceeds the context length")
        if not state.literal_nan and any(text in state.nan_texts for text in texts):
            raise _Refused(500, "failed to encode response: json: unsupported value: NaN")
        vectors = []
        for text in texts:
            row = vector(text, model.dimensions)
            if text in state.zero_texts:
                row = [0.0] * model.dimensions
            if text in state.nan_texts:
                row = [float("nan")] * model.dimensions
            vectors.append(row)
        count = sum(token_count(text) for text in texts)
        return {
            "model": asked,
            "embeddings": vectors,
            "total_duration": 14143917,
            "load_duration": 1019500,
            "prompt_eval_count": count,
        }

    def _chat(self, body: dict[str, Any]) -> dict[str, Any] | None:
        asked, model = self._model(body)
        messages = body.get("messages") or []
        if "completion" not in model.capabilities:
            raise _Refused(400, f'"{asked}" does not support chat')
        head = {"model": asked, "created_at": MODIFIED}
        if not messages:
            reason = "unload" if body.get("keep_alive") == 0 else "load"
            return {**head, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason}
        text = self.state.reply(messages) if callable(self.state.reply) else self.state.reply
        options = body.get("options") or {}
        pieces, reason = cut(re.findall(r"\s*\S+|\s+$", text), options)
        prompt_tokens = sum(token_count(message["content"]) for message in messages)
        tail = {
            "done": True,
            "done_reason": reason,
            "total_duration": 900_000_000,
            "load_duration": 1_000_000,
            "prompt_eval_count": prompt_tokens,
            "prompt_eval_duration": prompt_tokens * 1_000_000,
            "eval_count": len(pieces),
            "eval_duration": len(pieces) * 20_000_000,
        }
        if not body.get("stream", True):
            return {**head, "message": {"role": "assistant", "content": "".join(pieces)}, **tail}
        self._stream(head, pieces, tail)
        return None

    def _stream(self, head: dict[str, Any], pieces: list[str], tail: dict[str, Any]) -> None:
        state = self.state
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(pieces):
            if number == state.drop_after:
                self.close_connection = True
                self.connection.close()
                return
            if number == state.error_after:
                self._line({"error": "an error was encountered while running the model: CUDA error"})
                self.wfile.write(b"0\r\n\r\n")
                return
            self._line({**head, "message": {"role": "assistant", "content": piece}, "done": False})
            time.sleep(state.piece_delay)
        self._line({**head, "message": {"role": "assistant", "content": ""}, **tail})
        self.wfile.write(b"0\r\n\r\n")

    def _line(self, row: dict[str, Any]) -> None:
        data = json.dumps(row).encode() + b"\n"
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def cut(pieces: list[str], options: dict[str, Any]) -> tuple[list[str], str]:
    """Apply `num_predict` and `stop` as the server does."""
    text, reason = "".join(pieces), "stop"
    limit = options.get("num_predict", -1)
    if 0 <= limit < len(pieces):
        text, reason = "".join(pieces[:limit]), "length"
    for mark in options.get("stop") or []:
        if mark in text:
            text, reason = text[: text.index(mark)], "stop"
    return re.findall(r"\s*\S+|\s+$", text), reason
