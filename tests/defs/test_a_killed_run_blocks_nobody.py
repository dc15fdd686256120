"""A run whose process was killed stays STARTED for Dagster, with its place in the pool; whoever comes next tidies."""

import subprocess
import sys

import dagster as dg
import psutil

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import open_instance
from companion_assets.definitions import defs
from companion_assets.defs.knowledge.assets import LANCE_WRITER
from companion_assets.defs.knowledge.jobs import sync_job
from companion_assets.defs.knowledge.sensor import vault_changes
from companion_assets.defs.maintenance.dead_runs import PROCESS_TAG, fail_dead_runs, mark_run
from companion_assets.defs.resources import KnowledgeResource
from companion_assets.stores.process_mark import ProcessMark
from tests.defs.conftest import sync


def started_run(instance: dg.DagsterInstance) -> str:
    """A run in the middle of its last step, holding its place in the pool."""
    run = instance.create_run_for_job(defs.resolve_job_def(sync_job.name), status=dg.DagsterRunStatus.STARTED)
    claim = instance.event_log_storage.claim_concurrency_slot(LANCE_WRITER, run.run_id, "vault_index")
    assert claim.is_claimed
    return str(run.run_id)


def ended_process() -> ProcessMark:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        mark = ProcessMark(process.pid, psutil.Process(process.pid).create_time())
        assert mark.is_alive
        process.kill()
    assert not mark.is_alive
    return mark


def status_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def test_the_next_sync_marks_it_failed_and_takes_its_place(synced: DataPaths) -> None:
    with open_instance(synced) as instance:
        run_id, mark = started_run(instance), ended_process()
        instance.add_run_tags(run_id, {PROCESS_TAG: f"{run_id} {mark.pid} {mark.started}"})
    sync(synced)
    with open_instance(synced) as instance:
        assert status_of(instance, run_id) is dg.DagsterRunStatus.FAILURE
        assert instance.event_log_storage.get_concurrency_info(LANCE_WRITER).claimed_slots == []


def test_a_place_that_a_failed_run_still_holds_is_freed(synced: DataPaths) -> None:
    with open_instance(synced) as instance:
        run_id = started_run(instance)
        instance.report_run_failed(instance.get_run_by_id(run_id), "killed")
    sync(synced)


def test_a_run_that_lives_is_left_alone(synced: DataPaths) -> None:
    with open_instance(synced) as instance:
        run_id = started_run(instance)
        mark_run(instance, run_id)
        assert fail_dead_runs(instance) == []
        assert status_of(instance, run_id) is dg.DagsterRunStatus.STARTED
        assert len(instance.event_log_storage.get_concurrency_info(LANCE_WRITER).claimed_slots) == 1


def test_a_run_that_has_just_begun_or_inherited_a_mark_is_given_time(synced: DataPaths) -> None:
    with open_instance(synced) as instance:
        fresh, mark = started_run(instance), ended_process()
        run = instance.create_run_for_job(defs.resolve_job_def(sync_job.name), status=dg.DagsterRunStatus.STARTING)
        instance.add_run_tags(run.run_id, {PROCESS_TAG: f"{fresh} {mark.pid} {mark.started}"})
        assert fail_dead_runs(instance) == []


def test_the_sensor_waits_for_a_sync_that_runs(synced: DataPaths) -> None:
    with open_instance(synced) as instance:
        mark_run(instance, started_run(instance))
        with dg.build_sensor_context(instance=instance, resources={"knowledge": KnowledgeResource()}) as context:
            result = vault_changes(context)
    assert isinstance(result, dg.SensorResult)
    assert not result.run_requests
    assert "running" in str(result.skip_reason)
