"""One server that forks the processes to kill, and one room with the situations they are killed in."""

import pytest

from tests.crash.processes import start_server
from tests.crash.situations import Situations


@pytest.fixture(scope="session", autouse=True)
def server() -> None:
    """Started before any test has changed the environment."""
    start_server()


@pytest.fixture(scope="session")
def situations(server: None, tmp_path_factory: pytest.TempPathFactory) -> Situations:
    """Data roots to copy and fresh builds to compare with, each made on first use."""
    return Situations(tmp_path_factory.mktemp("situations"))
