"""Dagster's instance under the data root: one run log for terminal, page, sensor and Dagster's own UI."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import dagster as dg
from filelock import FileLock

from companion_assets.contracts.errors import StoreError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.data_root import prepare_data_root

LOCATION = "companion"

_BEFORE_WE_KEPT_HASHES = ("5124547200376b453a916d208f32895cefbd74984bd6c2b7829847853fb6e9b7",)


def prepare_dagster_home(paths: DataPaths) -> Path:
    """Create the instance folder with our settings. A file the person changed is kept, an older one of ours renewed.

    Raises:
        StoreError: The folder cannot be written.
    """
    prepare_data_root(paths, None)
    home = paths.dagster_home
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        _renew(home / "dagster.yaml", home / ".dagster.yaml.written", _template().read_bytes())
    except OSError as fault:
        raise StoreError(f"{home} cannot be written: {fault.strerror}", "check the disk and its permissions") from fault
    return home


def _renew(target: Path, written: Path, template: bytes) -> None:
    """Write the template where there is nothing, or something we wrote ourselves.

    Args:
        target: The file.
        written: Hashes of all that was ever written there by us, one a line.
        template: What it should hold.
    """
    found = target.read_bytes() if target.exists() else None
    if found == template:
        return
    ours = {*_BEFORE_WE_KEPT_HASHES, *(written.read_text(encoding="ascii").split() if written.exists() else ())}
    if found is not None and _sha(found) not in ours:
        return
    # First the note, then the file: killed between the two, the next start knows the old file for ours.
    with written.open("a", encoding="ascii") as notes:
        notes.write(f"{_sha(template)}\n")
    partial = target.with_suffix(f".{os.getpid()}")
    partial.write_bytes(template)
    partial.replace(target)


def _template() -> Traversable:
    return files("companion_assets.daemon") / "dagster.yaml"


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
