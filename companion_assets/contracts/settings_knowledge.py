"""The sections `vault` and `rag`: which notes are read, how they are cut, embedded and searched."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from companion_assets.contracts.settings_fields import HttpAddress, NotNegative, Positive, Section, Unit, later

EMBEDDED_MODEL = "multilingual-e5-small"
SECTION_TAGS = ("#DayInShort", "#mentalhealth", "#physicalhealth", "#work", "#finance", "#Relations")


def _absolute(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a path cannot hold a NUL character")
    try:
        return path.expanduser().absolute()
    except RuntimeError as fault:  # "~name" of a person this machine does not know
        raise ValueError(f"{path} cannot be resolved: {fault}") from fault


Place = Annotated[Path, AfterValidator(_absolute)]


class IndexingSettings(Section):
    """Which files of the vault are read, and when."""

    auto_sync: bool = True
    auto_sync_interval_minutes: Positive = 1440
    watch_fs_events: bool = True
    file_patterns: tuple[str, ...] = ("*.md",)
    deny_dirs: tuple[str, ...] = (".obsidian", ".trash", "zzz-Archive", ".git", ".logseq")
    deny_patterns: tuple[str, ...] = ("*.tmp", "*.bak", "*conflict*", ".*")


class ChunkingRule(Section):
    """How notes under one glob are cut. Sizes in tokens of the embedder."""

    strategy: Literal["sliding_window", "section"] = "sliding_window"
    section_tags: tuple[str, ...] = SECTION_TAGS
    chunk_size: int = Field(500, ge=32, le=8192)
    chunk_overlap: NotNegative = 100

    @model_validator(mode="after")
    def _overlap_fits(self) -> "ChunkingRule":
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(f"chunk_overlap {self.chunk_overlap} must be smaller than chunk_size {self.chunk_size}")
        return self


def _default_rules() -> dict[str, ChunkingRule]:
    return {
        "default": ChunkingRule(strategy="sliding_window", chunk_size=500, chunk_overlap=100),
        "Journal/**": ChunkingRule(strategy="section", chunk_size=300, chunk_overlap=50),
        "zzz-Archive/**": ChunkingRule(strategy="sliding_window", chunk_size=800, chunk_overlap=150),
    }


class VaultSettings(Section):
    """The folder of notes. It is only ever read."""

    path: Place | None = None
    indexing: IndexingSettings = IndexingSettings()
    chunking_rules: dict[str, ChunkingRule] = Field(default_factory=_default_rules)

    @field_validator("chunking_rules")
    @classmethod
    def _has_default(cls, rules: dict[str, ChunkingRule]) -> dict[str, ChunkingRule]:
        return rules if "default" in rules else {"default": _default_rules()["default"], **rules}


class EmbeddingSettings(Section):
    """Which model turns text into vectors.

    `dimensions` is checked against what the model reports; null takes the model's own.
    """

    provider: Literal["embedded", "ollama", "llama_cpp"] = "embedded"
    model: str = EMBEDDED_MODEL
    base_url: HttpAddress = "http://localhost:11434"
    dimensions: Positive | None = None
    batch_size: Positive = 32

    @model_validator(mode="before")
    @classmethod
    def _model_of_provider(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and raw.get("provider") == "ollama" and not raw.get("model"):
            return {**raw, "model": "mxbai-embed-large"}
        return raw

    @model_validator(mode="after")
    def _embedded_is_one_model(self) -> "EmbeddingSettings":
        if self.provider == "embedded" and self.model != EMBEDDED_MODEL:
            raise ValueError(
                f"provider 'embedded' has one model, {EMBEDDED_MODEL}; for {self.model!r} set provider to 'ollama' or "
                "'llama_cpp'"
            )
        return self


class VectorStoreSettings(Section):
    """Where the index lies. Null is the data root."""

    type: Literal["lancedb"] = "lancedb"
    path: str | None = later(None, "scale")


class HybridSettings(Section):
    """Shares of the two halves of the search; `auto` is what served best (docs/retrieval_experiments.md)."""

    enabled: bool = True
    keyword_weight: Unit | Literal["auto"] = "auto"
    semantic_weight: Unit | Literal["auto"] = "auto"

    @model_validator(mode="after")
    def _some_weight(self) -> "HybridSettings":
        words, meaning = self.keyword_weight, self.semantic_weight
        if words == 0 and meaning == 0:
            raise ValueError("keyword_weight and semantic_weight cannot both be 0")
        if (words == "auto") != (meaning == "auto"):
            raise ValueError("keyword_weight and semantic_weight are both auto, or both numbers")
        return self


class FilterSettings(Section):
    """Which filters a search may use."""

    date_range_enabled: bool = True
    tag_filter_enabled: bool = True
    directory_filter_enabled: bool = True


class LinkSettings(Section):
    """Whether notes that are linked with the best hits are looked at too, and how far they gain by it."""

    enabled: bool = False
    notes: Positive = 5
    neighbours: Positive = 20
    weight: Unit = 0.1


class SearchSettings(Section):
    """How many hits, and how good they must be (0–1 on the calibrated scale)."""

    default_top_k: Positive = 8
    max_top_k: Positive = 20
    similarity_threshold: Unit = 0.75
    hybrid_search: HybridSettings = HybridSettings()
    link_expansion: LinkSettings = LinkSettings()
    reranker: Literal["none", "generator"] = "none"
    filters: FilterSettings = FilterSettings()

    @model_validator(mode="after")
    def _k_in_range(self) -> "SearchSettings":
        if self.default_top_k > self.max_top_k:
            raise ValueError(f"default_top_k ({self.default_top_k}) is greater than max_top_k ({self.max_top_k})")
        return self


class FloorSettings(Section):
    """What the figures of an evaluation must reach; 0 demands nothing."""

    mrr: Unit = 0.0
    hit_at_1: Unit = 0.0
    recall_at_5: Unit = 0.0
    recall_at_8: Unit = 0.8
    recall_at_10: Unit = 0.0
    full_at_10: Unit = 0.0
    marked: Unit = 0.0


class EvaluationSettings(Section):
    """Questions whose evidence is known, for Dagster's check of the index."""

    questions: Place | None = None
    floors: FloorSettings = FloorSettings()


class RagSettings(Section):
    """Embedding, index, search, and how well they work."""

    embedding: EmbeddingSettings = EmbeddingSettings()
    vector_store: VectorStoreSettings = VectorStoreSettings()
    search: SearchSettings = SearchSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
