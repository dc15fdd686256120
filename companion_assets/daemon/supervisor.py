"""`companion up`: one process that owns all others, starts them in order and takes them with it when it ends.

Its children: the app, the code server (our assets over gRPC), Dagster's webserver, Dagster's daemon and the worker.
When the worker ends it is started again, since others do its work meanwhile; when another one ends, all end.
"""

import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

import httpx
from filelock import FileLock, Timeout

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.children import Children
from companion_assets.daemon.dagster_internals import DAEMON_MODULE
from companion_assets.daemon.instance import LOCATION, open_instance
from companion_assets.daemon.log_rotation import LogLimits
from companion_assets.daemon.ports import free_port, http_address, is_taken, require_free
from companion_assets.daemon.revival import Revival
from companion_assets.daemon.running import Services, announce, running_services, withdraw
from companion_assets.defs.maintenance.dead_runs import fail_dead_runs
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.database import database_faults
from companion_assets.stores.process_mark import ProcessMark

_START_SECONDS = 180.0
_SECONDS_BETWEEN_ROTATIONS = 60.0
_SECONDS_BETWEEN_LOOKS = 0.3
_PYTHON = (sys.executable, "-m")
_DEFINITIONS = "companion_assets.definitions"
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Service:
    """A process to run.

    Attributes:
        ready: Returns True once the process answers.
    """

    name: str
    command: Sequence[str]
    ready: Callable[[], bool] = lambda: True


# Nobody waits for it: until it is ready, runs go where they go without it.
_WORKER = Service("worker", [*_PYTHON, "companion_assets.daemon.worker", _DEFINITIONS])


