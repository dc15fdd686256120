"""Embeddings from an Ollama server.

The server truncates long texts silently by default, so truncation is switched off and a refusal is answered by
`batch_embedding`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import httpx
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from companion_assets.backends.batch_embedding import BatchEmbedding, TextRefused, TextTooLong
from companion_assets.backends.estimated_tokenizer import EstimatedTokenizer
from companion_assets.backends.ollama_client import explain, is_over_length, look_up, open_client, status_of
from companion_assets.backends.protocols import Vectors
from companion_assets.backends.retrieval_prefixes import prefixes_for
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.manifests import EmbedderSpec

if TYPE_CHECKING:
    import ollama

DEFAULT_TIMEOUT = 120.0  # seconds; the first request also loads the model
MAX_CONTEXT = 8192  # tokens; the server reserves memory for the context it is asked for
ATTEMPTS = 4


class OllamaEmbedder:
    """An `Embedder`. Opening it asks the server about the model but does not load it."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        dimensions: int | None = None,
        batch_size: int = 32,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        """Find the model.

        Args:
            base_url: Address of the server.
            model: With or without a tag.
            dimensions: Shorten the vectors (for models trained for it); default: the model's own length.
            batch_size: Texts in one request.
            timeout: Seconds without a byte after which a request fails.

        Raises:
            BackendUnavailable: No server, no such model (the hint is the command that fetches it), or a model
                that cannot embed.
        """
        self._base_url = base_url
        self._model = model
        self._client = open_client(base_url, timeout)
        card = look_up(self._client, model, base_url)
        if card.capabilities and "embedding" not in card.capabilities:
            hint = "choose an embedding model, for instance: ollama pull mxbai-embed-large"
            raise BackendUnavailable(f"the Ollama model {model!r} does not embed", hint)
        if card.context_length is None or card.dimensions is None:
            raise BackendUnavailable(
                f"the Ollama server at {base_url} does not tell the window of {model!r}", "update it"
            )
        self._asked_dimensions = dimensions
        prefixes = prefixes_for(model)
        self._spec = EmbedderSpec(
            provider="ollama",
            model=card.name,
            digest=card.digest,
            dimensions=dimensions or card.dimensions,
            max_tokens=min(card.context_length, MAX_CONTEXT),
            pooling="server",
            query_prefix=prefixes.query,
            passage_prefix=prefixes.passage,
        )
        self._tokenizer = EstimatedTokenizer()
        self._batches = BatchEmbedding(self._request, self._tokenizer, batch_size, self._spec.max_tokens)

    @property
    def spec(self) -> EmbedderSpec:
        """The identity of these vectors."""
        return self._spec

    @property
    def tokenizer(self) -> EstimatedTokenizer:
        """An estimate: the model's vocabulary stays on the server."""
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32[n, d], rows as in `texts`, unit length.

        Raises:
            EmbeddingFailed: Some texts are blank or have no vector even alone.
            BackendUnavailable: The server failed.
        """
        return self._batches.embed(texts, self._spec.passage_prefix).reshape(len(texts), self._spec.dimensions)

    def embed_query(self, text: str) -> Vectors:
        """float32[d], unit length.

        Raises:
            EmbeddingFailed: The text is blank or has no vector.
            BackendUnavailable: The server failed.
        """
        return self._batches.embed([text], self._spec.query_prefix).reshape(self._spec.dimensions)

    def close(self) -> None:
        """Close the connections; safe to call twice."""
        self._client.close()  # type: ignore[no-untyped-call]

    def _request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One request, repeated where the server was only busy or dropped the connection."""
        retrying = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=0.1, max=2),
            retry=retry_if_exception(_is_passing),
            reraise=True,
        )
        try:
            answer = retrying(self._embed, texts)
        except Exception as fault:  # the client passes on errors of httpx and pydantic as they are
            if is_over_length(fault):
                raise TextTooLong from fault
            if status_of(fault) in (400, 500):
                raise TextRefused(f"Ollama: {getattr(fault, 'error', fault)}") from fault
            raise explain(fault, self._model, self._base_url) from fault
        vectors = answer.embeddings
        if len(vectors) != len(texts) or any(len(vector) != self._spec.dimensions for vector in vectors):
            lengths = sorted({len(vector) for vector in vectors})
            raise BackendUnavailable(
                f"the Ollama model {self._model!r} answered {len(vectors)} vectors of length {lengths} "
                f"for {len(texts)} texts; {self._spec.dimensions} was expected",
                "check rag.embedding.dimensions in companion.yaml",
            )
        return vectors

    def _embed(self, texts: Sequence[str]) -> "ollama.EmbedResponse":
        # Half of a surrogate pair cannot be sent as UTF-8.
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        options = {"num_ctx": self._spec.max_tokens}
        return self._client.embed(
            self._spec.model, sent, truncate=False, options=options, dimensions=self._asked_dimensions
        )


def _is_passing(fault: BaseException) -> bool:
    """Whether the same request may succeed in a moment."""
    dropped = isinstance(fault, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)
    return dropped or (isinstance(fault, Exception) and status_of(fault) == 503)
