"""The resident worker: executes runs of the fast lane, one at a time, with everything they need already loaded.

A process of its own for each run costs three seconds of imports and of loading the embedder before the first note is
read. Runs are executed in the main thread, as Dagster's interrupts demand; launchers are answered in another. When it
has executed many, or has grown, it ends between two runs and the supervisor starts it anew.
"""

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import count
from queue import SimpleQueue
from threading import Lock
from types import FrameType

import dagster as dg
import psutil
from filelock import FileLock

from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon import worker_link
from companion_assets.daemon.dagster_internals import execute_safely, interrupts_for_runs
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.launching import launch_folders
from companion_assets.daemon.watcher import watching
from companion_assets.defs.maintenance.dead_runs import mark_run
from companion_assets.defs.warm_embedder import WarmEmbedder, kept_warm
from companion_assets.stages.plots import plot_counts
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.settings_file import load_settings

log = logging.getLogger("companion_assets.daemon.worker")

_RUNS = 1000
_GROWTH = 2.0
_SECONDS_FOR_THE_EARLIER = 15.0


class Worker:
    """Executes the runs that launchers hand over.

    Args:
        instance: The run log.
        definitions: Where the jobs of runs are found.
        runs: After so many it ends.
        growth: It ends when it holds so many times the memory it held after its first run.
    """

    def __init__(
        self, instance: dg.DagsterInstance, definitions: dg.Definitions, *, runs: int = _RUNS, growth: float = _GROWTH
    ) -> None:
        self._instance = instance
        self._definitions = definitions
        self._runs = runs
        self._growth = growth
        self._lock = Lock()
        self._turns: SimpleQueue[str] = SimpleQueue()
        self._current = ""
        self._leaving = False

    def current(self) -> str:
        """The run that is executed or accepted; "" if the worker is free."""
        return "leaving" if self._leaving else self._current

    def accept(self, run_id: str) -> bool:
        """Keep the next turn for a run, and mark it; False if there is one already."""
        with self._lock:
            if self._current or self._leaving:
                return False
            self._current = run_id
        marked = False
        try:
            if self._instance.has_run(run_id):
                mark_run(self._instance, run_id)
                marked = True
        finally:
            if not marked:
                self._current = ""
        return marked

    def confirm(self, run_id: str, *, wanted: bool) -> None:
        """Execute the accepted run, or forget it."""
        if wanted:
            self._turns.put(run_id)
        else:
            self._current = ""

    def interrupt(self, run_id: str) -> bool:
        """End the run if it is the one that is executed."""
        with self._lock:
            if self._current != run_id:
                return False
            os.kill(os.getpid(), signal.SIGINT)
            return True

    def serve(self) -> None:
        """Execute runs until it is time to begin anew, or a signal says so. Main thread only."""
        with _told_to_end() as told:
            self._execute(self._turns.get())
            limit = self._growth * _memory()
            for done in count(1):
                if told() or self._may_leave(done >= self._runs or _memory() > limit):
                    log.info("ended after %d runs, with %d MB", done, _memory() // 2**20)
                    return
                self._execute(self._turns.get())

    def _execute(self, run_id: str) -> None:
        with interrupts_for_runs():
            try:
                if (run := self._instance.get_run_by_id(run_id)) is not None:
                    execute_safely(self._instance, self._definitions, run)
            except Exception:
                log.exception("run %s", run_id)  # the run log itself cannot be used; whoever comes next tidies
            finally:
                with self._lock:
                    self._current = ""

    def _may_leave(self, wanted: bool) -> bool:
        """Nothing more is accepted once this is true."""
        with self._lock:
            self._leaving = wanted and not self._current
            return self._leaving


@contextmanager
def _told_to_end() -> Iterator[Callable[[], bool]]:
    """Between runs SIGTERM ends this process at once, and SIGINT, which comes too late for its run, does nothing.

    While a run is executed Dagster takes both for the end of that run and nobody hears which it was, so they are
    noted on the side. Yields whether SIGTERM has come.
    """

    def between_runs(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            raise SystemExit(0)

    here, there = socket.socketpair()
    here.setblocking(False)
    there.setblocking(False)
    # One function for both: after a run Dagster sets SIGTERM to what SIGINT was.
    before = {number: signal.signal(number, between_runs) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)

    def told() -> bool:
        with suppress(BlockingIOError):
            return signal.SIGTERM in here.recv(4096)
        return False

    with here, there:
        try:
            yield told
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)


def _is_over(instance: dg.DagsterInstance, run_id: str) -> bool:
    run = instance.get_run_by_id(run_id)
    return run is None or run.is_finished


def _memory() -> int:
    """Bytes this process holds."""
    return int(psutil.Process().memory_info().rss)


def _warm_up(paths: DataPaths, embedder: WarmEmbedder) -> None:
    """Load now what the first run would load. Whatever cannot be used is for that run to say."""
    try:
        plot_counts({}, (0, 0))
        embedder.lend(load_settings().settings.rag.embedding).embed_query("warm")
        ChunkIndex.open(paths)
    except CompanionError as fault:
        log.info("not all is warm: %s", fault)
    except Exception:
        log.exception("not all is warm")


def main(module: str) -> int:
    """Serve one data root until told to end.

    Args:
        module: Where Dagster finds its definitions, as `defs`.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("companion_assets").setLevel(logging.INFO)
    paths = data_paths()
    with ExitStack() as opened:
        paths.locks_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened.enter_context(FileLock(paths.locks_dir / "worker.lock", mode=0o600, timeout=_SECONDS_FOR_THE_EARLIER))
        instance = opened.enter_context(open_instance(paths))
        worker = Worker(instance, import_module(module).defs)
        _warm_up(paths, opened.enter_context(kept_warm()))
        opened.enter_context(worker_link.listening(paths, worker))
        launch = partial(launch_folders, paths, reason="watcher")
        opened.enter_context(watching(paths, launch, partial(_is_over, instance)))
        log.info("ready, with %d MB", _memory() // 2**20)
        worker.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
