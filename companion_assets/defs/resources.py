"""The composition root of the pipeline: settings are read here and passed down in narrow sections."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import dagster as dg
from filelock import FileLock
from pydantic import PrivateAttr

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.contracts.settings_knowledge import EvaluationSettings
from companion_assets.defs.maintenance.dead_runs import mark_run, process_of
from companion_assets.defs.warm_embedder import embedder_for_run
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.settings_file import load_settings

if TYPE_CHECKING:
    from companion_assets.retrieval.search import Search


@contextmanager
def open_workspace(run_id: str = "") -> Iterator[Workspace]:
    """The workspace of the settings in force, closed at the end.

    Raises:
        SettingsError: The settings cannot be used.
    """
    paths = data_paths()
    prepare_data_root(paths, None)
    settings = load_settings().settings
    work = Workspace(
        paths=paths,
        vault=settings.vault,
        security=settings.security,
        open_embedder=lambda: embedder_for_run(settings.rag.embedding),
        run_id=run_id,
        engine=(settings.rag.embedding.provider, settings.rag.embedding.model),
    )
    try:
        yield work
    finally:
        work.close()


def evaluation_settings() -> EvaluationSettings:
    """`rag.evaluation`.

    Raises:
        SettingsError: The settings cannot be used.
    """
    return load_settings().settings.rag.evaluation


@contextmanager
def open_search() -> Iterator["Search"]:
    """The search of the live index, as chat has it.

    Raises:
        SettingsError: The settings cannot be used.
        IndexMissing: Nothing has been indexed.
        StoreError: The index is damaged.
        BackendUnavailable: The embedder of the index cannot be opened.
    """
    # No sync needs to load these.
    from companion_assets.backends.factory import reopen_embedder
    from companion_assets.retrieval.search import Search
    from companion_assets.stores.index import ChunkIndex
    from companion_assets.stores.note_graph import NoteGraph

    paths, settings = data_paths(), load_settings().settings.rag
    index = ChunkIndex.open(paths)
    with (
        closing(reopen_embedder(index.manifest.embedder, settings.embedding)) as embedder,
        closing(NoteGraph(paths.catalog_db)) as graph,
    ):
        yield Search(index, embedder.embed_query, graph, settings.search)


@contextmanager
def sync_turn(paths: DataPaths) -> Iterator[None]:
    """One sync at a time: the next waits here, and then finds only what the first has left to do.

    Without it two runs would embed the same texts, and one could put chunks of an older reading over newer ones.
    """
    prepare_data_root(paths, None)
    paths.locks_dir.mkdir(mode=0o700, exist_ok=True)
    with FileLock(paths.locks_dir / "sync.lock", mode=0o600, poll_interval=0.2):
        yield


class KnowledgeResource(dg.ConfigurableResource):
    """The workspace of a run: opened with it, closed with it. A sensor has one too, and waits for nobody."""

    _workspace: Workspace | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["KnowledgeResource"]:
        """The resource, with its workspace open."""
        with ExitStack() as opened:
            if (run := context.run) is not None and context.instance is not None:
                if (process := process_of(run)) is None or process.pid != os.getpid():
                    mark_run(context.instance, run.run_id)
                opened.enter_context(sync_turn(data_paths()))
            self._workspace = opened.enter_context(open_workspace(run.run_id if run else ""))
            yield self

    @property
    def workspace(self) -> Workspace:
        """The open workspace."""
        assert self._workspace is not None, "the workspace is open only while a run executes"
        return self._workspace
