"""Where a run goes: to the resident worker, or to a process of its own. Named in `dagster.yaml`.

Runs of the fast lane (a saved note, a sync someone waits for) are executed by the worker, which has everything loaded;
if it is not there, is at another run or does not answer, they are executed as every other run is. Both classes are
loaded by each of Dagster's processes.
"""

from pathlib import Path
from typing import Any

import dagster as dg

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon import worker_link
from companion_assets.daemon.dagster_internals import (
    CheckRunHealthResult,
    DagsterInstance,
    LaunchRunContext,
    QueuedRunCoordinator,
    SubmitRunContext,
    WorkerStatus,
    is_run_by_code_server,
)
from companion_assets.defs.maintenance.dead_runs import may_live, process_of
from companion_assets.defs.run_tags import FAST_LANE, LANE_TAG


class LocalRunCoordinator(QueuedRunCoordinator[DagsterInstance]):
    """Dagster's queue, which a run of the fast lane does not enter when the worker is free.

    There is nothing it would wait for, and the queue is looked at once a second only.
    """

    def submit_run(self, context: SubmitRunContext) -> dg.DagsterRun:
        """Queue the run, or launch it at once."""
        run = context.dagster_run
        if _is_fast(run) and worker_link.current_run(_paths(self._instance)) == "":
            self._instance.launch_run(run.run_id, context.workspace)
            return self._instance.get_run_by_id(run.run_id) or run
        return super().submit_run(context)


class LocalRunLauncher(dg.DefaultRunLauncher):
    """Dagster's launcher of processes, which knows the worker, and whether a run's process is still there."""

    def launch_run(self, context: LaunchRunContext) -> None:
        """Hand the run to the worker, else start a process."""
        run = context.dagster_run
        if not (_is_fast(run) and worker_link.offer_run(_paths(self._instance), run.run_id)):
            super().launch_run(context)

    def terminate(self, run_id: str) -> bool:
        """End a run; the worker goes on to the next."""
        paths = _paths(self._instance)
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or worker_link.current_run(paths) != run_id:
            stock: Any = super()
            return bool(stock.terminate(run_id))
        self._instance.report_run_canceling(run)
        return worker_link.interrupt_run(paths, run_id)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Unlike Dagster's own, which leaves a killed run as running for ever."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the process of a started run lives."""
        record = self._instance.get_run_record_by_id(run.run_id)
        lives = record is not None and may_live(record)
        if process_of(run) is None and (told := is_run_by_code_server(self, run.run_id)) is not None:
            lives = told
        if lives:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, "the process of this run has ended: killed, or power loss")


def _is_fast(run: dg.DagsterRun) -> bool:
    return run.tags.get(LANE_TAG) == FAST_LANE


def _paths(instance: dg.DagsterInstance) -> DataPaths:
    """The data root the instance lies in: only its own worker reads the same run log."""
    return DataPaths(Path(instance.root_directory).parent)
