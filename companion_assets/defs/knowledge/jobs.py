"""The one job that brings the index up to date, whoever asks for it, and when it runs by itself."""

import datetime as dt
from collections.abc import Mapping, Sequence

import dagster as dg
from tzlocal import get_localzone_name

from companion_assets.contracts.errors import VaultError
from companion_assets.defs.knowledge.assets import GROUP, vault_index
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS, range_tags
from companion_assets.defs.maintenance.dead_runs import fail_dead_runs
from companion_assets.defs.resources import KnowledgeResource
from companion_assets.stages.drift import Drift, measure_drift

SYNC_JOB = "sync_job"
_SWITCHED_OFF = "vault.indexing.auto_sync is off"
_IN_FLIGHT = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]

sync_job = dg.define_asset_job(
    SYNC_JOB,
    selection=dg.AssetSelection.groups(GROUP),
    executor_def=dg.in_process_executor,
    description="Reads what changed in the vault and brings the index up to date.",
)


@dg.sensor(job=sync_job, minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING)
def vault_changes(context: dg.SensorEvaluationContext, knowledge: KnowledgeResource) -> dg.SensorResult:
    """Every 30 s: compare disk and catalog, add and drop folder partitions, ask for a run where they differ."""
    work = knowledge.workspace
    if not work.vault.indexing.auto_sync:
        return dg.SensorResult(skip_reason=_SWITCHED_OFF)
    fail_dead_runs(context.instance)
    if _is_syncing(context.instance):
        # What is dirty now may be clean when it ends; asking at every tick would only fill the queue.
        return dg.SensorResult(skip_reason="a sync is waiting or running")
    try:
        drift = measure_drift(work)
    except VaultError as fault:
        return dg.SensorResult(skip_reason=f"{fault.message} ({fault.hint})")
    have = context.instance.get_dynamic_partitions(VAULT_FOLDERS)
    return _requests(drift, have)


def _is_syncing(instance: dg.DagsterInstance) -> bool:
    """A run of the index is queued or under way, whoever asked for it."""
    runs = instance.get_runs(dg.RunsFilter(statuses=_IN_FLIGHT))
    return any(run.job_name == SYNC_JOB or vault_index.key in (run.asset_selection or ()) for run in runs)


def _requests(drift: Drift, have: Sequence[str]) -> dg.SensorResult:
    """Partitions to add and drop, and the runs for what changed."""
    add = [folder for folder in drift.folders if folder not in have]
    # A folder is dropped only after a run has emptied it, so that its last event is a truthful "0 notes".
    drop = [folder for folder in have if folder not in drift.folders and folder not in drift.dirty]
    dirty = {folder: print_ for folder, print_ in drift.dirty.items() if folder not in drop}
    keys = [folder for folder in [*have, *add] if folder not in drop]
    if len(dirty) < 4:
        runs = [dg.RunRequest(run_key=_key(folder, mark), partition_key=folder) for folder, mark in dirty.items()]
    else:
        runs = [dg.RunRequest(run_key=_key("all", "|".join(sorted(dirty.values()))), tags=range_tags(keys))]
    requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    if add:
        requests.append(dg.AddDynamicPartitionsRequest(VAULT_FOLDERS, add))
    if drop:
        requests.append(dg.DeleteDynamicPartitionsRequest(VAULT_FOLDERS, drop))
    if not runs and not requests:
        return dg.SensorResult(skip_reason="the index is up to date")
    return dg.SensorResult(run_requests=runs, dynamic_partitions_requests=requests)


def _key(folder: str, mark: str) -> str:
    # The hour lets the same difference be tried again later, should its run have failed.
    return f"{folder}:{mark}:{dt.datetime.now(dt.UTC):%Y-%m-%dT%H}"


@dg.schedule(
    job=sync_job,
    cron_schedule="0 3 * * *",
    execution_timezone=get_localzone_name(),
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def daily_sync(context: dg.ScheduleEvaluationContext, knowledge: KnowledgeResource) -> dg.RunRequest | dg.SkipReason:
    """03:00 in the person's time zone: a sync of every folder, for whatever the sensor has missed."""
    if not knowledge.workspace.vault.indexing.auto_sync:
        return dg.SkipReason(_SWITCHED_OFF)
    keys = context.instance.get_dynamic_partitions(VAULT_FOLDERS)
    if not keys:
        return dg.SkipReason("no folder is known yet; the sensor adds them")
    tags: Mapping[str, str] = {**range_tags(keys), "companion/reason": "daily"}
    return dg.RunRequest(run_key=f"daily:{context.scheduled_execution_time:%Y-%m-%d}", tags=dict(tags))
