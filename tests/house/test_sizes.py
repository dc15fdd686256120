"""A module fits on a few screens, a function on one. Longer ones mean that a room is missing."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for package in ("companion_assets", "companion_app") for path in (ROOT / package).rglob("*.py"))
LINES_OF_A_MODULE = 300
LINES_OF_A_FUNCTION = 60
NAMES_WITHOUT_MEANING = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}


def test_the_modules_are_found() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_small_and_well_named(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert path.stem not in NAMES_WITHOUT_MEANING
    assert len(text.splitlines()) <= LINES_OF_A_MODULE
    long = [
        f"{node.name} has {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno
        and node.end_lineno - node.lineno >= LINES_OF_A_FUNCTION
    ]
    assert long == []
