"""Makes a real process die, or run out of disk, at a chosen point, without a word about it in the product.

A point names a function; when it is reached for the n-th time the process kills itself with SIGKILL, as a power cut
would. `arm` works in a process that has everything imported and in one that imports later, so it reaches what
`companion up` starts as well (`site/sitecustomize.py` arms from the environment).
"""

import contextlib
import functools
import importlib.abc
import importlib.machinery
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

VARIABLE = "CRASH_PLAN"
ROOT = Path(__file__).parents[2]

Act = Literal["kill", "fill"]

_PAUSE_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class Point:
    """A moment in the life of a process.

    Attributes:
        where: `module:function` or `module:Class.method`.
        when: `before` and `after` the call; `within` it: of a context manager, when its body is done; of any other,
            as soon as a new file matches `watched`, else when it is over.
        text: Only calls with an argument that has this in it.
        watched: Glob of files under the data root; for `within`.
    """

    where: str
    when: Literal["before", "within", "after"] = "before"
    text: str = ""
    watched: str = ""

    def __str__(self) -> str:
        about = f" [{self.text}]" if self.text else ""
        return f"{self.when} {self.where.rpartition(':')[2]}{about}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a process is to suffer.

    Attributes:
        points: Counted together.
        nth: Strike when a point is reached for the n-th time; 0 never.
        act: Die, or fill the disk of the data root.
        filled: The folder of the data root whose disk is filled.
        slow: Stop for 30 ms whenever a point is reached.
        dimensions: Use an embedder without a model, with vectors of this length, in place of the one in the settings.
        constants: `module:NAME` → value, for sizes that a tiny vault would never reach.
        once: A file, made when it strikes: while it is there, no process strikes.
        heard: A file to which every point that is reached is written, one a line.
        embedded: A file to which the hash of every embedded text is written, one a line (with `dimensions`).
    """

    points: tuple[Point, ...] = ()
    nth: int = 1
    act: Act = "kill"
    filled: str = ""
    slow: bool = False
    dimensions: int = 0
    constants: tuple[tuple[str, Any], ...] = ()
    once: str = ""
    heard: str = ""
    embedded: str = ""

    def environment(self) -> dict[str, str]:
        """For a process that is to be armed when it starts."""
        path = os.pathsep.join([str(ROOT / "tests" / "crash" / "site"), str(ROOT)])
        return {**os.environ, VARIABLE: json.dumps(asdict(self)), "PYTHONPATH": path}


def arm_from_environment() -> None:
    """Arm this process if the environment says so."""
    if text := os.environ.get(VARIABLE):
        raw = json.loads(text)
        raw["points"] = tuple(Point(**point) for point in raw["points"])
        arm(Plan(**raw))


def arm(plan: Plan) -> None:
    """Put the plan into force in this process."""
    counter = _Counter(plan)
    for point in plan.points:
        _replace(point.where, functools.partial(_wrapped, point=point, counter=counter))
    if plan.dimensions:
        _replace("companion_assets.backends.factory:open_embedder", lambda _: _embedder_opener(plan))
    for name, value in plan.constants:
        _replace(name, functools.partial(_instead, value))


class _Counter:
    """Counts the points that are reached, and strikes."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._reached = 0
        self._lock = threading.Lock()

    def reach(self, point: Point) -> None:
        plan = self._plan
        with self._lock:
            self._reached += 1
            if plan.heard:
                _append(plan.heard, [str(point)])
            if plan.slow:
                time.sleep(_PAUSE_SECONDS)
            if self._reached == plan.nth and not (plan.once and Path(plan.once).exists()):
                if plan.once:
                    Path(plan.once).touch()
                if plan.act == "kill":
                    _die()
                _fill_disk(Path(os.environ["COMPANION_HOME"]) / plan.filled)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def _fill_disk(folder: Path) -> None:
    """Leave no byte free on the disk of this folder; the file can be removed again."""
    with contextlib.suppress(OSError), (folder / "filler").open("wb", 0) as filler:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    filler.write(b"\0" * size)


