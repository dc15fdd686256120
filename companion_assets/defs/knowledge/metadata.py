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


def total_metadata(work: Workspace, report: FolderReport) -> Metadata:
    """Figures of the vault as a whole, and a line a person can read."""
    vault = work.catalog.counts()
    done = ", ".join(f"{name} {count:,}" for name, count in report.counts.items())
    return {
        "vault_notes": vault.notes,
        "vault_chunks": vault.chunks,
        "skipped_notes": vault.skipped,
        "this_run": dg.MetadataValue.md(done or "nothing to do"),
    }


def check_result(name: str, verdict: Verdict) -> dg.AssetCheckResult:
    """One blocking check, with what is wrong if anything is."""
    fault = verdict.faults.get(name)
    metadata: dict[str, Any] = {"rows": verdict.rows, **({"fault": fault} if fault else {})}
    return dg.AssetCheckResult(check_name=name, passed=fault is None, metadata=metadata)


def history_plot(context: dg.AssetExecutionContext, work: Workspace) -> Metadata:
    """Notes and chunks over the latest runs, as a picture in the materialisation."""
    events = context.instance.fetch_materializations(context.asset_key, limit=_HISTORY).records
    vault = work.catalog.counts()
    points: dict[float, tuple[int, int]] = {}
    for event in events:
        metadata = event.asset_materialization.metadata if event.asset_materialization else {}
        if "vault_notes" in metadata and "vault_chunks" in metadata:
            points[event.timestamp] = (int(metadata["vault_notes"].value), int(metadata["vault_chunks"].value))
    picture = plot_counts(dict(sorted(points.items())), (vault.notes, vault.chunks))
    return {"notes_and_chunks": dg.MetadataValue.md(f"![notes and chunks over time](data:image/png;base64,{picture})")}