class Supervisor:
    """Starts the services of one data root and keeps them together.

    Args:
        paths: The data root.
        app_command: How to start the app; it must listen on `app_host` and `app_port`.
        logs: How much is kept of the services' logs.
        say: Receives one line per step.
    """

    def __init__(
        self,
        paths: DataPaths,
        app_command: Sequence[str],
        app_host: str,
        app_port: int,
        logs: LogLimits,
        say: Callable[[str], None],
    ) -> None:
        self._paths = paths
        self._app_command = app_command
        self._app_host = app_host
        self._app_port = app_port
        self._logs = logs
        self._say = say
        self._stopping = False

    def run(self) -> int:
        """Start everything, wait until it is told to stop or a service ends, stop everything.

        Returns:
            0 after Ctrl-C, SIGTERM or the end of the terminal, 1 when a service ended by itself.

        Raises:
            CompanionError: A supervisor of this data root runs already, or the app's port is taken.
        """
        with self._alone():
            require_free(self._app_port, self._app_host)
            # Handlers, not the ignored signals a background job starts with: Dagster copies an ignored SIGINT onto
            # SIGTERM, and then only SIGKILL ends it. A handler is not inherited.
            for number in _STOP_SIGNALS:
                signal.signal(number, self._asked_to_stop)
            with Children(self._paths) as children:
                self._tidy()
                return self._supervise(children)

    def _supervise(self, children: Children) -> int:
        grpc, dagster = free_port(), free_port()
        me = ProcessMark.own()
        services = Services(me.pid, me.started, http_address(self._app_host, self._app_port), dagster)
        for wave in self._waves(services, grpc):
            for service in wave:
                self._tell(f"starting {service.name} …")
                children.start(service.name, service.command)
            for service in wave:
                if not self._is_up(service, children):
                    return 0 if self._stopping else 1
        announce(self._paths, services)
        try:
            self._tell(f"Companion is at {services.app_url} · Dagster at {services.dagster_url} · Ctrl-C ends both")
            return self._keep(children)
        finally:
            withdraw(self._paths)

    def _keep(self, children: Children) -> int:
        """Look after the processes until told to stop, or one has ended that the others need."""
        worker, rotation = Revival(time.monotonic()), 0.0
        while not self._stopping:
            ended = children.ended()
            if name := next((name for name in ended if name != _WORKER.name), None):
                self._tell(_obituary(children, name, "ended unexpectedly"))
                return 1
            if _WORKER.name in ended:
                worker.note_end(time.monotonic())
                self._clear_away(children, ended[_WORKER.name])
            if worker.is_due(time.monotonic()):
                children.start(_WORKER.name, _WORKER.command)
            if time.monotonic() >= rotation:
                rotation = time.monotonic() + _SECONDS_BETWEEN_ROTATIONS
                children.rotate_logs(self._logs)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        return 0

    def _clear_away(self, children: Children, status: int) -> None:
        """Put right what the worker left behind."""
        children.bury(_WORKER.name)
        if status:
            self._tell(_obituary(children, _WORKER.name, "ended and is started again"))
        with suppress(CompanionError):  # else whoever comes next does it
            self._free_runs()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the data root's lock."""
        prepare_data_root(self._paths, None)
        for folder in (self._paths.locks_dir, self._paths.logs_dir):
            folder.mkdir(mode=0o700, exist_ok=True)
        try:
            with FileLock(self._paths.locks_dir / "up.lock", mode=0o600, timeout=0):
                yield
        except Timeout as fault:
            running = running_services(self._paths)
            where = f" at {running.app_url}" if running else ""
            raise CompanionError(
                f"Companion is already running{where}", "stop it with Ctrl-C in its terminal"
            ) from fault

    def _tidy(self) -> None:
        """Leave nothing of an earlier crash in the way, and the run log ready for the services."""
        withdraw(self._paths)
        self._free_runs()

    def _free_runs(self) -> None:
        home = self._paths.dagster_home
        with database_faults(home, canonical=False), open_instance(self._paths) as instance:
            fail_dead_runs(instance)

    def _waves(self, services: Services, grpc: int) -> list[list[Service]]:
        """The services in the order of their start; those of a wave start together."""
        workspace = self._paths.dagster_home / "workspace.yaml"
        workspace.write_text(
            "load_from:\n  - grpc_server:\n      host: 127.0.0.1\n"
            f"      port: {grpc}\n      location_name: {LOCATION}\n",
            encoding="utf-8",
        )
        code = ["-m", _DEFINITIONS, "--location-name", LOCATION]
        listen = ["-h", "127.0.0.1", "-p"]
        return [
            [
                Service("app", self._app_command, lambda: _answers(f"{services.app_url}/api/health")),
                Service(
                    "code-server",
                    [*_PYTHON, "dagster", "api", "grpc", *code, *listen, str(grpc)],
                    lambda: is_taken(grpc),
                ),
            ],
            [
                Service(
                    "webserver",
                    [*_PYTHON, "dagster_webserver", *listen, str(services.dagster_port), "-w", str(workspace)],
                    lambda: _answers(f"{services.dagster_url}/server_info"),
                ),
                Service("daemon", [*_PYTHON, DAEMON_MODULE, "run", "-w", str(workspace)]),
            ],
            [_WORKER],
        ]

    def _is_up(self, service: Service, children: Children) -> bool:
        deadline = time.monotonic() + _START_SECONDS
        while not self._stopping and time.monotonic() < deadline:
            if name := next(iter(children.ended()), None):
                self._tell(_obituary(children, name, "ended while starting"))
                return False
            if service.ready():
                return True
            time.sleep(0.2)
        if not self._stopping:
            self._tell(_obituary(children, service.name, "does not answer"))
        return False

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _tell(self, line: str) -> None:
        with suppress(OSError):  # the terminal may be gone; that is no reason to leave the services behind
            self._say(line)


def _obituary(children: Children, name: str, what: str) -> str:
    words = children.last_words(name)
    return f"{name} {what}{f': {words}' if words else ''}\nIts log: {children.log_of(name)}"


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2.0, trust_env=False).status_code < 500
    except httpx.HTTPError:
        return False
