"""What runs at an hour of the day."""

import datetime as dt

import dagster as dg
from tzlocal import get_localzone_name

from companion_assets.contracts.errors import CompanionError
from companion_assets.defs.knowledge.jobs import is_syncing, sync_job
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS, covering_tags, plan_folders, register
from companion_assets.defs.knowledge.passes import reason_to_wait
from companion_assets.defs.knowledge.sensor import SWITCHED_OFF
from companion_assets.defs.resources import KnowledgeResource
from companion_assets.defs.run_tags import REASON_TAG


@dg.schedule(
    job=sync_job,
    cron_schedule="0 3 * * *",
    execution_timezone=get_localzone_name(),
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def daily_sync(context: dg.ScheduleEvaluationContext, knowledge: KnowledgeResource) -> dg.RunRequest | dg.SkipReason:
    """03:00 in the person's time zone: a sync of every folder, for whatever everybody else has missed."""
    work, instance, at = knowledge.workspace, context.instance, context.scheduled_execution_time
    if not work.vault.indexing.auto_sync:
        return dg.SkipReason(SWITCHED_OFF)
    interval = dt.timedelta(minutes=work.vault.indexing.auto_sync_interval_minutes)
    if reason := reason_to_wait(instance, interval, at):
        return dg.SkipReason(reason)
    try:
        plan = plan_folders(work, instance)
    except CompanionError as fault:
        return dg.SkipReason(f"{fault.message} ({fault.hint})")
    # Done here and now, since a schedule cannot ask for it; with watch_fs_events off, the sensor never does.
    register(instance, plan.add)
    for folder in () if is_syncing(instance) else plan.drop:
        instance.delete_dynamic_partition(VAULT_FOLDERS, folder)
    keys = instance.get_dynamic_partitions(VAULT_FOLDERS)
    if not keys:
        return dg.SkipReason("the vault has no notes yet")
    return dg.RunRequest(run_key=f"daily:{at:%Y-%m-%d}", tags={**covering_tags(keys, keys), REASON_TAG: "daily"})
