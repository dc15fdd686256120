"""Two indexed vaults, made once: a few notes, and the demo."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.backends.ollama_double import OllamaDouble, chat_model
from tests.cli.commands import NOTES, Done, Shell, write_vault

QUOTES_ONLY = {"COMPANION_MODEL__INFERENCE__BACKEND": "none"}


@dataclass(frozen=True)
class Indexed:
    shell: Shell
    first: Done  # what the command that made it said


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """Indexed by `companion index`. Read only: tests that change it take a copy."""
    room = tmp_path_factory.mktemp("small")
    shell = Shell(room / "home", write_vault(room / "My vault", NOTES), QUOTES_ONLY)
    return Indexed(shell, shell.run("index"))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """Made by `companion demo`; searched under the settings that the demo uses."""
    room = tmp_path_factory.mktemp("demo")
    first = Shell(room / "home", None, QUOTES_ONLY).run("demo", "--no-serve")
    return Indexed(Shell(room / "home-demo" / "data", room / "home-demo" / "vault", QUOTES_ONLY), first)


@pytest.fixture
def empty(tmp_path: Path) -> Shell:
    """A vault, and a data root that nobody has used."""
    return Shell(tmp_path / "home", write_vault(tmp_path / "vault", NOTES), QUOTES_ONLY)


@pytest.fixture
def server() -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        double.models["llama3:latest"] = chat_model()
        yield double


@pytest.fixture
def talking(small: Indexed, server: OllamaDouble, tmp_path: Path) -> Shell:
    """The small vault with a chat model behind it."""
    return small.shell.copy(tmp_path).with_variables(
        COMPANION_MODEL__INFERENCE__BACKEND="ollama",
        COMPANION_MODEL__INFERENCE__MODEL="llama3",
        COMPANION_MODEL__INFERENCE__BASE_URL=server.url,
    )
