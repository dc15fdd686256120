"""The connection to an Ollama server, and its failures put in words a person can act on.

Server versions differ in status codes and wording, so failures are recognised by meaning.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from companion_assets.contracts.errors import BackendUnavailable

if TYPE_CHECKING:
    import ollama

CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What the server says about a model.

    Attributes:
        name: With its tag (`bge-m3:latest`).
        context_length, dimensions: None where the server does not tell.
        capabilities: `completion`, `embedding` …; empty on servers that do not tell.
    """

    name: str
    digest: str
    context_length: int | None
    dimensions: int | None
    capabilities: tuple[str, ...]


def open_client(base_url: str, timeout: float) -> "ollama.Client":
    """A client for exactly `base_url`: proxies of the environment are not used and redirects not followed.

    Args:
        base_url: `http://localhost:11434`, a port of its own or a path included.
        timeout: Seconds without a byte after which a request fails; the client's own default is to wait forever.

    Raises:
        BackendUnavailable: The package `ollama` is not installed, or `base_url` is no address.
    """
    try:
        import ollama
    except ImportError as fault:
        raise BackendUnavailable("the Python package ollama is not installed", "pip install ollama") from fault
    if not base_url.strip():  # the client would fall back to OLLAMA_HOST
        raise BackendUnavailable("the address of the Ollama server is empty", "set base_url in companion.yaml")
    limits = httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
    try:
        return ollama.Client(host=base_url, timeout=limits, trust_env=False, follow_redirects=False)
    except (ValueError, httpx.InvalidURL) as fault:
        raise BackendUnavailable(f"{base_url!r} is no address of a server: {fault}") from fault


def look_up(client: "ollama.Client", model: str, base_url: str) -> ModelCard:
    """Preflight: is the server there, and has it the model?

    Raises:
        BackendUnavailable: No; the message names the model and the hint the command that fetches it.
    """
    name = with_tag(model)
    try:
        rows = {row.model: row for row in client.list().models}
        shown = client.show(name) if name in rows else None
    except Exception as fault:  # the client passes on errors of httpx and pydantic as they are
        raise explain(fault, model, base_url) from fault
    if shown is None:
        raise missing_model(model, base_url)
    details: dict[str, Any] = dict(shown.modelinfo or {})
    return ModelCard(
        name=name,
        digest=rows[name].digest or "",
        context_length=_number(details, ".context_length"),
        dimensions=_number(details, ".embedding_length"),
        capabilities=tuple(shown.capabilities or ()),
    )


def with_tag(model: str) -> str:
    """The name as the server lists it: without a tag it means `:latest`. A port in a path is no tag."""
    return model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"


def missing_model(model: str, base_url: str) -> BackendUnavailable:
    """The error for a model that has not been pulled."""
    return BackendUnavailable(
        f"the Ollama server at {base_url} does not have the model {model!r}", f"ollama pull {model}"
    )


def explain(error: Exception, model: str, base_url: str) -> BackendUnavailable:
    """Turn whatever the client raised into one error with a remedy. Raise it `from` the original.

    Args:
        error: From a call, or from reading a stream.
        model: As configured.
        base_url: As configured.
    """
    status, text = status_of(error), str(getattr(error, "error", error))
    if status == 404 and "not found" in text and "page" not in text:
        return missing_model(model, base_url)
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError | ConnectionError):
        return BackendUnavailable(f"no Ollama server answers at {base_url}", "ollama serve")
    if isinstance(error, httpx.TimeoutException):
        hint = "the model may still be loading: try again, or choose a smaller model"
        return BackendUnavailable(f"the Ollama server at {base_url} took too long with {model!r}", hint)
    if isinstance(error, httpx.TransportError):
        hint = "look at its log (ollama serve); out of memory is the usual cause"
        return BackendUnavailable(f"the Ollama server at {base_url} broke the connection", hint)
    if status == 503:
        return BackendUnavailable(f"the Ollama server at {base_url} is busy", "try again in a moment")
    if "does not support" in text:
        return BackendUnavailable(f"Ollama: {text}", f"choose another model than {model!r} for this in companion.yaml")
    if status is not None:
        return BackendUnavailable(f"the Ollama server at {base_url} refused {model!r}: {text}")
    return BackendUnavailable(f"what answers at {base_url} does not speak as Ollama does ({type(error).__name__})")


def status_of(error: Exception) -> int | None:
    """HTTP status of a refusal, −1 for an error in mid-stream, None where the server did not refuse."""
    import ollama

    return error.status_code if isinstance(error, ollama.ResponseError) else None


def is_over_length(error: Exception) -> bool:
    """Whether the server refused a text because it is longer than the model's window."""
    text = str(getattr(error, "error", error)).lower()
    return status_of(error) in (400, 413, 500) and ("context length" in text or "input length" in text)


def _number(details: dict[str, Any], ending: str) -> int | None:
    values = [value for key, value in details.items() if key.endswith(ending)]
    return int(values[0]) if values else None
