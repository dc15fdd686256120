"""The weekly upkeep: what piles up day by day is tidied, and the run says how much it was, before and after.

Four steps that need nothing of each other, so that one that fails holds up none; each may be killed and run again.
Those that touch the index take the turn of a sync. None of it is urgent: what cannot be done is left for next week.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg
from tzlocal import get_localzone_name

from companion_assets.contracts.paths import data_paths
from companion_assets.defs.maintenance.dead_runs import mark_run
from companion_assets.defs.maintenance.history import prune_history
from companion_assets.defs.resources import open_workspace, sync_turn
from companion_assets.defs.run_tags import FINISHED, IN_FLIGHT, REASON_TAG
from companion_assets.stages import upkeep
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.compaction import Compaction, compact_database

UPKEEP_JOB = "upkeep_job"

# The cache of vectors may hold gigabytes, and nobody but a sync, whose turn it is not, waits for it.
_SECONDS_TO_REWRITE = 30.0
_SECONDS_TO_REWRITE_TALK = 5.0


@dg.op
def compact_index(context: dg.OpExecutionContext) -> None:
    """Merge small files of the index and drop the versions that no reader can still be using."""
    with _no_sync_meanwhile(context) as work:
        done = upkeep.compact_index(work)
    _tell(context, _sizes(done.before, done.after), done.left)


@dg.op
def forget_vectors(context: dg.OpExecutionContext) -> None:
    """Forget vectors of texts that are in no note any more, and of embedders that were given up."""
    with _no_sync_meanwhile(context) as work:
        done = upkeep.forget_vectors(work)
    _tell(context, {"texts": done.texts, "vectors_of_other_embedders": done.embedders}, done.left)


@dg.op(ins={"forgotten": dg.In(dg.Nothing)})
def compact_databases(context: dg.OpExecutionContext) -> None:
    """Fold write-ahead logs into their files and rewrite files that are more than a quarter empty."""
    paths = data_paths()
    with _no_sync_meanwhile(context):
        done = {
            "catalog": compact_database(paths.catalog_db, seconds=_SECONDS_TO_REWRITE),
            "vectors": compact_database(paths.vectors_db, seconds=_SECONDS_TO_REWRITE),
        }
    done["conversations"] = compact_database(paths.companion_db, seconds=_SECONDS_TO_REWRITE_TALK)
    sizes = _sizes(sum(one.before for one in done.values()), sum(one.after for one in done.values()))
    left = "; ".join(f"{name}: {one.left}" for name, one in done.items() if one.left)
    _tell(context, {name: _in_words(one) for name, one in done.items()} | sizes, left)


@dg.op
def prune_run_log(context: dg.OpExecutionContext) -> None:
    """Delete old runs from Dagster's log, but none that made what is there now."""
    mark_run(context.instance, context.run_id)
    done = prune_history(context.instance)
    facts = {"runs_deleted": done.deleted, "runs_kept": done.kept, "orphans_deleted": done.orphans}
    left = "; ".join(f"{name}: {why}" for name, why in done.left.items())
    _tell(context, facts | _sizes(done.before, done.after), left)


@dg.job(name=UPKEEP_JOB, executor_def=dg.in_process_executor)
def upkeep_job() -> None:
    """Tidies the index, the cache of vectors, the databases and the run log."""
    compact_index()
    compact_databases(forgotten=forget_vectors())
    prune_run_log()


@dg.schedule(
    job=upkeep_job,
    cron_schedule="30 4 * * 0",
    execution_timezone=get_localzone_name(),
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def weekly_upkeep(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Sunday, 04:30 in the person's time zone; once, however many Sundays the machine was asleep."""
    at = context.scheduled_execution_time
    runs = dg.RunsFilter(job_name=UPKEEP_JOB, statuses=[*IN_FLIGHT, *FINISHED])
    newest = next(iter(context.instance.get_run_records(runs, limit=1)), None)
    if newest is not None and not newest.dagster_run.is_finished:
        return dg.SkipReason("it is waiting or running already")
    if newest is not None and newest.create_timestamp >= at:
        return dg.SkipReason("it has been done since then")
    return dg.RunRequest(run_key=f"upkeep:{at:%Y-%m-%d}", tags={REASON_TAG: "weekly"})


@contextmanager
def _no_sync_meanwhile(context: dg.OpExecutionContext) -> Iterator[Workspace]:
    """The workspace, while no sync has one."""
    mark_run(context.instance, context.run_id)
    with sync_turn(data_paths()), open_workspace(context.run_id) as work:
        yield work


def _sizes(before: int, after: int) -> dict[str, Any]:
    return {
        "bytes_before": before,
        "bytes_after": after,
        "freed": f"{(before - after) / 1e6:,.1f} MB of {before / 1e6:,.1f}",
    }


def _in_words(one: Compaction) -> str:
    return f"{one.before / 1e6:,.1f} MB → {one.after / 1e6:,.1f} MB"


def _tell(context: dg.OpExecutionContext, facts: Mapping[str, Any], left: str) -> None:
    """Figures where the run shows them, and why something was left as it is."""
    context.add_output_metadata({**facts, **({"left_as_it_is": left} if left else {})})
