"""Every setting, its default and its unit: the schema of `companion.yaml` (and of the seed's config.json).

Reading a file is the business of `stores.settings_file`; here are only the words. Keys whose feature has not
landed yet carry `later=...` and are listed by `companion doctor` as not active.
"""

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.fields import FieldInfo

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]

SECTION_TAGS = ("#DayInShort", "#mentalhealth", "#physicalhealth", "#work", "#finance", "#Relations")


def later(default: Any, feature: str, **limits: Any) -> Any:
    """A field that is accepted now and acts when `feature` lands."""
    return Field(default, json_schema_extra={"later": feature}, **limits)


class Section(BaseModel):
    """A group of keys. Unknown keys are faults, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class PersonaSettings(Section):
    """Who Companion is towards its person."""

    role: str = "companion"
    tone: str = "reflective"
    style: str = "questioning"
    boundaries: tuple[str, ...] = ("does_not_impersonate_user", "no_future_predictions", "no_medical_or_legal_advice")


class MemorySettings(Section):
    """What is carried from turn to turn."""

    session_turns: NotNegative = 20
    persistent_store: str | None = later(None, "memory")
    summarize_after: Positive = later(10, "memory")


class ChatSettings(Section):
    """How replies are written."""

    streaming: bool = True
    max_response_tokens: Positive = 2048
    default_temperature: float = Field(0.7, ge=0.0, le=2.0)
    allow_temperature_override: bool = True
    target_first_token_seconds: float = Field(6.0, gt=0.0, le=600.0)


class CompanionSettings(Section):
    """Name, persona, memory and chat."""

    name: str = Field("Companion", min_length=1, max_length=60)
    persona: PersonaSettings = PersonaSettings()
    memory: MemorySettings = MemorySettings()
    chat: ChatSettings = ChatSettings()


class IndexingSettings(Section):
    """Which files of the vault are read, and when."""

    auto_sync: bool = True
    auto_sync_interval_minutes: Positive = 1440
    watch_fs_events: bool = later(True, "file watcher")
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

    path: Path | None = None
    indexing: IndexingSettings = IndexingSettings()
    chunking_rules: dict[str, ChunkingRule] = Field(default_factory=_default_rules)

    @field_validator("path")
    @classmethod
    def _expanded(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else None

    @field_validator("chunking_rules")
    @classmethod
    def _has_default(cls, rules: dict[str, ChunkingRule]) -> dict[str, ChunkingRule]:
        return rules if "default" in rules else {"default": _default_rules()["default"], **rules}


class EmbeddingSettings(Section):
    """Which model turns text into vectors.

    `dimensions` is checked against what the model reports; null takes the model's own.
    """

    provider: Literal["embedded", "ollama", "llama_cpp"] = "embedded"
    model: str = "multilingual-e5-small"
    base_url: str = "http://localhost:11434"
    dimensions: Positive | None = None
    batch_size: Positive = 32

    @model_validator(mode="before")
    @classmethod
    def _model_of_provider(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and raw.get("provider") == "ollama" and not raw.get("model"):
            return {**raw, "model": "mxbai-embed-large"}
        return raw


class VectorStoreSettings(Section):
    """Where the index lies. Null is the data root."""

    type: Literal["lancedb"] = "lancedb"
    path: str | None = None


class HybridSettings(Section):
    """Shares of the two halves of the search."""

    enabled: bool = True
    keyword_weight: Unit = 0.3
    semantic_weight: Unit = 0.7

    @model_validator(mode="after")
    def _some_weight(self) -> "HybridSettings":
        if self.keyword_weight + self.semantic_weight == 0:
            raise ValueError("keyword_weight and semantic_weight cannot both be 0")
        return self


class FilterSettings(Section):
    """Which filters a search may use."""

    date_range_enabled: bool = True
    tag_filter_enabled: bool = True
    directory_filter_enabled: bool = True


class SearchSettings(Section):
    """How many hits, and how good they must be (0–1 on the calibrated scale)."""

    default_top_k: Positive = 8
    max_top_k: Positive = 20
    similarity_threshold: Unit = 0.75
    hybrid_search: HybridSettings = HybridSettings()
    filters: FilterSettings = FilterSettings()

    @model_validator(mode="after")
    def _k_in_range(self) -> "SearchSettings":
        if self.default_top_k > self.max_top_k:
            raise ValueError(f"default_top_k ({self.default_top_k}) is greater than max_top_k ({self.max_top_k})")
        return self


class RagSettings(Section):
    """Embedding, index and search."""

    embedding: EmbeddingSettings = EmbeddingSettings()
    vector_store: VectorStoreSettings = VectorStoreSettings()
    search: SearchSettings = SearchSettings()


class InferenceSettings(Section):
    """Which model writes replies.

    `backend` `auto` takes llama.cpp, else xllamacpp, else quoted passages. `model_path` null is the embedded
    answerer that was installed; `model` is the name at an Ollama server.
    """

    backend: Literal["auto", "llama.cpp", "xllamacpp", "ollama", "none"] = "auto"
    model_path: str | None = None
    model: str | None = None
    base_url: str = "http://localhost:11434"
    context_length: int = Field(4096, ge=512)
    gpu_layers: int = Field(0, ge=-1)
    batch_size: Positive = 512
    threads: NotNegative = 0  # 0 is all cores of this machine

    @model_validator(mode="after")
    def _ollama_has_a_model(self) -> "InferenceSettings":
        if self.backend == "ollama" and not self.model:
            raise ValueError("backend 'ollama' needs `model`, the name of a chat model at the server")
        return self


class FineTuningSettings(Section):
    """The model forge."""

    base_model: str = later("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "model forge")
    output_dir: str | None = later(None, "model forge")
    lora_rank: Positive = later(16, "model forge")
    lora_alpha: Positive = later(32, "model forge")
    learning_rate: float = later(0.0002, "model forge", gt=0)
    batch_size: Positive = later(4, "model forge")
    gradient_accumulation_steps: Positive = later(4, "model forge")
    num_epochs: Positive = later(3, "model forge")
    warmup_steps: NotNegative = later(100, "model forge")
    save_steps: Positive = later(500, "model forge")
    eval_steps: Positive = later(250, "model forge")
    training_data_path: str | None = later(None, "model forge")
    validation_split: float = later(0.1, "model forge", gt=0.0, lt=1.0)


class RetrainSettings(Section):
    """When to think about training again."""

    auto_reminder: bool = later(True, "model forge")
    default_interval_days: Positive = later(90, "model forge")
    reminder_channels: tuple[Literal["chat_stream", "log"], ...] = later(("chat_stream", "log"), "model forge")


class ModelSettings(Section):
    """Inference and training."""

    inference: InferenceSettings = InferenceSettings()
    fine_tuning: FineTuningSettings = FineTuningSettings()
    retrain_schedule: RetrainSettings = RetrainSettings()


class AuthSettings(Section):
    """Access to the API."""

    enabled: bool = later(False, "api tokens")


class ApiSettings(Section):
    """The HTTP API and the page share one address."""

    host: str = "127.0.0.1"
    port: int = Field(7373, ge=0, le=65535)
    cors_origins: tuple[str, ...] = ("http://localhost:5173",)
    auth: AuthSettings = AuthSettings()


class WebFeatures(Section):
    """Parts of the page."""

    streaming: bool = True
    citations: bool = True
    source_preview: bool = True


class WebSettings(Section):
    """The page."""

    enabled: bool = True
    theme: str = "obsidian"
    features: WebFeatures = WebFeatures()


class CliSettings(Section):
    """The terminal."""

    enabled: bool = True
    rich_output: bool = True


class UiSettings(Section):
    """Page and terminal."""

    web: WebSettings = WebSettings()
    cli: CliSettings = CliSettings()


class LoggingSettings(Section):
    """Log files. A null `file` is `logs/companion.log` under the data root."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    file: str | None = None
    max_size_mb: Positive = 100
    backup_count: NotNegative = 5


