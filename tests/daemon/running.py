"""A real `companion up`, started and watched by the tests."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psutil

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.ports import free_port
from companion_assets.daemon.running import Services, running_services

UP = [sys.executable, "-m", "companion_app", "up"]


class Up:
    """A running `companion up`.

    Args:
        paths: The data root; vault and settings come from the environment.
    """

    def __init__(self, paths: DataPaths) -> None:
        self.port = free_port()
        self.process = start_up(self.port)
        wait_for(lambda: running_services(paths) is not None or self.process.poll() is not None, 120)
        services = running_services(paths)
        assert services is not None, self.said()
        self.services: Services = services

    @property
    def family(self) -> list[psutil.Process]:
        """Every process it has started, and theirs."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def said(self) -> str:
        """Everything it printed; it must have ended."""
        return self.process.communicate(timeout=60)[0]

    def ask_dagster(self, query: str, **variables: Any) -> Any:
        """Send what Dagster's own page sends."""
        url = f"{self.services.dagster_url}/graphql"
        answer = httpx.post(url, json={"query": query, "variables": variables}, timeout=60).json()
        assert "errors" not in answer, answer
        return answer["data"]


def start_up(port: int) -> "subprocess.Popen[str]":
    command = [*UP, "--port", str(port)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def processes_of(home: Path) -> list[psutil.Process]:
    """Living processes that work on a data root, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("COMPANION_HOME") == str(home):
                found.append(process)
        except psutil.Error:
            continue
    return [process for process in found if process.pid != os.getpid()]
