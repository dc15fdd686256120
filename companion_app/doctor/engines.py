"""Checks of engines: what embeds, what runs a model, which model answers. Local engines are looked for, not opened."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from companion_app.doctor.report import Check, State
from companion_assets.backends.factory import open_embedder
from companion_assets.backends.gguf_file import check_gguf, check_memory
from companion_assets.backends.ollama_client import look_up, open_client
from companion_assets.backends.weights import ANSWERERS, E5_SMALL, answerer_available, find_embedder_weights
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.paths import DataPaths, model_cache_dir
from companion_assets.contracts.settings import EmbeddingSettings, InferenceSettings

SETUP = "make setup (in Companion's folder)"
_SERVER_SECONDS = 5.0
RUNTIMES = {"llama.cpp": "llama_cpp", "xllamacpp": "xllamacpp"}


def check_embedder(settings: EmbeddingSettings, paths: DataPaths) -> Check:
    """The engine and the weights that turn notes into vectors.

    Raises:
        BackendUnavailable: A configured server, model or file is missing; its hint is the fix.
    """
    if settings.provider == "ollama":
        open_embedder(settings).close()
        return Check("embedder", "ok", f"{settings.model} at {settings.base_url}")
    if settings.provider == "llama_cpp":
        if not find_spec("llama_cpp"):
            return Check("embedder", "fail", "the package llama-cpp-python is not installed", SETUP)
        check_gguf(Path(settings.model).expanduser())
        return Check("embedder", "ok", f"{settings.model} (llama.cpp)")
    if absent := _absent(["onnxruntime", "onnx", "tokenizers"]):
        return Check("embedder", "fail", f"packages are not installed: {', '.join(absent)}", SETUP)
    joined = model_cache_dir() / E5_SMALL.file_name
    weights = joined if joined.exists() else find_embedder_weights()
    return Check("embedder", "ok", f"{settings.model}, weights in {weights}")


def check_runtime(settings: InferenceSettings) -> Check:
    """The package that runs GGUF models; found without loading it."""
    if settings.backend in ("ollama", "none"):
        return Check("runtime", "ok", f"none is needed for backend {settings.backend}")
    wanted = {settings.backend: RUNTIMES[settings.backend]} if settings.backend in RUNTIMES else RUNTIMES
    found = [name for name, module in wanted.items() if find_spec(module)]
    if found:
        return Check("runtime", "ok", found[0])
    fix = f"make setup RUNTIME={'xllamacpp' if settings.backend == 'xllamacpp' else 'llama'} (in Companion's folder)"
    if settings.backend == "auto":
        return Check("runtime", "warn", "no runtime for models: answers are quoted passages", fix)
    return Check("runtime", "fail", f"{settings.backend} is not installed", fix)


def check_answerer(settings: InferenceSettings, paths: DataPaths) -> Check:
    """The model that writes replies. Without one, answers are quoted passages.

    Raises:
        BackendUnavailable: A configured server, model or file is missing; its hint is the fix.
    """
    if settings.backend == "none":
        return Check("answerer", "ok", "none, as set: answers are quoted passages")
    if settings.backend == "ollama":
        return _check_ollama_model(settings.model or "", settings.base_url)
    if settings.model_path:
        return _check_gguf_model(Path(settings.model_path).expanduser(), settings.context_length)
    wanted = [settings.model] if settings.model in ANSWERERS else list(ANSWERERS)
    ready = next((name for name in wanted if answerer_available(name, model_cache_dir())), None)
    if ready is None:
        state: State = "warn" if settings.backend == "auto" else "fail"
        detail = "no embedded model is installed: answers are quoted passages"
        return Check("answerer", state, detail, f"{SETUP}, or set model.inference.model_path to a GGUF file")
    file = model_cache_dir() / ANSWERERS[ready].file_name
    return _check_gguf_model(file, settings.context_length) if file.exists() else Check("answerer", "ok", ready)


def _check_ollama_model(model: str, base_url: str) -> Check:
    client = open_client(base_url, _SERVER_SECONDS)
    card = look_up(client, model, base_url)
    if card.capabilities and "completion" not in card.capabilities:
        return Check("answerer", "fail", f"the Ollama model {model!r} does not chat", "set model.inference.model")
    return Check("answerer", "ok", f"{card.name} at {base_url}")


def _check_gguf_model(file: Path, context_length: int) -> Check:
    check_gguf(file)
    try:
        check_memory(file, context_length)
    except BackendUnavailable as fault:
        return Check("answerer", "warn", fault.message, fault.hint)
    return Check("answerer", "ok", f"{file.name}, {file.stat().st_size / 1e9:.1f} GB")


def _absent(modules: Sequence[str]) -> list[str]:
    return [module for module in modules if not find_spec(module)]
