"""A line that lives while the person waits: what is being done, and for how long."""

import time
from types import TracebackType
from typing import Self

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from companion_app.cli.console import err

OPENING = "opening your notes"
_SILENT_SECONDS = 1.0  # shorter waits show no figure


class Waiting:
    """Shown on standard error, and only to a person; gone when it ends.

    Args:
        what: What is being done.
    """

    def __init__(self, what: str) -> None:
        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(self, console=err, transient=True, refresh_per_second=8)
        self.now(what)

    def now(self, what: str) -> None:
        """Something else is being done from here on."""
        self._what = what
        self._since = time.monotonic()

    def start(self) -> None:
        """Show the line."""
        if err.lively:
            self._live.start()

    def stop(self) -> None:
        """Take the line away; safe to call twice."""
        self._live.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def __rich__(self) -> Spinner:
        seconds = time.monotonic() - self._since
        figure = f" · {seconds:.0f} s" if seconds >= _SILENT_SECONDS else ""
        self._spinner.update(text=Text(f"{self._what}{figure}", style="dim", no_wrap=True, overflow="ellipsis"))
        return self._spinner
