"""`companion --help` must answer at once: the command line loads what its command needs, when it needs it."""

import json
import subprocess
import sys

import pytest

HEAVY = (
    "dagster", "fastapi", "gradio", "lancedb", "llama_cpp", "matplotlib", "onnx", "onnxruntime", "pandas", "pyarrow",
    "sqlalchemy", "sqlmodel", "tokenizers", "torch", "transformers",
)  # fmt: skip


@pytest.mark.parametrize("module", ["companion_app.cli", "companion_app.doctor"])
def test_importing_the_app_loads_no_heavy_package(module: str) -> None:
    code = f"import sys, json, {module}; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == []


def test_the_packages_watched_here_are_really_installed_names() -> None:
    installed = [name for name in HEAVY if _is_installed(name)]
    assert {"dagster", "gradio", "lancedb", "sqlmodel", "pyarrow"} <= set(installed)


def _is_installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None
