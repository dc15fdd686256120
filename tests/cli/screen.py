"""A terminal of its own for one command, and what a person would see on it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import time
from types import TracebackType
from typing import Self

from rich.cells import cell_len

from tests.cli.commands import COMMAND, ROOT, Shell

_TOKEN = re.compile(
    r"\x1b\[([?\d;]*)([A-Za-z])|\x1b\](.*?)(?:\x1b\\|\x07)|\x1b.|[\r\n\x07\x08]|[^\x1b\r\n\x07\x08]+", re.DOTALL
)


class Screen:
    """`companion …` on a pseudo-terminal.

    Attributes:
        raw: Everything it wrote.
    """

    def __init__(self, shell: Shell, *arguments: str, width: int = 60, height: int = 24) -> None:
        self.width = width
        self._door, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        environment = {name: value for name, value in shell.environment.items() if name not in ("COLUMNS", "NO_COLOR")}
        self._process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**environment, "TERM": "xterm-256color", **shell.variables},
            cwd=ROOT,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inside)
        self._written: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join(timeout=5)
        os.close(self._door)

    @property
    def raw(self) -> str:
        return b"".join(self._written).decode(errors="replace")

    def type(self, keys: str) -> None:
        os.write(self._door, keys.encode())

    def wait_for(self, text: str, *, times: int = 1, seconds: float = 60) -> None:
        """Until `text` was written so many times."""
        end = time.monotonic() + seconds
        while self.raw.count(text) < times:
            assert time.monotonic() < end, f"{text!r} never came: {self.raw!r}"
            time.sleep(0.02)

    def ended(self, seconds: float = 60) -> int:
        """Wait for the end; returns the exit status."""
        status = self._process.wait(timeout=seconds)
        self._reader.join(timeout=5)
        assert "Traceback" not in self.raw, self.raw
        return status

    def lines(self) -> list[str]:
        """What stands on the screen, scrolled lines included."""
        rows, row, column = [""], 0, 0
        for match in _TOKEN.finditer(self.raw):
            token, (parameter, final) = match[0], (match[1] or "", match[2])
            count = int(parameter) if parameter.isdigit() else 1
            if final == "A":
                row = max(0, row - count)
            elif final == "K" and parameter == "2":
                rows[row] = ""
            elif final == "K":
                rows[row] = rows[row][:column]
            elif token == "\r":
                column = 0
            elif token == "\n":
                row += 1
                rows += [""] * (row + 1 - len(rows))
            elif not token.startswith("\x1b") and token.isprintable():
                before = rows[row][:column].ljust(column)
                rows[row] = before + token + rows[row][column + len(token) :]
                column += len(token)
                assert cell_len(rows[row]) <= self.width, f"the terminal would break this line: {rows[row]!r}"
        return [line.rstrip() for line in rows]

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._door, 65536)
            except OSError:  # the other end is gone
                return
            if not piece:
                return
            self._written.append(piece)
