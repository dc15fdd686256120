"""Embeddings from a GGUF file through llama-cpp-python, in a process of its own.

llama.cpp aborts its whole process on misuse and on some broken files; here that is a message, and the next call
starts the process again. One request at a time.
"""

import contextlib
import json
import re
import subprocess
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from companion_assets.backends.batch_embedding import BatchEmbedding, TextRefused, TextTooLong
from companion_assets.backends.gguf_file import check_gguf, model_fingerprint
from companion_assets.backends.llama_options import default_threads
from companion_assets.backends.model_process import start_model_process
from companion_assets.backends.protocols import Vectors
from companion_assets.backends.retrieval_prefixes import prefixes_for
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.manifests import EmbedderSpec

EXIT_SECONDS = 5.0
OTHER_FILE = "point rag.embedding.model at a .gguf file of an embedding model"
WORDS = re.compile(r"\s*\S+")


class LlamaCppEmbedder:
    """An `Embedder`."""

    def __init__(self, path: Path, *, threads: int = 0, batch_size: int = 32) -> None:
        """Load the model.

        Args:
            path: The GGUF file.
            threads: Compute threads; 0 is one for each core.
            batch_size: Texts sent to the process at a time.

        Raises:
            BackendUnavailable: No such file, no GGUF, not loadable, or llama-cpp-python is not installed.
        """
        try:
            check_gguf(path)
        except BackendUnavailable as fault:
            raise BackendUnavailable(fault.message, OTHER_FILE) from fault
        self._worker = _Worker(path, threads or default_threads())
        card = self._worker.open()
        prefixes = prefixes_for(card["name"])
        self._spec = EmbedderSpec(
            provider="llama_cpp",
            model=card["name"],
            digest=model_fingerprint(path),
            dimensions=card["dimensions"],
            max_tokens=card["max_tokens"],
            pooling=card["pooling"],
            query_prefix=prefixes.query,
            passage_prefix=prefixes.passage,
            location=str(path.absolute()),
        )
        self._tokenizer = GgufTokenizer(self._worker)
        self._batches = BatchEmbedding(self._request, self._tokenizer, batch_size, self._spec.max_tokens)

    @property
    def spec(self) -> EmbedderSpec:
        """The identity of these vectors."""
        return self._spec

    @property
    def tokenizer(self) -> "GgufTokenizer":
        """The model's own."""
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32[n, d], rows as in `texts`, unit length.

        Raises:
            EmbeddingFailed: Some texts are blank or have no vector even alone.
            BackendUnavailable: The process ended.
        """
        return self._batches.embed(texts, self._spec.passage_prefix).reshape(len(texts), self._spec.dimensions)

    def embed_query(self, text: str) -> Vectors:
        """float32[d], unit length.

        Raises:
            EmbeddingFailed: The text is blank or has no vector.
            BackendUnavailable: The process ended.
        """
        return self._batches.embed([text], self._spec.query_prefix).reshape(self._spec.dimensions)

    def close(self) -> None:
        """End the process; safe to call twice."""
        self._worker.close()

    def _request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        answer = self._worker.ask("embed", texts)
        if "too_long" in answer:
            raise TextTooLong
        if "refused" in answer:
            raise TextRefused(f"llama.cpp: {answer['refused']}")
        vectors: Sequence[Sequence[float]] = answer["vectors"]
        return vectors


class GgufTokenizer:
    """A `Tokenizer` that asks the model. Spans are exact between words; inside one they divide it evenly."""

    def __init__(self, worker: "_Worker") -> None:
        self._worker = worker

    def count(self, text: str) -> int:
        """Tokens of `text`, special tokens not included."""
        return self._counts([text])[0]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Character spans, as the class says."""
        words = list(WORDS.finditer(text))
        spans: list[tuple[int, int]] = []
        for word, tokens in zip(words, self._counts([word.group() for word in words]), strict=True):
            length = word.end() - word.start()
            borders = [word.start() + length * at // tokens for at in range(tokens)] + [word.end()]
            spans += [(start, end) for start, end in pairwise(borders) if start < end]
        return spans

    def _counts(self, texts: Sequence[str]) -> list[int]:
        counts: list[int] = self._worker.ask("counts", texts)["counts"] if texts else []
        return counts


class _Worker:
    """The process: started when needed, asked by one thread at a time."""

    def __init__(self, path: Path, threads: int) -> None:
        self._options = {"path": str(path), "threads": threads}
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def open(self) -> dict[str, Any]:
        """Start it and return what it says about the model."""
        with self._lock:
            return self._start()

    def ask(self, op: str, texts: Sequence[str]) -> dict[str, Any]:
        with self._lock:
            if not self._process:
                self._start()
            return self._exchange({"op": op, "texts": list(texts)})

    def close(self) -> None:
        with self._lock:
            self._end()

    def _start(self) -> dict[str, Any]:
        self._process = start_model_process("companion_assets.backends.llama_embed_worker", subprocess.DEVNULL)
        card = self._exchange(self._options)
        if "error" in card:
            self._end()
            raise BackendUnavailable(f"llama.cpp cannot open {self._options['path']}: {card['error']}", OTHER_FILE)
        return card

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send one line, receive one. Interrupted, the two would be out of step, so the process ends."""
        process = self._process
        assert process
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        except BaseException:
            self._end()
            raise
        if not line:
            self._end()
            raise BackendUnavailable(
                f"the process that embeds with {self._options['path']} ended (exit status {process.returncode})",
                "try again: it starts anew by itself",
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        process, self._process = self._process, None
        if not process:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(OSError):  # what was not yet sent to a dead process
                    pipe.close()
        try:
            process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
