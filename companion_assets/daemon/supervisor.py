"""`companion up`: one process that owns all others, starts them in order and takes them with it when it ends.

Children: the code server (our assets over gRPC), Dagster's webserver and daemon, and the app. Each leads a process
group of its own, so that Ctrl-C in the terminal reaches only the supervisor, which then ends them in reverse order.
Where the kernel offers it (Linux), children also die with the supervisor when that is killed outright.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import httpx
import psutil
from filelock import FileLock, Timeout

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import LOCATION, prepare_dagster_home
from companion_assets.daemon.ports import free_port, is_taken, require_free
from companion_assets.daemon.running import Services, announce, running_services, withdraw

_PR_SET_PDEATHSIG = 1
_STOP_SECONDS = 10.0
_START_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Child:
    """A process to run.

    Attributes:
        ready: Returns True once the process answers.
    """

    name: str
    command: Sequence[str]
    ready: Callable[[], bool]


class Supervisor:
    """Starts the services of one data root and keeps them together.

    Args:
        paths: The data root.
        app_command: How to start the app; it must listen on `app_port`.
        say: Receives one line per step.

    Raises:
        CompanionError: A supervisor of this data root runs already, or the app's port is taken.
    """

    def __init__(self, paths: DataPaths, app_command: Sequence[str], app_port: int, say: Callable[[str], None]) -> None:
        self._paths = paths
        self._say = say
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._stopping = False
        paths.locks_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = FileLock(paths.locks_dir / "up.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout as fault:
            running = running_services(paths)
            where = f" at {running.app_url}" if running else ""
            raise CompanionError(
                f"Companion is already running{where}", "stop it with Ctrl-C in its terminal"
            ) from fault
        require_free(app_port)
        self._app_port = app_port
        self._grpc_port, self._dagster_port = free_port(), free_port()
        self._app_command = app_command

    def run(self) -> int:
        """Start everything, wait until it is told to stop or a child ends, stop everything.

        Returns:
            0 after Ctrl-C or SIGTERM, 1 when a child ended by itself.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)
        try:
            for child in self._children():
                self._start(child)
                if not self._wait_until_ready(child):
                    return 0 if self._stopping else 1
            me = psutil.Process()
            services = Services(me.pid, me.create_time(), f"http://127.0.0.1:{self._app_port}", self._dagster_port)
            announce(self._paths, services)
            self._say(f"Companion is at {services.app_url} · Dagster at {services.dagster_url} · Ctrl-C ends both")
            return self._watch()
        finally:
            withdraw(self._paths)
            self._stop_all()
            self._lock.release()

    def _children(self) -> list[Child]:
        home = prepare_dagster_home(self._paths)
        workspace = home / "workspace.yaml"
        workspace.write_text(
            "load_from:\n  - grpc_server:\n      host: 127.0.0.1\n"
            f"      port: {self._grpc_port}\n      location_name: {LOCATION}\n",
            encoding="utf-8",
        )
        python = [sys.executable, "-m"]
        dagster = f"http://127.0.0.1:{self._dagster_port}"
        app = f"http://127.0.0.1:{self._app_port}"
        return [
            Child("app", self._app_command, lambda: _answers(f"{app}/api/health")),
            Child(
                "code-server",
                [*python, "dagster", "api", "grpc", "-m", "companion_assets.definitions", "-h", "127.0.0.1",
                 "-p", str(self._grpc_port), "--location-name", LOCATION],
                lambda: is_taken(self._grpc_port),
            ),
            Child(
                "webserver",
                [*python, "dagster_webserver", "-h", "127.0.0.1", "-p", str(self._dagster_port), "-w", str(workspace)],
                lambda: _answers(f"{dagster}/server_info"),
            ),
            Child("daemon", [*python, "dagster._daemon", "run", "-w", str(workspace)], lambda: True),
        ]  # fmt: skip

    def _start(self, child: Child) -> None:
        self._paths.logs_dir.mkdir(parents=True, exist_ok=True)
        log = self._paths.logs_dir / f"{child.name}.log"
        with log.open("ab") as sink:
            process = subprocess.Popen(
                child.command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, "DAGSTER_HOME": str(self._paths.dagster_home)},
                process_group=0,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        self._running.append((child.name, process))

    def _wait_until_ready(self, child: Child) -> bool:
        self._say(f"starting {child.name} …")
        process = self._running[-1][1]
        deadline = time.monotonic() + _START_SECONDS
        while not self._stopping and time.monotonic() < deadline:
            if process.poll() is not None:
                self._say(f"{child.name} ended while starting; its log is {self._log_of(child.name)}")
                return False
            if child.ready():
                return True
            time.sleep(0.2)
        if not self._stopping:
            self._say(f"{child.name} does not answer; its log is {self._log_of(child.name)}")
        return False

    def _watch(self) -> int:
        while not self._stopping:
            for name, process in self._running:
                if process.poll() is not None:
                    self._say(f"{name} ended unexpectedly; its log is {self._log_of(name)}")
                    return 1
            time.sleep(0.5)
        return 0

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _stop_all(self) -> None:
        """SIGTERM to every group, newest first; SIGKILL to what is left after the grace period."""
        for _, process in reversed(self._running):
            _signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        for _, process in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
            _signal_group(process, signal.SIGKILL)
            process.wait()

    def _log_of(self, name: str) -> Path:
        return self._paths.logs_dir / f"{name}.log"


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # An ignored SIGINT would be inherited, and Dagster copies it onto SIGTERM: then only SIGKILL ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2.0, trust_env=False).status_code < 500
    except httpx.HTTPError:
        return False
