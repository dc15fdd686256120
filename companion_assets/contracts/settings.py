"""Every setting, its default and its unit: the schema of `companion.yaml` (and of the seed's config.json).

Reading a file is the business of `stores.settings_file`; here are only the words. Keys whose feature has not
landed yet carry `later=...` and are listed by `companion doctor` as not active.
"""

import ipaddress
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from companion_assets.contracts.settings_fields import NotNegative, Positive, Section, Unit, later
from companion_assets.contracts.settings_knowledge import (
    SECTION_TAGS,
    ChunkingRule,
    EmbeddingSettings,
    FilterSettings,
    HybridSettings,
    IndexingSettings,
    LinkSettings,
    RagSettings,
    SearchSettings,
    VaultSettings,
    VectorStoreSettings,
)
from companion_assets.contracts.settings_model import (
    FineTuningSettings,
    InferenceSettings,
    ModelSettings,
    RetrainSettings,
)

__all__ = [
    "SECTION_TAGS",
    "ApiSettings",
    "AuthSettings",
    "ChatSettings",
    "ChunkingRule",
    "CliSettings",
    "CompanionSettings",
    "EmbeddingSettings",
    "FilterSettings",
    "FineTuningSettings",
    "HybridSettings",
    "IndexingSettings",
    "InferenceSettings",
    "LearningSettings",
    "LinkSettings",
    "LoggingSettings",
    "MemorySettings",
    "ModelSettings",
    "PersonaSettings",
    "RagSettings",
    "RetrainSettings",
    "RoutingSettings",
    "SearchSettings",
    "Section",
    "SecuritySettings",
    "Settings",
    "ShelfSettings",
    "UiSettings",
    "VaultSettings",
    "VectorStoreSettings",
    "WebFeatures",
    "WebSettings",
    "inactive_keys",
    "is_loopback",
    "leaf_fields",
]


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
    theme: Literal["obsidian"] = "obsidian"
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
        if not is_loopback(self.api.host):  # until api.auth does something, no other address is safe
            yield "api.host", f"{self.api.host} can be reached from outside, and access tokens are not there yet"


def leaf_fields(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, FieldInfo]:
    """Dotted key → field, for every key that holds a value (not a section), in schema order."""
    found: dict[str, FieldInfo] = {}
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            found.update(leaf_fields(info.annotation, f"{prefix}{name}."))
        else:
            found[prefix + name] = info
    return found


def inactive_keys() -> dict[str, str]:
    """Dotted key → the feature it waits for, for every key that is accepted but does nothing yet."""
    return {key: feature for key, info in leaf_fields().items() if (feature := _later_of(info))}


def _later_of(info: FieldInfo) -> str | None:
    extra = info.json_schema_extra
    return str(extra["later"]) if isinstance(extra, dict) and "later" in extra else None
