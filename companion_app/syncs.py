"""Syncs started from the page or the API, and what is known of the one that runs.

Dagster is never loaded to look; it is loaded here only when the background services run and must be told. Without
them the sync is a process of its own, the same command a person would type.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import CONFIG_VARIABLE, HOME_VARIABLE, DataPaths
from companion_assets.daemon.running import Services, running_services
from companion_assets.stores.progress import Progress, read_progress

_TAIL_BYTES = 4000
_OVER = {"SUCCESS", "FAILURE", "CANCELED"}
_RUN_STATUS = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"


class SyncRunning(CompanionError):
    """A sync runs already."""


@dataclass(frozen=True, slots=True)
class Started:
    """A sync that was started: a Dagster run, or a process of its own."""

    run_id: str | None = None
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class SyncState:
    """Whether a sync runs.

    Attributes:
        progress: What it does; None before its first word and when none runs.
        failure: Why the last one started here failed; empty if it did not.
    """

    running: bool
    progress: Progress | None
    failure: str


class Syncs:
    """Starts syncs of one data root, one at a time.

    Args:
        paths: The data root.
        config: The settings file in force, handed on to the process.
    """

    def __init__(self, paths: DataPaths, config: Path | None) -> None:
        self._paths = paths
        self._config = config
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._run_id = ""
        self._run_failure = ""
        self._log = paths.logs_dir / "sync.log"

    def start(self, reason: str, *, confirm_removals: bool = False) -> Started:
        """Start a sync and return at once.

        Args:
            reason: For the run log: who asked.
            confirm_removals: Notes that the guard against mass loss keeps are really gone.

        Raises:
            SyncRunning: One runs already, here or elsewhere.
            CompanionError: It cannot be started.
        """
        with self._lock:
            if self.state().running:
                raise SyncRunning("a sync is running already", "wait for it to end")
            services = running_services(self._paths)
            if services:
                return self._launch(reason, confirm_removals=confirm_removals)
            return self._spawn(["--confirm-removals"] if confirm_removals else [])

    def state(self) -> SyncState:
        """How things stand, without starting or loading anything."""
        progress = read_progress(self._paths.progress_file)
        process = self._process
        own = process is not None and process.poll() is None
        services = running_services(self._paths)
        launched = services is not None and self._is_under_way(services, self._run_id)
        failed = process is not None and not own and process.returncode != 0
        failure = self._reason() if failed else self._run_failure
        return SyncState(own or launched or progress is not None, progress, failure)

    def _is_under_way(self, services: Services, run_id: str) -> bool:
        status = _run_status(services, run_id) if run_id else ""
        if status and status not in _OVER:
            return True
        if run_id and self._run_id == run_id:  # another thread may have started one meanwhile
            self._run_id = ""
            failed = status == "FAILURE"
            self._run_failure = f"the sync failed; {services.dagster_url}/runs/{run_id} tells why" if failed else ""
        return False

    def _launch(self, reason: str, *, confirm_removals: bool) -> Started:
        from companion_assets.daemon.launching import launch_sync  # loads Dagster

        self._process, self._run_failure = None, ""
        self._run_id = launch_sync(self._paths, confirm_removals=confirm_removals, reason=reason)
        return Started(run_id=self._run_id or None)

    def _spawn(self, options: Sequence[str]) -> Started:
        self._run_failure = ""
        environment = {**os.environ, HOME_VARIABLE: str(self._paths.root)}
        if self._config:
            environment[CONFIG_VARIABLE] = str(self._config)
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "companion_app", "sync", *options],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=environment,
                )
        except OSError as fault:
            raise CompanionError(f"the sync cannot be started: {fault.strerror}", "companion doctor") from fault
        return Started(pid=self._process.pid)

    def _reason(self) -> str:
        """The last `error:` line the process wrote, with its hint."""
        try:
            lines = self._log.read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace").splitlines()
        except OSError:
            return "the sync failed"
        told = [line.partition(":")[2].strip() for line in lines if line.startswith(("error:", "hint:"))]
        return ". ".join(part for part in told if part) or "the sync failed; companion sync tells why"


def _run_status(services: Services, run_id: str) -> str:
    """Ask Dagster's webserver how a run stands; "" where there is no answer or no such run."""
    query = {"query": _RUN_STATUS, "variables": {"id": run_id}}
    try:
        answer = httpx.post(f"{services.dagster_url}/graphql", json=query, timeout=3.0, trust_env=False).json()
        return str(answer["data"]["runOrError"].get("status", ""))
    except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
        return ""
