"""Dagster's instance under the data root: one run log for terminal, page, sensor and Dagster's own UI."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import dagster as dg
from filelock import FileLock

from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.data_root import prepare_data_root

LOCATION = "companion"


def prepare_dagster_home(paths: DataPaths) -> Path:
    """Create the instance folder with our settings; a file the person changed is kept.

    Raises:
        StoreError: The folder cannot be written.
    """
    prepare_data_root(paths, None)
    home = paths.dagster_home
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        target = home / "dagster.yaml"
        if not target.exists():
            template = files("companion_assets.daemon") / "dagster.yaml"
            partial = target.with_suffix(f".{os.getpid()}")
            partial.write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
            shutil.move(partial, target)
    except OSError as fault:
        raise StoreError(f"{home} cannot be written: {fault.strerror}", "check the disk and its permissions") from fault
    return home


@contextmanager
def open_instance(paths: DataPaths) -> Iterator[dg.DagsterInstance]:
    """The instance, with `DAGSTER_HOME` set for everything this process starts, and this machine spoken to directly.

    Raises:
        StoreError: The folder cannot be written, or its `dagster.yaml` cannot be read.
    """
    home = prepare_dagster_home(paths)
    os.environ["DAGSTER_HOME"] = str(home)
    _pass_proxies_by()
    try:
        instance = _open(paths, home)
    except dg.DagsterError as fault:
        raise StoreError(f"{home / 'dagster.yaml'} cannot be used: {fault}", "remove it; it is written anew") from fault
    with instance:
        yield instance


def _pass_proxies_by() -> None:
    """Dagster's clients (GraphQL, gRPC) would send what is meant for this machine to a proxy of the environment."""
    for name in ("no_proxy", "NO_PROXY"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host.strip()]
        os.environ[name] = ",".join(dict.fromkeys([*hosts, "127.0.0.1", "localhost"]))


def _open(paths: DataPaths, home: Path) -> dg.DagsterInstance:
    """Dagster makes its tables on first use, and two processes that do so at once stumble over each other."""
    paths.locks_dir.mkdir(mode=0o700, exist_ok=True)
    with FileLock(paths.locks_dir / "dagster.lock", mode=0o600):
        instance = dg.DagsterInstance.from_config(str(home))
        for store in ("run_storage", "event_log_storage", "schedule_storage"):
            getattr(instance, store)
        return instance
