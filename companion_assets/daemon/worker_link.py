"""What the launcher and the resident worker say to each other, over a socket of this machine and this account.

The socket lies in the data root's locks folder, or, where that path is longer than a socket's may be, in a temporary
folder; both are closed to other accounts. A conversation is one line each way, and a run is handed over in three
steps, so that it is never executed twice: the launcher offers it, the worker accepts and marks it, the launcher
confirms. Whoever hears nothing for a second lets it be.
"""

import os
import socket
import socketserver
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.process_mark import ProcessMark
from companion_assets.stores.process_sign import put_sign, read_sign

_ANSWER_SECONDS = 1.0
_LONGEST_LINE = 200
_PREFIX = "companion-"
_LONGEST_NAME = 100  # bytes of a socket's path: 103 on macOS, 107 on Linux


class Desk(Protocol):
    """The worker, as the launcher sees it. Called from another thread than the one that executes runs."""

    def current(self) -> str:
        """The run that is executed or accepted; "" if the worker is free."""
        ...

    def accept(self, run_id: str) -> bool:
        """Keep the next turn for a run, and mark it; False if there is one already."""
        ...

    def confirm(self, run_id: str, *, wanted: bool) -> None:
        """Execute the accepted run, or forget it."""
        ...

    def interrupt(self, run_id: str) -> bool:
        """End the run if it is the one that is executed."""
        ...


@dataclass(frozen=True, slots=True)
class _Address:
    """Where a worker listens.

    Attributes:
        pid: The worker.
        started: When that process began; a reused pid has another one.
    """

    pid: int
    started: float
    path: str


def running_worker(paths: DataPaths) -> int | None:
    """The pid of the worker of this data root; None if there is none."""
    address = _read(paths)
    return address.pid if address else None


def current_run(paths: DataPaths) -> str | None:
    """The run a worker is at; "" if it is free, None if there is none or it does not answer."""
    with suppress(OSError), _talking(paths) as talk:
        return talk.ask("current") if talk else None
    return None


def offer_run(paths: DataPaths, run_id: str) -> bool:
    """Hand a run to the worker; False where it must be executed otherwise."""
    with suppress(OSError), _talking(paths) as talk:
        if talk and talk.ask(f"run {run_id}") == "yes":
            talk.say("go")
            return True
    return False


def interrupt_run(paths: DataPaths, run_id: str) -> bool:
    """Have the worker end a run; False if it is not at it."""
    with suppress(OSError), _talking(paths) as talk:
        return talk is not None and talk.ask(f"interrupt {run_id}") == "yes"
    return False


@contextmanager
def listening(paths: DataPaths, desk: Desk) -> Iterator[None]:
    """Answer for the desk, in a thread, and let launchers know where.

    Args:
        paths: The data root; nobody else listens for it.
        desk: Who decides.
    """
    if (earlier := _read(paths, alive=False)) is not None:  # it was killed
        _remove(earlier.path)
    own = ProcessMark.own()
    with _listener(paths, desk) as listener:
        path = str(listener.server_address)
        threading.Thread(target=listener.serve_forever, name="launcher", daemon=True).start()
        put_sign(_file(paths), asdict(_Address(own.pid, own.started, path)))
        try:
            yield
        finally:
            _file(paths).unlink(missing_ok=True)
            listener.shutdown()
            _remove(path)


class _Talk:
    """One end of a conversation."""

    def __init__(self, door: socket.socket) -> None:
        door.settimeout(_ANSWER_SECONDS)
        self._door = door
        self._lines = door.makefile("r", encoding="utf-8", errors="replace")

    def say(self, line: str) -> None:
        """Send a line."""
        self._door.sendall(f"{line}\n".encode())

    def hear(self) -> str | None:
        """The next line; None when the other side has left."""
        line = self._lines.readline(_LONGEST_LINE)
        return line[:-1] if line.endswith("\n") else None

    def ask(self, line: str) -> str | None:
        """Send a line and wait for the answer."""
        self.say(line)
        return self.hear()


class _Listener(socketserver.UnixStreamServer):
    """Answers one launcher at a time."""

    def __init__(self, path: str, desk: Desk) -> None:
        self.desk = desk
        super().__init__(path, _Conversation)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A launcher that left in the middle of a conversation is no event."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Conversation(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        desk = cast(_Listener, self.server).desk
        talk = _Talk(self.request)
        verb, _, run_id = (talk.hear() or "").partition(" ")
        match verb:
            case "current":
                talk.say(desk.current())
            case "interrupt":
                talk.say("yes" if desk.interrupt(run_id) else "no")
            case "run" if desk.accept(run_id):
                confirmed = False
                try:
                    confirmed = talk.ask("yes") == "go"
                finally:
                    desk.confirm(run_id, wanted=confirmed)
            case _:
                talk.say("no")


@contextmanager
def _talking(paths: DataPaths) -> Iterator[_Talk | None]:
    """A conversation with the worker; None if there is no worker."""
    address = _read(paths)
    if address is None:
        yield None
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.settimeout(_ANSWER_SECONDS)
        door.connect(address.path)
        yield _Talk(door)


def _listener(paths: DataPaths, desk: Desk) -> _Listener:
    """A listener in the locks folder; elsewhere if that is too deep, or on a disk that knows no sockets."""
    place = paths.locks_dir / "worker.sock"
    if len(os.fsencode(place)) <= _LONGEST_NAME:
        with suppress(OSError):
            place.unlink(missing_ok=True)
            return _Listener(str(place), desk)
    short = len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_NAME - 30
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=None if short else "/tmp"))  # it gets mode 0700
    return _Listener(str(folder / place.name), desk)


def _remove(path: str) -> None:
    """Remove a socket, and its folder if that was made for it."""
    with suppress(OSError):
        Path(path).unlink(missing_ok=True)
        if Path(path).parent.name.startswith(_PREFIX):
            Path(path).parent.rmdir()


def _file(paths: DataPaths) -> Path:
    return paths.locks_dir / "worker.json"


def _read(paths: DataPaths, *, alive: bool = True) -> _Address | None:
    try:
        sign = read_sign(_file(paths), alive=alive)
        return _Address(**sign) if sign else None
    except TypeError:  # another version's
        return None
