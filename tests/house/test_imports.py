"""The contracts of pyproject.toml can say no: each deliberate violation breaks the one meant for it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of both packages, Python files only."""
    for package in ("companion_assets", "companion_app"):
        for path in (ROOT / package).rglob("*.py"):
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def verdict(folder: Path) -> tuple[int, str]:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("companion_assets/contracts/paths.py", "import companion_assets.stores", "Every room of companion_assets"),
        ("companion_assets/stores/vectors.py", "import companion_assets.backends", "Every room of companion_assets"),
        ("companion_assets/stages/drift.py", "import companion_app.session", "The pipeline never imports the app"),
        ("companion_assets/stages/drift.py", "import dagster", "Dagster decides when"),
        ("companion_app/session.py", "import lancedb", "One shelf knows LanceDB"),
        ("companion_app/session.py", "import sqlmodel", "Only the shelves know SQL"),
        ("companion_app/session.py", "import ollama", "Only the backends know engines"),
        ("companion_app/session.py", "import torch", "Only training knows the torch family"),
        ("companion_app/session.py", "import gradio", "Only the page knows Gradio"),
        ("companion_app/session.py", "import ruamel.yaml", "YAML is read in two places"),
        ("companion_app/session.py", "import watchdog", "Only the daemon watches files"),
        ("companion_app/helpers.py", "", "Every room of companion_app"),
    ],
)  # fmt: skip
def test_a_violation_is_caught(copy: Path, module: str, line: str, contract: str) -> None:
    path = copy / module
    hidden = f"\n\ndef _hidden() -> None:\n    {line}\n" if line else ""
    path.write_text((path.read_text() if path.exists() else "") + hidden)
    status, said = verdict(copy)
    assert status == 1, said
    assert contract in said[said.index("Broken contracts") :] if "Broken contracts" in said else contract in said
