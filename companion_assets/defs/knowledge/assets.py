"""The assets. Each compares the vault with what is stored and does only the difference."""

from collections.abc import Callable
from functools import partial

import dagster as dg

from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.defs.knowledge.metadata import (
    check_result,
    folder_metadata,
    history_plot,
    run_metadata,
    vault_metadata,
)
from companion_assets.defs.knowledge.partitions import folder_of, vault_folders
from companion_assets.defs.resources import KnowledgeResource
from companion_assets.defs.run_tags import CONFIRM_TAG, FAST_LANE, LANE_TAG, REBUILD_TAG
from companion_assets.stages import sync
from companion_assets.stages.chunk_rules import CHUNKER_VERSION
from companion_assets.stages.publishing import open_publisher
from companion_assets.stages.workspace import PARSER_VERSION, Workspace

GROUP = "knowledge"
OWNERS = ["team:companion"]
LANCE_WRITER = "lance_writer"
CHECKS = (
    ("row_counts", "The index holds exactly the chunks the catalog says it should."),
    ("no_orphans", "No row of the index belongs to a note that is gone."),
    ("no_null_vectors", "Every row has a finite vector of the embedder's dimension."),
    ("full_text_covers_all", "The full-text index covers every row."),
)

Step = Callable[[Workspace, str], sync.FolderReport]


def _each_folder(context: dg.AssetExecutionContext, work: Workspace, step: Step) -> sync.FolderReport:
    """Run a step for every partition of the run, with metadata for each."""
    total = sync.FolderReport()
    for key in context.partition_keys:
        report = step(work, folder_of(key))
        context.add_asset_metadata(folder_metadata(report), partition_key=key)
        total += report
    return total


@dg.asset(
    group_name=GROUP,
    kinds={"obsidian", "sqlite"},
    owners=OWNERS,
    partitions_def=vault_folders,
    backfill_policy=dg.BackfillPolicy.single_run(),
    code_version=PARSER_VERSION,
)
def notes(context: dg.AssetExecutionContext, knowledge: KnowledgeResource) -> dg.MaterializeResult:
    """Every note as Obsidian reads it: frontmatter, tags, links, headings, date; with a reason where it could not."""
    rebuild, confirmed = (context.run.tags.get(tag) == "true" for tag in (REBUILD_TAG, CONFIRM_TAG))
    work = knowledge.workspace
    step = partial(sync.read_folder, rebuild=rebuild, confirm_removals=confirmed)
    report = _each_folder(context, work, step)
    return dg.MaterializeResult(metadata=run_metadata(report))


@dg.asset(
    group_name=GROUP,
    kinds={"sqlite"},
    owners=OWNERS,
    deps=[notes],
    partitions_def=vault_folders,
    backfill_policy=dg.BackfillPolicy.single_run(),
    code_version=CHUNKER_VERSION,
)
def chunks(context: dg.AssetExecutionContext, knowledge: KnowledgeResource) -> dg.MaterializeResult:
    """Notes cut into citable pieces by the chunking rules, each with its exact lines."""
    report = _each_folder(context, knowledge.workspace, sync.chunk_folder)
    return dg.MaterializeResult(metadata=run_metadata(report))


@dg.asset(
    group_name=GROUP,
    kinds={"onnx", "sqlite"},
    owners=OWNERS,
    deps=[chunks],
    partitions_def=vault_folders,
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def embeddings(context: dg.AssetExecutionContext, knowledge: KnowledgeResource) -> dg.MaterializeResult:
    """A vector for every text, computed once per embedder and text."""
    try:
        report = _each_folder(context, knowledge.workspace, sync.embed_folder)
    except BackendUnavailable as fault:
        # A server that starts again is back in a moment. Not a retry policy: it would take Ctrl-C for a fault, too.
        raise dg.RetryRequested(max_retries=2, seconds_to_wait=2) from fault
    return dg.MaterializeResult(metadata=run_metadata(report))


@dg.asset(
    group_name=GROUP,
    kinds={"lancedb"},
    owners=OWNERS,
    deps=[embeddings],
    partitions_def=vault_folders,
    backfill_policy=dg.BackfillPolicy.single_run(),
    pool=LANCE_WRITER,
    check_specs=[
        dg.AssetCheckSpec(name, asset="vault_index", description=text, blocking=True) for name, text in CHECKS
    ],
)
def vault_index(context: dg.AssetExecutionContext, knowledge: KnowledgeResource) -> dg.MaterializeResult:
    """The searchable index; a new version goes live only when all checks pass."""
    work = knowledge.workspace
    with open_publisher(work) as publisher:
        report = _each_folder(context, work, publisher.publish_folder)
        verdict = publisher.finish()
    facts = {"index_rows": verdict.rows, "index_version": verdict.version, "index_live": verdict.published}
    return dg.MaterializeResult(
        metadata={
            **run_metadata(report),
            **vault_metadata(work),
            **facts,
            **history_plot(context, work, redraw=verdict.changed and context.run.tags.get(LANE_TAG) != FAST_LANE),
        },
        check_results=[check_result(name, verdict) for name, _ in CHECKS],
    )
