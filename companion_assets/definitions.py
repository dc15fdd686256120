"""What Dagster is pointed at: the explicit list of everything it schedules."""

import dagster as dg

from companion_assets.defs.knowledge.assets import chunks, embeddings, notes, vault_index
from companion_assets.defs.knowledge.golden import retrieval_golden
from companion_assets.defs.knowledge.jobs import sync_job
from companion_assets.defs.knowledge.schedules import daily_sync
from companion_assets.defs.knowledge.sensor import vault_changes
from companion_assets.defs.maintenance.upkeep import upkeep_job, weekly_upkeep
from companion_assets.defs.resources import KnowledgeResource

defs = dg.Definitions(
    assets=[notes, chunks, embeddings, vault_index],
    asset_checks=[retrieval_golden],
    jobs=[sync_job, upkeep_job],
    sensors=[vault_changes],
    schedules=[daily_sync, weekly_upkeep],
    resources={"knowledge": KnowledgeResource()},
    # For what Dagster's own page starts: a process per step would pay the start and the embedder four times.
    executor=dg.in_process_executor,
)
