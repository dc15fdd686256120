"""`companion init`, `doctor`, help, and exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, Shell
from tests.cli.conftest import Indexed

LIGHT = (
    "pyarrow",
    "sqlalchemy",
    "lancedb",
    "dagster",
    "gradio",
    "fastapi",
    "onnxruntime",
    "numpy",
    "pydantic_settings",
)


@pytest.fixture
def bare(empty: Shell) -> Shell:
    """The vault is there, and nothing names it."""
    return Shell(empty.home, None, {})


def test_init_writes_commented_settings_once(bare: Shell, empty: Shell) -> None:
    vault = empty.vault
    assert vault
    done = bare.run("init", "--vault", "vault", cwd=vault.parent)  # a relative path counts from here
    assert done.status == 0
    settings = bare.home / "companion.yaml"
    written = settings.read_text()
    assert f'  path: "{vault}"' in written
    assert "# similarity_threshold: 0.75" in written
    assert settings.stat().st_mode & 0o777 == 0o600
    assert "was left as it is" in bare.refused("init", "--vault", str(vault))
    assert settings.read_text() == written
    checks = json.loads(bare.run("doctor", "--json").out)["checks"]
    assert next(check for check in checks if check["name"] == "vault")["state"] == "ok"


def test_init_refuses_what_cannot_work(bare: Shell, empty: Shell, tmp_path: Path) -> None:
    vault = empty.vault
    assert vault
    assert "is not a folder" in bare.refused("init", "--vault", str(tmp_path / "absent"))
    assert "is not a folder" in bare.refused("init", "--vault", str(vault / "Cello.md"))
    within = Shell(vault / ".companion", None, {})
    assert "inside the vault" in within.refused("init", "--vault", str(vault))
    around = Shell(tmp_path, None, {})
    assert "inside the data root" in around.refused("init", "--vault", str(vault))
    assert not bare.home.exists()
    assert not (vault / ".companion").exists()
    assert not (tmp_path / "companion.yaml").exists()


def test_doctor_fails_when_something_is_missing(bare: Shell, small: Indexed) -> None:
    done = bare.run("doctor")
    assert done.status == 1
    assert "fix: companion init --vault PATH" in done.out
    well = small.shell.run("doctor", "--json")
    assert (well.status, json.loads(well.out)["state"]) == (0, "ok")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['companion', '--help']\n"
        "from companion_app.cli import main\n"
        "try: main()\n"
        f"finally: print([name for name in {LIGHT!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "[]")
    for command in ("index", "ask", "chat", "search", "status", "doctor", "init", "demo", "up"):
        assert command in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["search"],
        ["search", "x", "-k", "0"],
        ["search", "x", "--after", "soon"],
        ["init"],
        ["ask", "--no"],
    ],
)
def test_a_wrong_command_line_exits_with_2(bare: Shell, arguments: list[str]) -> None:
    done = bare.run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert "Usage:" in done.err


def test_colours_are_off_where_nobody_looks(bare: Shell) -> None:
    for variables in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert bare.with_variables(**variables).run("--help").status == 0  # `run` looks for escape codes
        assert bare.with_variables(**variables).run("doctor").status == 1


def test_broken_settings_are_named_with_file_and_line(empty: Shell) -> None:
    empty.home.mkdir()
    settings = empty.home / "companion.yaml"
    settings.write_text("rag:\n  serch: {}\napi:\n  port: many\n")
    for command in (["index"], ["ask", "x"], ["doctor"]):
        said = empty.refused(*command)
        assert f"{settings}:2: rag.serch" in said
        assert f"{settings}:4: api.port" in said


@pytest.mark.parametrize("text", [b"vault: [\n", b"\xff\xfe\x00", b"- a\n- b\n", b"{" * 5000])
def test_a_settings_file_that_is_none_is_refused(empty: Shell, text: bytes) -> None:
    empty.home.mkdir()
    (empty.home / "companion.yaml").write_bytes(text)
    assert "companion.yaml" in empty.refused("doctor")
