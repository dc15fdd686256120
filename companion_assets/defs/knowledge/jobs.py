"""The one job that brings the index up to date, whoever asks for it."""

import dagster as dg

from companion_assets.defs.knowledge.assets import GROUP, vault_index
from companion_assets.defs.knowledge.golden import retrieval_golden
from companion_assets.defs.run_tags import IN_FLIGHT

SYNC_JOB = "sync_job"

sync_job = dg.define_asset_job(
    SYNC_JOB,
    selection=dg.AssetSelection.groups(GROUP) - dg.AssetSelection.checks(retrieval_golden),
    executor_def=dg.in_process_executor,
    description="Reads what changed in the vault and brings the index up to date.",
)


def is_syncing(instance: dg.DagsterInstance) -> bool:
    """A run of the index is queued or under way, whoever asked for it."""
    runs = instance.get_runs(dg.RunsFilter(statuses=IN_FLIGHT))
    return any(run.job_name == SYNC_JOB or vault_index.key in (run.asset_selection or ()) for run in runs)
