"""Dagster's own scheduler, with its clock in our hands: nothing old fires, and a long sleep costs one run (B84)."""

import datetime as dt
import logging
from collections import Counter
from collections.abc import Iterator

import dagster as dg
import pytest
from dagster._core.test_utils import create_test_daemon_workspace_context, freeze_time
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget
from dagster._scheduler.scheduler import launch_scheduled_runs

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import LOCATION, open_instance

MONDAY = dt.datetime(2031, 3, 3, 12, 17, tzinfo=dt.UTC)  # in no time zone is that 03:00 or 04:30
target = ModuleTarget("companion_assets.definitions", None, None, LOCATION)


@pytest.fixture
def services(synced: DataPaths) -> Iterator[WorkspaceProcessContext]:
    with open_instance(synced) as instance, create_test_daemon_workspace_context(target, instance) as context:
        yield context


def scheduler_wakes(services: WorkspaceProcessContext, at: dt.datetime) -> None:
    """One look of the daemon, that remembers nothing but what is in its database: it has been started anew."""
    with freeze_time(at):
        faults = list(
            launch_scheduled_runs(
                services,
                logging.getLogger("test"),
                at,
                iteration_times={},
                scheduler_run_futures={},
                max_catchup_runs=5,
                max_tick_retries=0,
            )
        )
    assert not any(faults)


def runs(instance: dg.DagsterInstance) -> Counter[str]:
    return Counter(run.tags["companion/reason"] for run in instance.get_runs() if "dagster/schedule_name" in run.tags)


def switch(services: WorkspaceProcessContext, name: str, on: bool, at: dt.datetime) -> None:
    with freeze_time(at):
        location = services.create_request_context().get_code_location(LOCATION)
        schedule = location.get_repository("__repository__").get_schedule(name)
        if on:
            services.instance.start_schedule(schedule)
        else:
            services.instance.stop_schedule(schedule.get_remote_origin_id(), schedule.selector_id, schedule)


def test_a_sleep_costs_one_run_and_switching_off_and_on_none(services: WorkspaceProcessContext) -> None:
    instance = services.instance
    scheduler_wakes(services, MONDAY)
    assert runs(instance) == {}, "the first day begins now"
    scheduler_wakes(services, MONDAY + dt.timedelta(days=1))
    assert runs(instance) == {"daily": 1}
    scheduler_wakes(services, MONDAY + dt.timedelta(days=18))
    assert runs(instance) == {"daily": 2, "weekly": 1}
    switch(services, "daily_sync", False, MONDAY + dt.timedelta(days=18, hours=1))
    switch(services, "daily_sync", True, MONDAY + dt.timedelta(days=25))
    scheduler_wakes(services, MONDAY + dt.timedelta(days=25, minutes=1))
    assert runs(instance)["daily"] == 2
    scheduler_wakes(services, MONDAY + dt.timedelta(days=26))
    assert runs(instance)["daily"] == 3
