"""Runs whose process was killed: Dagster would show them as running, and keep their place in the pool, for ever.

The stock launcher cannot tell whether a run's process lives, and a run of the terminal has no launcher at all. So each
run writes down its process when it begins, and whoever starts something afterwards looks whether it is still there.
"""

import time
from collections.abc import Iterator

import dagster as dg

from companion_assets.stores.process_mark import ProcessMark

PROCESS_TAG = "companion/process"

# Between its creation and its mark a run takes some seconds: Dagster starts a process and imports our code.
_SECONDS_WITHOUT_MARK = 120.0
_UNFINISHED = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def mark_run(instance: dg.DagsterInstance, run_id: str) -> None:
    """Write down that this process executes the run."""
    own = ProcessMark.own()
    # With the run's id: a re-execution inherits the tags of its parent, but not its process.
    instance.add_run_tags(run_id, {PROCESS_TAG: f"{run_id} {own.pid} {own.started:.2f}"})


def fail_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs whose process has ended as failed and free what they held.

    Returns:
        The ids of the runs that were marked.
    """
    dead = []
    for record in instance.get_run_records(dg.RunsFilter(statuses=_UNFINISHED)):
        if not may_live(record):
            instance.report_run_failed(record.dagster_run, "the process of this run has ended: killed, or power loss")
            dead.append(record.dagster_run.run_id)
    log = instance.event_log_storage
    for run_id in set(_slot_holders(instance)):
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            log.free_concurrency_slots_for_run(run_id)
    return dead


def process_of(run: dg.DagsterRun) -> ProcessMark | None:
    """The process that executes a run; None before it has marked it."""
    owner, _, mark = run.tags.get(PROCESS_TAG, "").partition(" ")
    if owner != run.run_id:
        return None
    pid, started = mark.split()
    return ProcessMark(int(pid), float(started))


def may_live(record: dg.RunRecord) -> bool:
    """False when the process of a run has ended, or none has shown up for so long that none will."""
    if (process := process_of(record.dagster_run)) is not None:
        return process.is_alive
    return time.time() - record.update_timestamp.timestamp() < _SECONDS_WITHOUT_MARK


def _slot_holders(instance: dg.DagsterInstance) -> Iterator[str]:
    """Runs that hold or wait for a place in any pool."""
    log = instance.event_log_storage
    for pool in log.get_concurrency_keys():
        info = log.get_concurrency_info(pool)
        yield from (slot.run_id for slot in info.claimed_slots)
        yield from (step.run_id for step in info.pending_steps)
