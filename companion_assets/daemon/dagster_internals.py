"""Everything we use of Dagster that it does not promise to keep: the only module that imports its private names.

The minor version is pinned in `pyproject.toml`; `tests/daemon` holds this surface against a real daemon. Used are the
launcher's and the queue's own words, how an existing run is executed in this process, and how the UI finds the job of
a run again.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.errors import DagsterExecutionInterruptedError
from dagster._core.events import EngineEventData
from dagster._core.execution.api import execute_run
from dagster._core.instance import DagsterInstance
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.run_coordinator import QueuedRunCoordinator, SubmitRunContext
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value
from dagster._utils.error import serializable_error_info_from_exc_info
from dagster._utils.interrupts import capture_interrupts

__all__ = [
    "DAEMON_MODULE",
    "REPOSITORY",
    "CheckRunHealthResult",
    "DagsterInstance",
    "LaunchRunContext",
    "QueuedRunCoordinator",
    "SubmitRunContext",
    "WorkerStatus",
    "create_run",
    "execute_here",
    "execute_safely",
    "faults_of",
    "interrupts_for_runs",
    "is_run_by_code_server",
    "was_interrupted",
]

REPOSITORY = "__repository__"
DAEMON_MODULE = "dagster._daemon"
_ANSWER_SECONDS = 5
_NOT_BEGUN = (dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING)


def create_run(
    instance: dg.DagsterInstance,
    job: dg.JobDefinition,
    location: str,
    *,
    tags: Mapping[str, str],
    run_config: Mapping[str, Any],
) -> dg.DagsterRun:
    """A run that Dagster's page can execute again, as if it had been launched there.

    Args:
        instance: The run log.
        job: What is to be run.
        location: The code location the page knows the job under.
        tags: Of the run.
        run_config: Of the run.
    """
    origin = RemoteJobOrigin(RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(location), REPOSITORY), job.name)
    return instance.create_run_for_job(job, tags=dict(tags), run_config=dict(run_config), remote_job_origin=origin)


def execute_here(instance: dg.DagsterInstance, job: dg.JobDefinition, run: dg.DagsterRun) -> None:
    """Execute an existing run in this process; how it ended is in the run log."""
    execute_run(InMemoryJob(job), run, instance)


def execute_safely(instance: dg.DagsterInstance, definitions: dg.Definitions, run: dg.DagsterRun) -> None:
    """Execute an existing run in this process, whatever it is of; nothing it does is raised, and it always ends.

    Args:
        instance: The run log.
        definitions: Where its job is found, the implicit one of Dagster's page included.
        run: Of which assets is in the run itself.
    """
    try:
        if run.status in _NOT_BEGUN:  # it may have been ended from Dagster's page meanwhile
            execute_here(instance, definitions.resolve_job_def(run.job_name), run)
    except (Exception, DagsterExecutionInterruptedError, KeyboardInterrupt):  # noqa: BLE001 -- written to the run log
        error = serializable_error_info_from_exc_info(sys.exc_info())
        instance.report_engine_event("The run could not be executed.", run, EngineEventData.engine_error(error))
    ended = instance.get_run_by_id(run.run_id)
    if ended is None or ended.is_finished:
        return
    if ended.status is dg.DagsterRunStatus.CANCELING:
        instance.report_run_canceled(ended)
    else:
        instance.report_run_failed(ended)


@contextmanager
def interrupts_for_runs() -> Iterator[None]:
    """Within, SIGINT and SIGTERM end the run that is executed, and never what surrounds it.

    One that comes before the run has begun ends it as it begins. Main thread only.
    """
    with capture_interrupts():
        yield


def faults_of(instance: dg.DagsterInstance, run_id: str) -> Iterator[list[Any]]:
    """Dagster's errors of the failed steps, then of the run: each with its causes, the innermost last."""
    for kind in (dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE):
        for entry in instance.all_logs(run_id, of_type=kind):
            event = entry.dagster_event
            error: Any = getattr(event.event_specific_data, "error", None) if event else None
            chain = []
            while error is not None:
                chain.append(error)
                error = error.cause
            if chain:
                yield chain


def was_interrupted(instance: dg.DagsterInstance, run_id: str) -> bool:
    """A signal ended the run. Dagster takes that for a failed step."""
    name = DagsterExecutionInterruptedError.__name__
    return any(chain[-1].cls_name == name for chain in faults_of(instance, run_id))


def is_run_by_code_server(launcher: Any, run_id: str) -> bool | None:
    """Whether the process that the code server started for a run is there; None if it was not asked for one.

    Args:
        launcher: A `DefaultRunLauncher`, whose methods have no types.
        run_id: An unfinished run.
    """
    client = launcher._get_grpc_client_for_termination(run_id)
    if client is None:
        return None
    try:
        answer = client.can_cancel_execution(CanCancelExecutionRequest(run_id=run_id), timeout=_ANSWER_SECONDS)
        return bool(deserialize_value(answer, CanCancelExecutionResult).can_cancel)
    except dg.DagsterError:  # it is gone, and its processes with it
        return False
