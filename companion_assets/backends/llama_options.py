"""What the process that runs a GGUF model is told at its start."""

import os
from dataclasses import dataclass
from typing import Literal

import psutil

EngineName = Literal["llama_cpp", "xllamacpp"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """One model, opened in one way.

    Attributes:
        path: The GGUF file.
        identity: `gguf_file.model_fingerprint` of it.
        context_length: Tokens of prompt and reply together; cut to what the model was trained for.
        threads: Compute threads; more than there are free cores makes every token slower.
        gpu_layers: Layers on the graphics card, -1 for all. Ignored by builds without one.
        batch: Prompt tokens per step. 256 reads prompts as fast as 512 (within noise, 0.5B and 1.5B)
            and needs half the buffers.
        prefix_dir: Where evaluated prompt beginnings are kept, or None for nowhere.
        engine: Which runtime loads the file.
    """

    path: str
    identity: str
    context_length: int = 4096
    threads: int = 1
    gpu_layers: int = 0
    batch: int = 256
    prefix_dir: str | None = None
    engine: EngineName = "llama_cpp"


def default_threads() -> int:
    """Physical cores that this process may use."""
    physical = psutil.cpu_count(logical=False) or 1
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        allowed = physical
    return max(1, min(physical, allowed))
