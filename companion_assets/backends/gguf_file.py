"""What can be said about a GGUF file before an engine loads it: is it one, which one, does it fit."""

import hashlib
from pathlib import Path

import psutil

from companion_assets.contracts.errors import BackendUnavailable

_MAGIC = b"GGUF"
_SAMPLES = 64
_SAMPLE_BYTES = 4096
# Source: KV cache at f16 over file size of Q4_K_M files: 12 kB a token for 491 MB, 28 kB for 1.1 GB (measured),
# 128 kB for 4.9 GB (from the shapes of an 8B model).
_FILE_BYTES_PER_CACHE_BYTE = 40_000
# Compute buffers, the tokenizer and Python; 0.3 GB was measured for the 1.5B model.
_OVERHEAD_BYTES = 400_000_000


def check_gguf(path: Path) -> None:
    """Make sure that `path` is a readable GGUF file.

    Raises:
        BackendUnavailable: It is missing, not a file, unreadable, or something else than GGUF.
    """
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError:
        raise BackendUnavailable(f"the model file {path} does not exist", hint=_OTHER_FILE) from None
    except IsADirectoryError:
        raise BackendUnavailable(f"the model path {path} is a folder", hint=_OTHER_FILE) from None
    except OSError as fault:
        raise BackendUnavailable(f"the model file {path} cannot be read: {fault.strerror}", hint=_OTHER_FILE) from fault
    if head[:4] != _MAGIC:
        kind = "is empty" if not head else "is not a GGUF model"
        raise BackendUnavailable(f"the model file {path} {kind}", hint=_OTHER_FILE)
    if len(head) < 8 or not 2 <= int.from_bytes(head[4:8], "little") <= 3:
        raise BackendUnavailable(f"the model file {path} has a GGUF version that is not supported", hint=_OTHER_FILE)


_OTHER_FILE = "point model.inference.model_path at a .gguf file of a chat model"


def memory_needed(path: Path, context_length: int) -> int:
    """Bytes of memory that running the model takes, estimated from its size (see the constants above)."""
    size = path.stat().st_size
    return size + context_length * (size // _FILE_BYTES_PER_CACHE_BYTE) + _OVERHEAD_BYTES


def check_memory(path: Path, context_length: int) -> None:
    """Refuse a model that would push the machine into swapping or the out-of-memory killer.

    Raises:
        BackendUnavailable: The estimate is above the memory available now.
    """
    needed = memory_needed(path, context_length)
    available = psutil.virtual_memory().available
    if needed > available:
        raise BackendUnavailable(
            f"the model {path.name} needs about {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are free",
            hint="choose a smaller model, lower model.inference.context_length, or close other programs",
        )


def model_fingerprint(path: Path) -> str:
    """Identity of the weights: a hash of the size, the header and samples spread over the file.

    Not a checksum against tampering (that is `weights`' work at installation): it tells one model from another
    in milliseconds, where hashing a gigabyte takes seconds at every start.
    """
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    with path.open("rb") as file:
        digest.update(file.read(_SAMPLES * _SAMPLE_BYTES))
        for sample in range(_SAMPLES):
            file.seek(size * sample // _SAMPLES)
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()
