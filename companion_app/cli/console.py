"""How the terminal speaks: rich where a person looks, plain lines where a program reads."""

import datetime as dt
import errno
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from typing import IO, Any, ParamSpec, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import data_paths
from companion_assets.stores.data_root import prepare_data_root

P = ParamSpec("P")
R = TypeVar("R")

# A note may hold any character; those that a terminal obeys (colours, window titles, the clipboard) are only shown.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Terminal(Console):
    """A console that shows text and never obeys it.

    Args:
        to_errors: Writes to standard error.
        file: Writes there instead.
    """

    def __init__(self, *, to_errors: bool = False, file: IO[str] | None = None) -> None:
        # `highlight=False`: numbers in a note are text, not something to colour.
        super().__init__(stderr=to_errors, file=file, highlight=False, soft_wrap=True)

    @property
    def lively(self) -> bool:
        """True where a person watches: lines may be drawn over."""
        return self.is_terminal and not self.is_dumb_terminal and self.file.isatty()

    def make_plain(self) -> None:
        """No colours and nothing drawn over, from here on."""
        super().__init__(stderr=self.stderr, highlight=False, soft_wrap=True, force_terminal=False, color_system=None)

    def say(self, text: str, style: str = "") -> None:
        """Print a sentence, broken at words where a person reads."""
        self.print(Text(text, style), soft_wrap=not self.lively)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces of `renderable`, without control characters of its text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_CONTROLS.sub("�", segment.text), segment.style)


out = Terminal()
err = Terminal(to_errors=True)


def interactive() -> bool:
    """True when a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def be_plain() -> None:
    """No colours and nothing drawn over, from here on (`ui.cli.rich_output`)."""
    out.make_plain()
    err.make_plain()


def print_json(document: Any) -> None:
    """Print a document for another program."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=_plain) + "\n")


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def fail(fault: CompanionError) -> typer.Exit:
    """Print what went wrong and what to do; returns the exit to raise."""
    err.print(Text.assemble(("error: ", "bold red"), fault.message), soft_wrap=not err.lively)
    if fault.hint:
        err.print(Text.assemble(("hint:  ", "bold"), fault.hint), soft_wrap=not err.lively)
    return typer.Exit(1)


def speaks_plainly(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose faults reach the person as `error:` and `hint:`, never as a traceback."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result = command(*args, **kwargs)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except CompanionError as fault:
            raise fail(fault) from fault
        except KeyboardInterrupt as stop:
            err.print()
            raise typer.Exit(130) from stop
        except BrokenPipeError as gone:
            # The reader of a pipe left (`| head`); what is still buffered would fail again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from gone
        except OSError as fault:
            raise fail(_explain(fault)) from fault
        except Exception as fault:
            raise fail(_unforeseen(fault)) from fault
        return result

    return wrapped


def _unforeseen(fault: Exception) -> CompanionError:
    """A fault of ours. Its traceback goes to a file."""
    file = data_paths().logs_dir / "crash.log"
    with suppress(OSError, CompanionError):
        prepare_data_root(data_paths(), None)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.write_text("".join(traceback.format_exception(fault)), encoding="utf-8", errors="replace")
    reason = str(fault).strip().partition("\n")[0]
    return CompanionError(f"Companion failed at this: {reason} ({type(fault).__name__})", f"what happened is in {file}")


def _explain(fault: OSError) -> CompanionError:
    """A refusal of the system that no part of ours expected, with the usual remedy."""
    where = f"{fault.filename}: " if fault.filename else ""
    message = f"{where}{fault.strerror or fault}"
    if fault.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return CompanionError(message, "free some space and run the command again")
    if fault.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return CompanionError(message, "check that the file and its folder are yours and writable; companion doctor")
    return CompanionError(message, "companion doctor")
