"""What the documents promise is there: paths, make targets, commands, settings keys."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from companion_assets.contracts.settings import Settings
from companion_assets.stores.settings_file import load_settings

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TOP_LEVEL = {path.name for path in ROOT.iterdir()}


def words_in_code(document: Path) -> list[str]:
    """Everything in backticks, and every line of a code block."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [*inline, *(line for block in blocks for line in block.splitlines())]


def commands_of_the_app() -> set[str]:
    code = "import sys; from companion_app.cli import main; sys.argv = ['companion', '--help']; main()"
    env = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", "PATH": "/usr/bin:/bin"}
    shown = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(re.findall(r"^[│|\s]*([a-z][a-z-]+)\s{2,}\S", shown.stdout, re.MULTILINE))


def test_the_documents_are_found() -> None:
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"} <= {str(path) for path in DOCUMENTS}


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_paths_named_exist(document: Path) -> None:
    named = {
        word.split(":")[0].rstrip("/") for word in words_in_code(document) if re.fullmatch(r"[\w.\-/]+(:\d+)?", word)
    }
    ours = {word for word in named if word.split("/")[0] in TOP_LEVEL and ("/" in word or "." in word)}
    assert [word for word in sorted(ours) if not (ROOT / word).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_make_targets_named_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {match for word in words_in_code(document) for match in re.findall(r"\bmake ([a-z-]+)", word)}
    assert named <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_commands_named_exist(document: Path) -> None:
    named = {match for word in words_in_code(document) for match in re.findall(r"^(?:\$ )?companion ([a-z]+)", word)}
    assert named <= commands_of_the_app()


def test_every_settings_key_is_in_the_reference_at_its_default() -> None:
    loaded = load_settings(ROOT / "config" / "companion.yaml", {})
    assert [key for key, origin in loaded.origins.items() if origin.kind != "file"] == []
    assert loaded.settings == Settings()


def test_constraints_pin_every_dependency_and_name_no_address() -> None:
    import tomllib

    lines = (ROOT / "requirements" / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line)] == []
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    names = {re.split(r"[\[<>=!~ ;]", line)[0].lower().replace("_", "-") for line in wanted}
    assert len(names) > 30
    assert names - pinned == set()
