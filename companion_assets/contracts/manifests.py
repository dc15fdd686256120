"""Identity cards of derived artifacts: which embedder made an index, which model answers."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """Everything that identifies an embedding space.

    Attributes:
        provider: `embedded`, `ollama` or `llama_cpp`.
        model: Name as data (`mxbai-embed-large:latest`); never used as a table name.
        digest: Hash of the weights (or the digest the server reports).
        dimensions: Length of a vector.
        max_tokens: The model's window, special tokens included.
        location: The file the model was opened from, where it has no other name to be found by; no part of what it is.
    """

    provider: str
    model: str
    digest: str
    dimensions: int
    max_tokens: int
    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    location: str = field(default="", compare=False)

    @property
    def embedder_id(self) -> str:
        """Short stable hash of all fields but `location`; safe as a table name."""
        identity = {name: value for name, value in asdict(self).items() if name != "location"}
        blob = json.dumps(identity, sort_keys=True).encode()
        return "e" + hashlib.sha256(blob).hexdigest()[:15]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Background distribution of cosines in one index, for a scale that means the same for every model.

    `stores.calibration.calibrated` maps a cosine to 0–1 with it.

    Attributes:
        p50: Median cosine between chunks and questions that have nothing to do with them.
        p999: 99.9th percentile of the same.
        pairs: How many pairs were drawn.
        chunks: How many chunks the index had then; it is drawn anew when their number has changed much.
        tongue: The language of most chunks, in English; "" if it is not known.
    """

    p50: float
    p999: float
    pairs: int
    chunks: int
    tongue: str = ""


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """What `index.lance` holds and who made it."""

    table: str
    embedder: EmbedderSpec
    calibration: Calibration | None
    chunks: int
    notes: int
    version: int
    published_at: str
    run_id: str = ""

    def to_json(self) -> str:
        """A stable JSON text."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> "IndexManifest":
        """Read what `to_json` wrote.

        Raises:
            ValueError: The text is not a manifest.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            embedder = EmbedderSpec(**raw.pop("embedder"))
            pairs = raw.pop("calibration")
            return IndexManifest(embedder=embedder, calibration=Calibration(**pairs) if pairs else None, **raw)
        except (KeyError, TypeError, json.JSONDecodeError) as fault:
            raise ValueError(f"not an index manifest: {fault}") from fault
