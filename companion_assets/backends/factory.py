"""Opens the engines the settings name. The only place that knows which engine is which."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

from companion_assets.backends.llama_options import EngineName
from companion_assets.backends.ollama_client import with_tag
from companion_assets.backends.protocols import Embedder, Generator
from companion_assets.backends.weights import ANSWERERS, answerer_available, ensure_answerer, find_embedder_weights
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.manifests import EmbedderSpec
from companion_assets.contracts.paths import DataPaths, model_cache_dir
from companion_assets.contracts.settings_knowledge import EmbeddingSettings
from companion_assets.contracts.settings_model import InferenceSettings

_ENGINES: tuple[EngineName, ...] = ("llama_cpp", "xllamacpp")  # by preference


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder of the settings.

    Raises:
        BackendUnavailable: Its package, weights, server or model are missing, or it has other dimensions than set.
    """
    embedder = _embedder(settings)
    found = embedder.spec.dimensions
    if settings.dimensions is not None and settings.dimensions != found:
        embedder.close()
        raise BackendUnavailable(
            f"rag.embedding.dimensions is {settings.dimensions}, but {settings.model} makes vectors of {found}",
            f"set rag.embedding.dimensions to {found}, or remove it",
        )
    return embedder


def reopen_embedder(spec: EmbedderSpec, settings: EmbeddingSettings) -> Embedder:
    """The embedder that made an index, whichever one the settings name by now.

    Args:
        spec: From the manifest of the index.
        settings: In force: where a server listens, and how much it is sent at once.

    Raises:
        BackendUnavailable: It cannot be opened any more, or another model answers to its name.
    """
    wanted = {"provider": spec.provider, "model": _model_of(spec, settings), "dimensions": spec.dimensions}
    embedder = open_embedder(settings.model_copy(update=wanted))
    if embedder.spec.embedder_id == spec.embedder_id:
        return embedder
    embedder.close()
    raise BackendUnavailable(
        f"the model {spec.model} is not the one any more that made the index", "companion sync makes the index anew"
    )


def names_embedder(settings: EmbeddingSettings, spec: EmbedderSpec) -> bool:
    """Whether the settings name this embedder. Names alone are compared; nothing is opened."""
    if settings.provider != spec.provider or settings.dimensions not in (None, spec.dimensions):
        return False
    match settings.provider:
        case "ollama":
            return with_tag(settings.model) == spec.model
        case "llama_cpp":
            return Path(settings.model).expanduser().absolute() == Path(spec.location)
        case "embedded":
            return settings.model == spec.model


def _model_of(spec: EmbedderSpec, settings: EmbeddingSettings) -> str:
    """What the settings would have to name. A GGUF file that was moved may be the one they name now."""
    if spec.provider != "llama_cpp":
        return spec.model
    moved = not Path(spec.location).is_file() and settings.provider == spec.provider
    return settings.model if moved else spec.location


def _embedder(settings: EmbeddingSettings) -> Embedder:
    match settings.provider:
        case "embedded":
            from companion_assets.backends.onnx_embedder import OnnxEmbedder

            return OnnxEmbedder(find_embedder_weights(model_cache_dir()))
        case "ollama":
            from companion_assets.backends.ollama_embedder import OllamaEmbedder

            return OllamaEmbedder(
                settings.base_url, settings.model, dimensions=settings.dimensions, batch_size=settings.batch_size
            )
        case "llama_cpp":
            from companion_assets.backends.llama_cpp_embedder import LlamaCppEmbedder

            return LlamaCppEmbedder(Path(settings.model).expanduser(), batch_size=settings.batch_size)


def open_generator(
    settings: InferenceSettings, paths: DataPaths, on_load: Callable[[float], None] | None = None
) -> Generator | None:
    """The answering model of the settings; None where there is none and none was asked for by name.

    Args:
        settings: `model.inference`.
        paths: The data root, for logs and caches.
        on_load: Told the loaded fraction.

    Raises:
        BackendUnavailable: A model was configured and cannot be used.
    """
    if settings.backend == "none":
        return None
    if settings.backend == "ollama":
        from companion_assets.backends.ollama_generator import OllamaGenerator

        return OllamaGenerator(
            settings.model or "",
            base_url=settings.base_url,
            context_length=settings.context_length,
            models_dir=paths.models_dir,
        )
    runtime = _runtime(settings)
    model = _model_file(settings)
    if runtime is None or model is None:
        return None
    from companion_assets.backends.llama_cpp_generator import LlamaCppGenerator

    return LlamaCppGenerator(
        model,
        models_dir=paths.models_dir,
        context_length=settings.context_length,
        threads=settings.threads or None,
        gpu_layers=settings.gpu_layers,
        batch=settings.batch_size,
        log_file=paths.logs_dir / "model.log",
        on_load=on_load,
        engine=runtime,
    )


def _runtime(settings: InferenceSettings) -> EngineName | None:
    """The runtime by name; under `auto` the first that is installed."""
    if settings.backend in ("llama.cpp", "xllamacpp"):
        return "llama_cpp" if settings.backend == "llama.cpp" else "xllamacpp"
    return next((name for name in _ENGINES if importlib.util.find_spec(name)), None)


def _model_file(settings: InferenceSettings) -> Path | None:
    """The configured GGUF file, else the best embedded answerer that is installed."""
    if settings.model_path:
        return Path(settings.model_path).expanduser()
    cache = model_cache_dir()
    wanted = [settings.model] if settings.model in ANSWERERS else list(ANSWERERS)
    for name in wanted:
        if answerer_available(name, cache):
            return ensure_answerer(name, cache)
    if settings.backend == "auto":
        return None
    raise BackendUnavailable(
        f"model.inference.backend is {settings.backend}, but there is no model to run",
        "set model.inference.model_path to a GGUF file, or run: make setup",
    )
