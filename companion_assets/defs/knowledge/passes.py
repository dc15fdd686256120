"""Passes: runs over every folder, so often as the settings say, whatever else ran in between.

At 1440 minutes, a pass is the daily schedule. With a smaller interval the sensor asks for more of them in between;
with a greater one the schedule leaves days out. Both look at the run log, so that any run over every folder counts,
and after a sleep there is one to catch up with, not one for every day.
"""

import datetime as dt

import dagster as dg

from companion_assets.defs.run_tags import ALL_FOLDERS, FINISHED, IN_FLIGHT, SCOPE_TAG

DAY = dt.timedelta(days=1)


def newest_pass(instance: dg.DagsterInstance, *, failed_too: bool = False) -> dg.RunRecord | None:
    """The last run over every folder; one that failed counts only where that is asked for."""
    statuses = [*IN_FLIGHT, *FINISHED] if failed_too else [*IN_FLIGHT, dg.DagsterRunStatus.SUCCESS]
    passes = instance.get_run_records(dg.RunsFilter(tags={SCOPE_TAG: ALL_FOLDERS}, statuses=statuses), limit=1)
    return passes[0] if passes else None


def is_due(instance: dg.DagsterInstance, interval: dt.timedelta, now: dt.datetime) -> bool:
    """A pass between two daily ones is due: the interval is shorter than a day, and none has begun for so long."""
    if interval >= DAY:
        return False
    newest = newest_pass(instance)
    return newest is None or now - newest.create_timestamp >= interval


def reason_to_wait(instance: dg.DagsterInstance, interval: dt.timedelta, at: dt.datetime) -> str | None:
    """Why the daily tick of this moment asks for nothing; None if it does.

    Args:
        instance: Its run log is asked.
        interval: Between two passes. Of two ticks the one that is nearer to the due moment is taken.
        at: When the tick was due; it may be evaluated much later, after a sleep, and several at once.
    """
    begun = newest_pass(instance, failed_too=True)
    if begun is not None and begun.create_timestamp >= at:
        return "a pass over every folder has begun since then"
    newest = newest_pass(instance)
    if interval <= DAY or newest is None or at - newest.create_timestamp >= interval - DAY / 2:
        return None
    due = (newest.create_timestamp + interval).astimezone(at.tzinfo)
    return (
        f"a pass over every folder is due every {interval / DAY:.3g} days "
        f"(vault.indexing.auto_sync_interval_minutes); the next around {due:%Y-%m-%d %H:%M}"
    )
