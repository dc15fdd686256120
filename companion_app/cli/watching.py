"""Shows what the running sync does: a bar for a person, a line per phase for a program.

Dagster sends the output of a run's steps, ours with it, to files of its own; so this writes to a copy of standard
error that was taken before.
"""

import os
import sys
import threading
import time
from contextlib import suppress

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

from companion_app.cli.console import Terminal
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.progress import read_progress

_WORDS = {
    "reading": "reading notes",
    "chunking": "cutting notes",
    "embedding": "embedding passages",
    "publishing": "publishing",
}
_LOOKING = "looking at the vault"
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_BETWEEN_LINES = 10


class Watched:
    """While it is open, the progress of this data root's sync is shown.

    Args:
        paths: The data root.
        visible: False shows nothing.
    """

    def __init__(self, paths: DataPaths, *, visible: bool) -> None:
        self._paths = paths
        self._visible = visible
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        if self._visible:
            self._file = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="replace")
            self._terminal = Terminal(file=self._file)
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._visible:
            self._thread.join()
            with suppress(OSError):
                self._file.close()

    def _watch(self) -> None:
        with suppress(OSError):  # nobody reads it any more; the sync goes on
            if self._terminal.lively:
                self._bars()
            else:
                self._lines()

    def _bars(self) -> None:
        columns = (
            SpinnerColumn(finished_text="[green]✓[/]"),
            TextColumn("{task.description:<19}"),
            BarColumn(),
            TextColumn("{task.fields[figure]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        with Progress(*columns, console=self._terminal, transient=True, redirect_stdout=False) as progress:
            task = progress.add_task(_LOOKING, total=None, figure="")
            phase = ""
            while not self._ended.wait(_SECONDS_BETWEEN_LOOKS):
                look = read_progress(self._paths.progress_file)
                if look is None:
                    continue
                if look.phase != phase:
                    phase = look.phase
                    self._finish(progress, task)
                    task = progress.add_task(_WORDS.get(phase, phase), total=self._expected(phase), figure="")
                figure = f"{look.overall:,}" if look.overall else ""
                progress.update(task, completed=look.overall, figure=figure)

    def _finish(self, progress: Progress, task: TaskID) -> None:
        done = progress.tasks[task].completed or 1
        progress.update(task, total=done, completed=done)

    def _expected(self, phase: str) -> int | None:
        """Passages to embed, where all of them are: the first time. Otherwise nobody knows before."""
        if phase != "embedding":
            return None
        try:
            catalog = CatalogView(self._paths.catalog_db)
            try:
                counts = catalog.counts()
            finally:
                catalog.close()
        except CompanionError:
            return None
        return counts.chunks if counts.pending == counts.notes - counts.skipped else None

    def _lines(self) -> None:
        phase, last = "", 0.0
        while not self._ended.wait(_SECONDS_BETWEEN_LOOKS):
            look = read_progress(self._paths.progress_file)
            if look is None:
                continue
            begun = look.phase != phase
            if begun or time.monotonic() - last > _SECONDS_BETWEEN_LINES:
                phase, last = look.phase, time.monotonic()
                figure = f": {look.overall:,}" if look.overall and not begun else ""
                self._terminal.print(f"{_WORDS.get(phase, phase)}{figure}", markup=False)
