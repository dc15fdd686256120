"""What goes out over HTTP of how everything stands."""

import datetime as dt
from dataclasses import asdict
from typing import Literal

from pydantic import BaseModel

from companion_app.desk import Standing
from companion_app.standing import EmbedderChange
from companion_assets.contracts.manifests import IndexManifest
from companion_assets.stores.progress import Progress


class ProgressOut(BaseModel):
    """What the running sync does."""

    phase: str
    folder: str
    done: int
    total: int
    started_at: dt.datetime


class ModelOut(BaseModel):
    """Whether the answering model is there."""

    state: str
    model: str
    detail: str


class IndexOut(BaseModel):
    """The published index."""

    embedder: str
    dimensions: int
    notes: int
    chunks: int
    published_at: str
    run_id: str


class ServicesOut(BaseModel):
    """The running background services."""

    dagster_url: str


class WatchingOut(BaseModel):
    """How a change in the vault is noticed. `words` and `trouble` are for a person."""

    mode: Literal["events", "looks", "off"]
    words: str
    trouble: str


class HeldOut(BaseModel):
    """Notes that are kept although their files are gone, because so many went at once."""

    vanished: int
    known: int
    examples: list[str]
    since: dt.datetime
    reason: str


class ChangeOut(BaseModel):
    """The settings name another embedder than the one that made the index; figures in texts."""

    wanted: str
    served: str
    done: int
    total: int


class StatusOut(BaseModel):
    """How everything stands. `counts` is what was read of the vault, `index` what is searched.

    `notices` says in sentences what a person should know: a vault that cannot be read, an index that is damaged …
    """

    vault: str
    vault_fault: str
    counts: dict[str, int]
    coverage: str
    index: IndexOut | None
    last_sync: str | None
    watching: WatchingOut
    held: HeldOut | None
    embedder_change: ChangeOut | None
    notices: list[str]
    syncing: bool
    progress: ProgressOut | None
    sync_failure: str
    index_fault: str
    services: ServicesOut | None
    model: ModelOut

    @staticmethod
    def of(standing: Standing) -> "StatusOut":
        """From one look."""
        known = standing.knowledge
        counts = {name: getattr(known.counts, name) for name in ("notes", "chunks", "partial", "skipped", "pending")}
        return StatusOut(
            vault=known.vault,
            vault_fault=known.vault_fault,
            counts={**counts, "indexed": known.indexed},
            coverage=known.coverage if known.index else "",
            index=_index_out(known.index) if known.index else None,
            last_sync=known.synced_at or None,
            watching=WatchingOut.model_validate(asdict(known.watching)),
            held=HeldOut.model_validate({**asdict(known.held), "reason": known.held.reason}) if known.held else None,
            embedder_change=_change_out(known.change) if known.change else None,
            notices=known.notices,
            syncing=standing.sync.running,
            progress=_progress_out(standing.sync.progress) if standing.sync.progress else None,
            sync_failure=standing.sync.failure,
            index_fault=known.fault,
            services=ServicesOut(dagster_url=known.services.dagster_url) if known.services else None,
            model=model_out(standing),
        )


class HealthOut(BaseModel):
    """The app is up; whether it can answer."""

    status: Literal["ok"] = "ok"
    index: bool
    model: ModelOut


def model_out(standing: Standing) -> ModelOut:
    """The model's state."""
    model = standing.model
    return ModelOut(state=model.state, model=model.model, detail=model.detail)


def _index_out(manifest: IndexManifest) -> IndexOut:
    return IndexOut(
        embedder=manifest.embedder.model,
        dimensions=manifest.embedder.dimensions,
        notes=manifest.notes,
        chunks=manifest.chunks,
        published_at=manifest.published_at,
        run_id=manifest.run_id,
    )


def _progress_out(progress: Progress) -> ProgressOut:
    return ProgressOut(
        phase=progress.phase,
        folder=progress.folder,
        done=progress.done,
        total=progress.total,
        started_at=progress.started_at,
    )


def _change_out(change: EmbedderChange) -> ChangeOut:
    return ChangeOut(wanted=change.wanted, served=change.served, done=change.texts.done, total=change.texts.total)
