"""Real processes that sync, and may die of it. They are forked from a server that has everything imported."""

import multiprocessing
import os
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from threading import Lock

from companion_assets.contracts.paths import MODEL_CACHE_VARIABLE, data_paths
from tests.crash.faulty import ROOT, Plan, arm

PRELOADED = ["tests.crash.preloaded"]
CONTEXT = multiprocessing.get_context("forkserver")
ENGINE_PROVIDER = "ollama"
KILLED = -signal.SIGKILL
_SECONDS = 120
# Starting a process also asks after the others; of two threads that ask after one, one gets a wrong answer.
_ONE_THREAD = Lock()


@dataclass(frozen=True, slots=True)
class Job:
    """One sync of a vault into a data root, or the upkeep of one.

    Attributes:
        command: What people run (`index`); "" is the same steps without Dagster, which takes a fifth of the time.
        folders: Only these; none is all of them. Without a command.
        name: Tells syncs of one data root apart.
    """

    home: Path
    vault: Path
    plan: Plan
    command: str = ""
    upkeep: bool = False
    folders: tuple[str, ...] = ()
    name: str = "sync"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit status (negative: the signal), and what it said."""

    status: int
    said: str


def settings_of(dimensions: int) -> dict[str, str]:
    """Variables that name an embedder of that many dimensions, as a person would who changes the settings."""
    name = "COMPANION_RAG__EMBEDDING__"
    return {f"{name}PROVIDER": ENGINE_PROVIDER, f"{name}MODEL": f"words-{dimensions}"}


def start_server() -> None:
    """Start the server, with the environment as it is now; a second call does nothing."""
    CONTEXT.set_forkserver_preload(PRELOADED)
    ensure_running()


def sync(job: Job) -> Ended:
    """Run a job in a process of its own and wait for its end."""
    log = job.home.parent / f"{job.home.name} {job.name}.log"
    process = CONTEXT.Process(target=_run, args=(job, log, str(ROOT)), daemon=True)
    with _ONE_THREAD:
        process.start()
    wait([process.sentinel], _SECONDS)
    with _ONE_THREAD:
        status = process.exitcode
    assert status is not None, "it hangs"
    return Ended(status, log.read_text(encoding="utf-8", errors="replace") if log.exists() else "")


def _run(job: Job, log: Path, root: str) -> None:
    _speak_into(log)
    for name in [name for name in os.environ if name.startswith("COMPANION_") and name != MODEL_CACHE_VARIABLE]:
        del os.environ[name]
    os.environ.update(COMPANION_HOME=str(job.home), COMPANION_VAULT__PATH=str(job.vault))
    if job.plan.dimensions:
        os.environ.update(settings_of(job.plan.dimensions))
    os.environ.pop("DAGSTER_HOME", None)
    os.chdir(root)
    arm(job.plan)
    if job.upkeep:
        _keep_up()
    elif job.command:
        _companion(job.command)
    else:
        _sync(job.folders)


def _speak_into(log: Path) -> None:
    handle = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    for number in (1, 2):
        os.dup2(handle, number)


def _sync(folders: tuple[str, ...]) -> None:
    from companion_assets.defs.resources import open_workspace, sync_turn
    from tests.crash.compare import do_steps

    with sync_turn(data_paths()), open_workspace() as work:
        do_steps(work, folders)


def _companion(command: str) -> None:
    from companion_app.cli import main

    sys.argv = ["companion", command]
    main()


def _keep_up() -> None:
    from companion_assets.defs.resources import open_workspace, sync_turn
    from companion_assets.stages import upkeep
    from companion_assets.stores.compaction import compact_database

    with sync_turn(data_paths()), open_workspace() as work:
        upkeep.compact_index(work)
        upkeep.forget_vectors(work)
    compact_database(data_paths().vectors_db)
