"""The sensor that keeps the index in step with the vault when nobody else does.

It compares listings, reads no note and needs no watcher, so that whatever the fast lane has missed is repaired within
half a minute. The same difference is asked for once, and again every hour while it stays: its run may have failed.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import dagster as dg

from companion_assets.contracts.errors import CompanionError
from companion_assets.defs.knowledge.jobs import is_syncing, sync_job
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS, FolderPlan, covering_tags, plan_folders
from companion_assets.defs.knowledge.passes import is_due
from companion_assets.defs.maintenance.dead_runs import fail_dead_runs
from companion_assets.defs.resources import KnowledgeResource
from companion_assets.defs.run_tags import REASON_TAG

SWITCHED_OFF = "vault.indexing.auto_sync is off"

# Folder → fingerprint of its difference, and when it was first seen.
Seen = Mapping[str, tuple[str, str]]


@dg.sensor(job=sync_job, minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING)
def vault_changes(context: dg.SensorEvaluationContext, knowledge: KnowledgeResource) -> dg.SensorResult:
    """Every 30 s: compare vault and catalog, add and drop folder partitions, ask for a run where they differ."""
    work, now = knowledge.workspace, dt.datetime.now(dt.UTC)
    indexing = work.vault.indexing
    if not indexing.auto_sync:
        return dg.SensorResult(skip_reason=SWITCHED_OFF)
    fail_dead_runs(context.instance)
    if is_syncing(context.instance):
        # What is dirty now may be clean when it ends; asking at every tick would only fill the queue.
        return dg.SensorResult(skip_reason="a sync is waiting or running")
    interval = dt.timedelta(minutes=indexing.auto_sync_interval_minutes)
    due = is_due(context.instance, interval, now)
    if not (due or indexing.watch_fs_events):
        return dg.SensorResult(
            skip_reason="vault.indexing.watch_fs_events is off: the vault is compared only every "
            f"{indexing.auto_sync_interval_minutes:,} minutes"
        )
    try:
        plan = plan_folders(work, context.instance)
    except CompanionError as fault:
        return dg.SensorResult(skip_reason=f"{fault.message} ({fault.hint})")
    if plan.drop:
        # Alone: a run of the same tick could still name the partition. Runs are asked for at the next tick.
        return dg.SensorResult(
            skip_reason=f"gone from vault and index: {', '.join(plan.drop)}",
            dynamic_partitions_requests=[dg.DeleteDynamicPartitionsRequest(VAULT_FOLDERS, list(plan.drop))],
        )
    before = _read(context.cursor)
    asked, seen = str(before.get("pass", "")), _seen(before.get("seen"), plan.dirty, now)
    whole = _pass(plan, interval, now) if due and plan.keys else None
    if whole is not None and whole.run_key != asked:
        runs, asked = [whole], str(whole.run_key)
    else:  # one pass in each stretch of the interval: if it failed, what differs is not left until the next
        runs = _repairs(plan, seen, now)
    return dg.SensorResult(
        run_requests=runs,
        skip_reason=None if runs else _why_nothing(plan),
        dynamic_partitions_requests=[dg.AddDynamicPartitionsRequest(VAULT_FOLDERS, list(plan.add))] if plan.add else [],
        cursor=json.dumps({"pass": asked, "seen": seen}),
    )


def _why_nothing(plan: FolderPlan) -> str:
    if plan.drift.held is not None:
        return plan.drift.held.reason
    return f"new: {', '.join(plan.add)}" if plan.add else "the index is up to date"


def _read(cursor: str | None) -> dict[str, Any]:
    """What the last tick wrote down; nothing if that is lost."""
    try:
        return dict(json.loads(cursor or "{}"))
    except (ValueError, TypeError):
        return {}


def _seen(earlier: Any, dirty: Mapping[str, str], now: dt.datetime) -> Seen:
    """What differs, with the moment at which each difference was first seen.

    A difference that was gone meanwhile counts as new, even if it looks the same (a note edited to and fro with its
    file times restored). A cursor that is lost makes all of them new: one run too many, never one too few.
    """
    try:
        before = {folder: (mark, since) for folder, (mark, since) in (earlier or {}).items()}
    except (ValueError, TypeError, AttributeError):
        before = {}
    stamp = f"{now:%Y-%m-%dT%H:%M:%S}+00:00"
    return {
        folder: before[folder] if before.get(folder, ("",))[0] == mark else (mark, stamp)
        for folder, mark in dirty.items()
    }


def _repairs(plan: FolderPlan, seen: Seen, now: dt.datetime) -> list[dg.RunRequest]:
    """One run for all that differs: a folder alone, or the range over several."""
    keys = [_key(folder, mark, since, now) for folder, (mark, since) in sorted(seen.items())]
    if not keys:
        return []
    tags = {REASON_TAG: "sensor"}
    if len(keys) == 1:
        return [dg.RunRequest(run_key=keys[0], partition_key=next(iter(seen)), tags=tags)]
    digest = hashlib.sha256("\n".join(keys).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return [
        dg.RunRequest(run_key=f"{len(keys)} folders:{digest}", tags={**covering_tags(plan.keys, seen.keys()), **tags})
    ]


def _key(folder: str, mark: str, since: str, now: dt.datetime) -> str:
    hours = (now - dt.datetime.fromisoformat(since)) // dt.timedelta(hours=1)
    return f"{folder}:{mark}:{since}:{hours}"


def _pass(plan: FolderPlan, interval: dt.timedelta, now: dt.datetime) -> dg.RunRequest:
    """A run over every folder, once in each stretch of the interval."""
    stretch = now.timestamp() // interval.total_seconds()
    return dg.RunRequest(
        run_key=f"pass:{interval}:{stretch:.0f}",
        tags={**covering_tags(plan.keys, plan.keys), REASON_TAG: "interval"},
    )