class SecuritySettings(Section):
    """What may leave the machine (nothing) and what is sensitive."""

    local_only: bool = True
    vault_path_traversal_check: bool = True
    sensitive_content_detection: bool = True
    sensitive_patterns: tuple[str, ...] = ("#mentalhealth", "#physicalhealth", "#finance", "#Relations")
    require_confirmation_for_external_apis: bool = later(True, "external models")


class ShelfSettings(Section):
    """The knowledge shelf."""

    top_k: Positive = later(5, "knowledge shelf")
    snippet_tokens: Positive = later(200, "knowledge shelf")
    suggest: bool = later(True, "knowledge shelf")
    allow_web: bool = later(True, "knowledge shelf")


class LearningSettings(Section):
    """Learning from outcomes."""

    enabled: bool = later(True, "learning")
    max_rows: Positive = later(20_000, "learning")
    auto_tune: bool = later(False, "learning")
    tuner_min_samples: Positive = later(50, "learning")
    capture_examples: bool = later(False, "learning")
    examples_max_rows: Positive = later(5_000, "learning")
    collective_enabled: bool = later(False, "learning")
    collective_url: str | None = later(None, "learning")


class RoutingSettings(Section):
    """Which model tier answers which kind of question."""

    confidence_threshold: Unit = later(0.7, "routing")
    category_policies: dict[str, str] = later({}, "routing")


def is_loopback(host: str) -> bool:
    """True for `localhost` and loopback addresses; a name that would need a look-up is not."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Settings(Section):
    """All settings. Library modules never see this whole; composition roots pass sections down."""

    companion: CompanionSettings = CompanionSettings()
    vault: VaultSettings = VaultSettings()
    rag: RagSettings = RagSettings()
    model: ModelSettings = ModelSettings()
    api: ApiSettings = ApiSettings()
    ui: UiSettings = UiSettings()
    logging: LoggingSettings = LoggingSettings()
    security: SecuritySettings = SecuritySettings()
    shelf: ShelfSettings = ShelfSettings()
    learning: LearningSettings = LearningSettings()
    routing: RoutingSettings = RoutingSettings()

    def impossible_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield (key, message) for settings that are fine alone and wrong together."""
        if self.security.local_only:
            for key, url in (
                ("rag.embedding.base_url", self.rag.embedding.base_url),
                ("model.inference.base_url", self.model.inference.base_url),
            ):
                if not is_loopback(urlsplit(url).hostname or ""):
                    yield key, f"{url} is not on this machine, but security.local_only is true"
        if not is_loopback(self.api.host) and not self.api.auth.enabled:
            yield "api.host", f"{self.api.host} can be reached from outside; that needs api.auth.enabled: true"


def inactive_keys(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, str]:
    """Dotted key → the feature it waits for, for every key that is accepted but does nothing yet."""
    found: dict[str, str] = {}
    for name, info in model.model_fields.items():
        key = f"{prefix}{name}"
        if feature := _later_of(info):
            found[key] = feature
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            found.update(inactive_keys(info.annotation, key + "."))
    return found


def _later_of(info: FieldInfo) -> str | None:
    extra = info.json_schema_extra
    return str(extra["later"]) if isinstance(extra, dict) and "later" in extra else None