def _instead(value: Any, _original: Any) -> Any:
    return value


def _wrapped(original: Callable[..., Any], *, point: Point, counter: _Counter) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*arguments: Any, **named: Any) -> Any:
        if not _is_about(point.text, [*arguments, *named.values()]):
            return original(*arguments, **named)
        if point.when == "before":
            counter.reach(point)
        with _watch(point, counter) if point.watched else contextlib.nullcontext():
            result = original(*arguments, **named)
        if isinstance(result, contextlib._GeneratorContextManager) and point.when != "before":
            return _around(result, point, counter)
        if point.when == "after" or (point.when == "within" and not point.watched):
            counter.reach(point)
        return result

    return call


@contextlib.contextmanager
def _around(manager: contextlib.AbstractContextManager[Any], point: Point, counter: _Counter) -> Iterator[Any]:
    with manager as value:
        yield value
        if point.when == "within":
            counter.reach(point)
    if point.when == "after":
        counter.reach(point)


@contextlib.contextmanager
def _watch(point: Point, counter: _Counter) -> Iterator[None]:
    """Reach the point when a file appears under the watched folder. Rust lets other threads run meanwhile."""
    folder = Path(os.environ["COMPANION_HOME"])
    before = set(folder.glob(point.watched))
    over = threading.Event()

    def look() -> None:
        while not over.is_set() and not set(folder.glob(point.watched)) - before:
            pass
        counter.reach(point)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _is_about(text: str, arguments: Sequence[Any]) -> bool:
    return not text or any(text in str(getattr(argument, "path", argument)) for argument in arguments)


def _embedder_opener(plan: Plan) -> Callable[..., Any]:
    from companion_assets.backends.fakes import HashEmbedder
    from companion_assets.backends.protocols import Vectors
    from companion_assets.stores.catalog_rows import text_sha

    class CountingEmbedder(HashEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if plan.embedded:
                _append(plan.embedded, [text_sha(text) for text in texts])
            return super().embed_passages(texts)

        def embed_query(self, text: str) -> Vectors:
            vector: Vectors = super().embed_passages([text])[0]
            return vector

    return lambda *_: CountingEmbedder(plan.dimensions)


def _append(file: str, lines: Sequence[str]) -> None:
    with Path(file).open("a", encoding="utf-8") as stream:
        stream.write("".join(f"{line}\n" for line in lines))


def _replace(where: str, make: Callable[[Any], Any]) -> None:
    """Put `make(original)` in the place of what is named: now if its module is imported, else when it is."""
    module_name, _, path = where.partition(":")
    if module_name in sys.modules:
        _put(sys.modules[module_name], path, make)
    else:
        _Importer.expect(module_name, lambda module: _put(module, path, make))


def _put(module: ModuleType, path: str, make: Callable[[Any], Any]) -> None:
    *owners, name = path.split(".")
    owner: Any = functools.reduce(getattr, owners, module)
    original = vars(owner).get(name) or getattr(owner, name)
    changed = make(original)
    if owners:
        return setattr(owner, name, changed)
    # Others may have imported the name already.
    for other in list(sys.modules.values()):
        if isinstance(other, ModuleType) and vars(other).get(name) is original:
            setattr(other, name, changed)
    return None


class _Importer(importlib.abc.MetaPathFinder):
    """Changes modules at the end of their import."""

    changes: ClassVar[dict[str, list[Callable[[ModuleType], None]]]] = {}

    @classmethod
    def expect(cls, name: str, change: Callable[[ModuleType], None]) -> None:
        if not cls.changes:
            sys.meta_path.insert(0, cls())
        cls.changes.setdefault(name, []).append(change)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            original = spec.loader.exec_module

            def execute(module: ModuleType) -> None:
                original(module)
                for change in self.changes[name]:
                    change(module)

            spec.loader.exec_module = execute  # type: ignore[method-assign]
        return spec
