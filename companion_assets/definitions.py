"""What Dagster is pointed at: the explicit list of everything it schedules."""

import warnings

import dagster as dg

# Freshness policies and backfill policies are marked preview and beta in 1.13; we pin the minor version.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
warnings.filterwarnings("ignore", category=dg.BetaWarning)

from companion_assets.defs.knowledge.assets import chunks, embeddings, notes, vault_index  # noqa: E402
from companion_assets.defs.knowledge.jobs import daily_sync, sync_job, vault_changes  # noqa: E402
from companion_assets.defs.resources import KnowledgeResource  # noqa: E402

defs = dg.Definitions(
    assets=[notes, chunks, embeddings, vault_index],
    jobs=[sync_job],
    sensors=[vault_changes],
    schedules=[daily_sync],
    resources={"knowledge": KnowledgeResource()},
)
