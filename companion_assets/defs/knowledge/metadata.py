"""What a person reads about a materialisation in Dagster's UI."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from companion_assets.stages.plots import plot_counts
from companion_assets.stages.publishing import Verdict
from companion_assets.stages.sync import FolderReport
from companion_assets.stages.workspace import Workspace

_PROBLEMS_SHOWN = 50
_HISTORY = 60
_PICTURE = "notes_and_chunks"

Metadata = Mapping[str, Any]


def folder_metadata(report: FolderReport) -> Metadata:
    """Counts of one folder, and a table of what went wrong in it."""
    metadata: dict[str, Any] = dict(report.counts)
    if report.problems:
        metadata["problems"] = dg.MetadataValue.table(
            records=[dg.TableRecord({"note": note, "why": why}) for note, why in report.problems[:_PROBLEMS_SHOWN]],
            schema=dg.TableSchema([dg.TableColumn("note", "string"), dg.TableColumn("why", "string")]),
        )
    return metadata


def run_metadata(report: FolderReport) -> Metadata:
    """What a run did, in a line a person can read."""
    done = ", ".join(f"{name} {count:,}" for name, count in report.counts.items())
    return {"this_run": dg.MetadataValue.md(done or "nothing to do")}


def vault_metadata(work: Workspace) -> Metadata:
    """Figures of the vault as a whole: how much of it is in the index, and what the guard against mass loss holds."""
    vault, held = work.catalog.counts(), work.catalog.held_removals()
    readable = vault.notes - vault.skipped
    return {
        "vault_notes": vault.notes,
        "vault_chunks": vault.chunks,
        "vault_partial": vault.partial,
        "vault_skipped": vault.skipped,
        "vault_coverage": round((readable - vault.pending) / vault.notes, 4) if vault.notes else 1.0,
        **({"removals_held": held.reason} if held else {}),
    }


def check_result(name: str, verdict: Verdict) -> dg.AssetCheckResult:
    """One blocking check, with what is wrong if anything is."""
    fault = verdict.faults.get(name)
    metadata: dict[str, Any] = {"rows": verdict.rows, **({"fault": fault} if fault else {})}
    return dg.AssetCheckResult(check_name=name, passed=fault is None, metadata=metadata)


def history_plot(context: dg.AssetExecutionContext, work: Workspace, *, redraw: bool) -> Metadata:
    """Notes and chunks over the latest runs, as a picture in the materialisation.

    Args:
        context: Of the asset, for its earlier materialisations.
        work: For the counts now.
        redraw: The counts may have changed and half a second matters to nobody; else the last picture is shown again.
    """
    of_partition = dg.AssetRecordsFilter(asset_key=context.asset_key, asset_partitions=[context.partition_keys[-1]])
    events = context.instance.fetch_materializations(of_partition, limit=_HISTORY if redraw else 1).records
    past = [(event.timestamp, event.asset_materialization.metadata) for event in events if event.asset_materialization]
    if not redraw:
        return {_PICTURE: past[0][1][_PICTURE]} if past and _PICTURE in past[0][1] else {}
    points = {
        moment: (int(metadata["vault_notes"].value), int(metadata["vault_chunks"].value))
        for moment, metadata in reversed(past)
        if "vault_notes" in metadata and "vault_chunks" in metadata
    }
    vault = work.catalog.counts()
    picture = plot_counts(points, (vault.notes, vault.chunks))
    return {_PICTURE: dg.MetadataValue.md(f"![notes and chunks over time](data:image/png;base64,{picture})")}
