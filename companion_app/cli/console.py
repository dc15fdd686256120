"""How the terminal speaks: rich where a person looks, plain lines where a program reads."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console

from companion_assets.contracts.errors import CompanionError

P = ParamSpec("P")
R = TypeVar("R")

# `highlight=False`: numbers in a note are text, not something to colour.
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def interactive() -> bool:
    """True when a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def fail(fault: CompanionError) -> typer.Exit:
    """Print what went wrong and what to do; returns the exit to raise."""
    err.print("error: ", style="bold red", end="")
    err.print(fault.message, markup=False)
    if fault.hint:
        err.print("hint:  ", style="bold", end="")
        err.print(fault.hint, markup=False)
    return typer.Exit(1)


def speaks_plainly(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose faults reach the person as `error:` and `hint:`, never as a traceback."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except CompanionError as fault:
            raise fail(fault) from fault
        except KeyboardInterrupt as stop:
            err.print()
            raise typer.Exit(130) from stop
        except BrokenPipeError as gone:
            # The reader of a pipe left (`| head`); writing to it again at exit would print a traceback.
            sys.stdout = None  # type: ignore[assignment]
            raise typer.Exit(0) from gone

    return wrapped
