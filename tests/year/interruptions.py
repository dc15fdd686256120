"""Makes things happen in the middle of a sync: before any line of the product's steps and stores."""

import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType
from typing import Any

from tests.year.steps import Edit, Interruption

MODULES = (
    "companion_assets.stages.sync",
    "companion_assets.stages.publishing",
    "companion_assets.stages.workspace",
    "companion_assets.stages.vault",
    "companion_assets.stages.vault_walk",
    "companion_assets.stores.catalog",
    "companion_assets.stores.catalog_view",
    "companion_assets.stores.note_graph_rows",
    "companion_assets.stores.vectors",
    "companion_assets.stores.index_writer",
    "companion_assets.stores.index_table",
    "companion_assets.stores.database",
)

Place = tuple[str, int]
"""File and line."""


class ProcessDies(BaseException):
    """The process ends here: nobody may catch it, no object lives on, files stay as they are."""


@cache
def places() -> tuple[Place, ...]:
    """Every line of a function in `MODULES`, in order."""
    found = set()
    for name in MODULES:
        module = importlib.import_module(name)
        code = compile(inspect.getsource(module), str(module.__file__), "exec")
        found |= {(str(module.__file__), line) for line in _lines_of_functions(code)}
    return tuple(sorted(found))


def _lines_of_functions(code: CodeType) -> set[int]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    own = {line for _, _, line in code.co_lines() if line} if code.co_flags & inspect.CO_NEWLOCALS else set()
    return own.union(*map(_lines_of_functions, inner))


@contextmanager
def interrupted(interruptions: Sequence[Interruption], live: Callable[[Edit], None]) -> Iterator[list[Place]]:
    """Let the interruptions happen to what runs inside, in this thread.

    Args:
        interruptions: When and what.
        live: Makes an edit happen.

    Yields:
        Where something happened, filled as it happens.

    Raises:
        ProcessDies: That was what was to happen.
    """
    happened: list[Place] = []
    waiting = {places()[item.line % len(places())]: item for item in interruptions}
    files, hits = {file for file, _ in waiting}, Counter[Place]()

    def on_call(frame: FrameType, event: str, argument: Any) -> Any:
        return on_line if frame.f_code.co_filename in files else None

    def on_line(frame: FrameType, event: str, argument: Any) -> Any:
        place = (frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and (item := waiting.get(place)):
            hits[place] += 1
            if hits[place] == item.hit:
                happened.append(place)
                if item.edit is None:
                    raise ProcessDies(f"{place[0]}:{place[1]}")
                live(item.edit)
        return on_line

    before = sys.gettrace()
    if waiting:
        sys.settrace(on_call)
    try:
        yield happened
    finally:
        sys.settrace(before)
