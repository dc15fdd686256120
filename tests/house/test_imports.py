"""The contracts of pyproject.toml can say no: each deliberate violation breaks the one meant for it."""

import ast
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


PRIVATE_OF_DAGSTER = "companion_assets/daemon/dagster_internals.py"


def private_imports(folder: Path) -> list[str]:
    """`file: name` of every import of a name that Dagster does not promise to keep."""
    found = []
    for path in sorted(folder.glob("companion_*/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name}" for name in names]
            found += [f"{path.relative_to(folder)}: {name}" for name in names if is_private(name)]
    return found


def is_private(name: str) -> bool:
    package, *rest = name.split(".")
    inner = package in ("dagster_graphql", "dagster_shared", "dagster_webserver")
    return inner or (package == "dagster" and any(part.startswith("_") for part in rest))


def test_one_module_knows_the_private_names_of_dagster(copy: Path) -> None:
    assert {line.partition(":")[0] for line in private_imports(copy)} == {PRIVATE_OF_DAGSTER}


@pytest.mark.parametrize(
    "line", ["import dagster._core.events", "from dagster import _check", "from dagster_graphql import client"]
)
def test_another_one_is_caught(copy: Path, line: str) -> None:
    (copy / "companion_assets/defs/hidden.py").write_text(f"def hidden() -> None:\n    {line}\n")
    assert any(found.startswith("companion_assets/defs/hidden.py:") for found in private_imports(copy))
