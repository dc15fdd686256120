"""The process that embeds with a GGUF model: one JSON object a line in, one out. Started by `llama_cpp_embedder`.

    {"path": …, "threads": …}              first line; answered with dimensions, max_tokens, pooling and name
    {"op": "embed", "texts": [...]}        → {"vectors": [[...]]} or {"too_long": true} or {"refused": "…"}
    {"op": "counts", "texts": [...]}       → {"counts": [...]}, special tokens not included

A model that cannot be opened is answered with {"error": "…"}. The end of the input is the end of the process.
"""

import json
import os
import signal
import sys
from typing import Any, TextIO

# Windows above this would need gigabytes of buffers and no note's chunk comes near.
MAX_CONTEXT = 2048


class Model:
    """An opened embedding model.

    Args:
        path: The GGUF file.
        threads: Compute threads.

    Raises:
        ValueError: llama.cpp cannot load the file.
    """

    def __init__(self, path: str, threads: int) -> None:
        from llama_cpp import LLAMA_POOLING_TYPE_MEAN, LLAMA_POOLING_TYPE_NONE, Llama

        head = Llama(path, vocab_only=True, verbose=False)
        self.name = head.metadata.get("general.name") or os.path.basename(path)  # noqa: PTH119 - no Path is needed
        trained = head.metadata.get(f"{head.metadata['general.architecture']}.context_length", MAX_CONTEXT)
        self.max_tokens = min(int(trained), MAX_CONTEXT)
        head.close()
        size = self.max_tokens
        # An encoder reads a text in one piece, so batch and context are one size.
        sizes: dict[str, Any] = {"n_ctx": size, "n_batch": size, "n_ubatch": size, "n_threads": threads}
        self._llama = Llama(path, embedding=True, verbose=False, n_threads_batch=threads, **sizes)
        self.pooling = "model"
        if int(self._llama.pooling_type()) == LLAMA_POOLING_TYPE_NONE:
            self._llama.close()
            self.pooling = "mean"
            mean = LLAMA_POOLING_TYPE_MEAN
            self._llama = Llama(
                path, embedding=True, verbose=False, n_threads_batch=threads, pooling_type=mean, **sizes
            )
        self.dimensions = self._llama.n_embd()

    def card(self) -> dict[str, Any]:
        """What the parent needs to know."""
        keys = ("name", "max_tokens", "pooling", "dimensions")
        return {key: getattr(self, key) for key in keys}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Serve one request."""
        texts = [text.encode("utf-8", "replace") for text in request["texts"]]
        if request["op"] == "counts":
            return {"counts": [len(self._llama.tokenize(text, add_bos=False, special=False)) for text in texts]}
        # As `embed` does it: with the special tokens of the model.
        if any(len(self._llama.tokenize(text)) > self.max_tokens for text in texts):
            return {"too_long": True}
        try:
            return {"vectors": self._llama.embed([text.decode() for text in texts])}
        except RuntimeError as fault:  # llama_decode said no
            return {"refused": str(fault)}


def serve(lines: TextIO, out: TextIO) -> None:
    """Open the model named by the first line, then answer the others in order."""

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    try:
        model = Model(**json.loads(lines.readline()))
    except (ValueError, RuntimeError, OSError, ImportError) as fault:
        say({"error": str(fault)})
        return
    say(model.card())
    for line in lines:
        say(model.answer(json.loads(line)))


def main() -> None:
    """Run on standard input and output; what native code prints goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    pipe = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(pipe, "w", encoding="utf-8") as out:
        serve(sys.stdin, out)


if __name__ == "__main__":
    main()
