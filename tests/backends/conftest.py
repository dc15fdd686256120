"""What the tests of the engines share. Model tests run the small embedded answerer in real processes."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion_assets.backends.llama_cpp_generator import LlamaCppGenerator
from companion_assets.backends.weights import ensure_answerer
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.paths import model_cache_dir

TEST_MODEL_VARIABLE = "COMPANION_TEST_GGUF"


@pytest.fixture(scope="session")
def gguf() -> Path:
    """The 0.5B chat model: the file named by COMPANION_TEST_GGUF, or the one in the model cache."""
    if named := os.environ.get(TEST_MODEL_VARIABLE):
        return Path(named)
    try:
        return ensure_answerer("qwen2.5-coder-0.5b", model_cache_dir())
    except BackendUnavailable as fault:
        pytest.skip(f"no model for the tests: {fault.message}")


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def shared_generator(gguf: Path, models_dir: Path) -> Iterator[LlamaCppGenerator]:
    """One loaded model for the tests that do not care about its state before them."""
    pytest.importorskip("llama_cpp")
    generator = LlamaCppGenerator(gguf, models_dir=models_dir, context_length=2048)
    yield generator
    generator.close()


@pytest.fixture
def generator(shared_generator: LlamaCppGenerator) -> LlamaCppGenerator:
    """The shared model, given from test to test so that each may end its process."""
    return shared_generator
