import importlib.util
from pathlib import Path

import psutil
import pytest

from companion_assets.backends.gguf_file import check_gguf, check_memory, memory_needed, model_fingerprint
from companion_assets.backends.llama_cpp_generator import LlamaCppGenerator
from companion_assets.contracts.errors import BackendUnavailable

HEAD = b"GGUF" + (3).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"", "is empty"), (b"PK\x03\x04 a zip", "not a GGUF"), (b"GGUF", "version"), (b"GGUF\x09\0\0\0", "version")],
)
def test_what_is_no_model_is_refused_with_a_reason(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(BackendUnavailable, match=complaint) as caught:
        check_gguf(file)
    assert "model_path" in caught.value.hint


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="does not exist"):
        check_gguf(tmp_path / "none.gguf")
    with pytest.raises(BackendUnavailable, match="folder"):
        check_gguf(tmp_path)


def test_a_gguf_file_passes(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(HEAD)
    check_gguf(file)


def test_a_model_larger_than_the_free_memory_is_refused_before_loading(tmp_path: Path) -> None:
    file = tmp_path / "huge.gguf"
    with file.open("wb") as content:
        content.write(HEAD)
        content.truncate(psutil.virtual_memory().total + 1)
    with pytest.raises(BackendUnavailable, match="GB of memory") as caught:
        check_memory(file, 4096)
    assert "smaller model" in caught.value.hint


def test_the_estimate_grows_with_the_context(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    with file.open("wb") as content:
        content.truncate(1_117_320_768)
    # Measured: 2.0 GB resident for the 1.5B model at 4096 tokens, of which 0.3 GB are Python and libraries.
    assert 1.5e9 < memory_needed(file, 4096) < 2.1e9
    assert memory_needed(file, 32768) - memory_needed(file, 4096) == 28672 * (1_117_320_768 // 40_000)


def test_the_fingerprint_follows_the_weights_not_the_name(tmp_path: Path) -> None:
    one, copy, other = (tmp_path / name for name in ("a.gguf", "b.gguf", "c.gguf"))
    weights = bytearray(HEAD + bytes(range(256)) * 8192)
    one.write_bytes(weights)
    copy.write_bytes(weights)
    weights[len(weights) // 2 + 5] ^= 1
    other.write_bytes(weights)
    assert model_fingerprint(one) == model_fingerprint(copy)
    assert model_fingerprint(one) != model_fingerprint(other)


@pytest.mark.parametrize(
    ("engine", "extra"), [("xllamacpp", "companion[xllamacpp]"), ("llama_cpp", "companion[llama]")]
)
def test_a_runtime_that_is_not_installed_is_named_with_the_command(tmp_path: Path, engine: str, extra: str) -> None:
    if importlib.util.find_spec(engine):
        pytest.skip(f"{engine} is installed")
    file = tmp_path / "model.gguf"
    file.write_bytes(HEAD)
    with pytest.raises(BackendUnavailable, match="not installed") as caught:
        LlamaCppGenerator(file, models_dir=tmp_path, engine=engine)  # type: ignore[arg-type]
    assert extra in caught.value.hint
