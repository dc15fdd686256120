"""What Dagster's daemon does with the answers of sensors and schedules, without its clock."""

import datetime as dt
import sqlite3
from types import SimpleNamespace
from typing import Any

import dagster as dg

from companion_assets.contracts.paths import DataPaths
from companion_assets.definitions import defs
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS
from companion_assets.defs.knowledge.schedules import daily_sync
from companion_assets.defs.knowledge.sensor import vault_changes
from companion_assets.defs.resources import KnowledgeResource


class Daemon:
    """Keeps the sensor's cursor from tick to tick and applies its partition requests, in the daemon's order."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.cursor: str | None = None

    def tick(self) -> dg.SensorResult:
        resources = {"knowledge": KnowledgeResource()}
        with dg.build_sensor_context(instance=self.instance, cursor=self.cursor, resources=resources) as context:
            result = vault_changes(context)
        assert isinstance(result, dg.SensorResult)
        requests = result.dynamic_partitions_requests or []
        deletes = [request for request in requests if isinstance(request, dg.DeleteDynamicPartitionsRequest)]
        assert not (deletes and result.run_requests), "a run of the same tick could name the partition"
        for request in requests:
            if isinstance(request, dg.AddDynamicPartitionsRequest):
                self.instance.add_dynamic_partitions(VAULT_FOLDERS, list(request.partition_keys))
            else:
                for key in request.partition_keys:
                    self.instance.delete_dynamic_partition(VAULT_FOLDERS, key)
        self.cursor = result.cursor or self.cursor
        return result

    def keys(self) -> list[str]:
        """The run keys of a tick."""
        return [str(request.run_key) for request in self.tick().run_requests or []]

    def reason(self) -> str:
        """Why a tick asked for nothing."""
        result = self.tick()
        assert not result.run_requests
        return str(result.skip_reason)

    def at(self, moment: dt.datetime) -> dg.RunRequest | dg.SkipReason:
        """What the daily schedule answers."""
        resources = {"knowledge": KnowledgeResource()}
        with dg.build_schedule_context(
            instance=self.instance, scheduled_execution_time=moment, resources=resources
        ) as context:
            answer = daily_sync(context)
        assert isinstance(answer, dg.RunRequest | dg.SkipReason)
        return answer

    def partitions(self) -> list[str]:
        return list(self.instance.get_dynamic_partitions(VAULT_FOLDERS))


def clock_ahead(by: dt.timedelta) -> Any:
    """Stands for the module `datetime`, with a clock that is ahead."""

    class Ahead(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> "Ahead":
            return super().now(tz) + by

    return SimpleNamespace(datetime=Ahead, timedelta=dt.timedelta, UTC=dt.UTC)


def put_run(
    instance: dg.DagsterInstance,
    tags: dict[str, str],
    status: dg.DagsterRunStatus = dg.DagsterRunStatus.SUCCESS,
    job: str = "sync_job",
) -> str:
    """A run in the log, with nothing in it."""
    return str(instance.create_run_for_job(defs.resolve_job_def(job), tags=tags, status=status).run_id)


def make_older(paths: DataPaths, age: dt.timedelta, run_id: str | None = None) -> None:
    """As if runs (one, or all) had been created so much earlier."""
    query = "UPDATE runs SET create_timestamp = datetime(create_timestamp, ?) WHERE run_id = coalesce(?, run_id)"
    with sqlite3.connect(paths.dagster_home / "history" / "runs.db") as connection:
        connection.execute(query, (f"-{age.total_seconds():.0f} seconds", run_id))
