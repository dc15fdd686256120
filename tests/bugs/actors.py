"""Everybody who may work with one run log at the same time, each in a process of its own."""

import datetime as dt
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon import launching
from companion_assets.daemon.dagster_internals import create_run, execute_safely
from companion_assets.daemon.instance import LOCATION, open_instance
from companion_assets.definitions import defs
from companion_assets.defs import warm_embedder
from companion_assets.defs.run_tags import FAST_LANE, LANE_TAG, REASON_TAG
from companion_assets.stores.chat_log import ChatLog

PARTITION = "dagster/partition"
_QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}


@dataclass(frozen=True)
class Place:
    """Where all of them work.

    Attributes:
        log: A folder; each writes what it says to a file of its own.
        over: A file that appears when those who only look may stop.
    """

    home: Path
    vault: Path
    log: Path
    over: Path

    @contextmanager
    def entered(self, name: str) -> Iterator[DataPaths]:
        """As that actor: its environment, its output, an embedder without a model."""
        os.environ.update(COMPANION_HOME=str(self.home), COMPANION_VAULT__PATH=str(self.vault))
        handle = os.open(self.log / name, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        for number in (1, 2):
            os.dup2(handle, number)
        warm_embedder.open_embedder = lambda _: HashEmbedder()
        yield data_paths()


def sensor(place: Place, times: int) -> None:
    """Dagster's daemon, that evaluates the sensor, and the runs it asks for, each in this process."""
    from tests.defs.daemon import Daemon

    with place.entered("sensor") as paths, open_instance(paths) as instance:
        daemon = Daemon(instance)
        for _ in range(times):
            for request in daemon.tick().run_requests or []:
                key = {PARTITION: request.partition_key} if request.partition_key else {}
                _execute(instance, {**request.tags, **key})


def schedule(place: Place) -> None:
    """The daily schedule, at its hour."""
    from tests.defs.daemon import Daemon

    with place.entered("schedule") as paths, open_instance(paths) as instance:
        request = Daemon(instance).at(dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
        assert isinstance(request, dg.RunRequest)
        _execute(instance, request.tags)


def person(place: Place, times: int) -> None:
    """`companion sync`, again and again."""
    with place.entered("person") as paths:
        for _ in range(times):
            result = launching.run_sync(paths, defs, reason="companion sync")
            assert result.success, result.failure


def worker(place: Place, folders: list[str]) -> None:
    """The resident worker: a run for one folder after the other."""
    with place.entered("worker") as paths, open_instance(paths) as instance:
        for folder in folders:
            _execute(instance, {PARTITION: folder, REASON_TAG: "watcher", LANE_TAG: FAST_LANE})


def onlooker(place: Place) -> int:
    """Dagster's page, and somebody who chats; returns how often they looked."""
    looks = 0
    with place.entered("onlooker") as paths, open_instance(paths) as instance:
        chats = ChatLog(paths.companion_db)
        while not place.over.exists() or not looks:
            for run in instance.get_runs(limit=10):
                instance.all_logs(run.run_id)
            instance.get_materialized_partitions(dg.AssetKey("vault_index"))
            instance.get_latest_materialization_event(dg.AssetKey("notes"))
            chats.create_session()
            looks += 1
            time.sleep(0.1)
    return looks


def _execute(instance: dg.DagsterInstance, tags: Mapping[str, str]) -> None:
    run = create_run(instance, defs.resolve_job_def("sync_job"), LOCATION, tags=tags, run_config=_QUIET)
    execute_safely(instance, defs, run)
