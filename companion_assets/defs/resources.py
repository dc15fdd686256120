"""The composition root of the pipeline: settings are read here and passed down in narrow sections."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from pydantic import PrivateAttr

from companion_assets.backends.factory import open_embedder
from companion_assets.contracts.paths import data_paths
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.settings_file import load_settings


@contextmanager
def open_workspace(run_id: str = "") -> Iterator[Workspace]:
    """The workspace of the settings in force, closed at the end.

    Raises:
        SettingsError: The settings cannot be used.
    """
    paths = data_paths()
    settings = load_settings().settings
    work = Workspace(
        paths=paths,
        vault=settings.vault,
        security=settings.security,
        open_embedder=lambda: open_embedder(settings.rag.embedding),
        run_id=run_id,
    )
    try:
        yield work
    finally:
        work.close()


class KnowledgeResource(dg.ConfigurableResource):
    """The workspace of a run: opened with it, closed with it."""

    _workspace: Workspace | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["KnowledgeResource"]:
        """The resource, with its workspace open."""
        with open_workspace(context.run_id or "") as self._workspace:
            yield self

    @property
    def workspace(self) -> Workspace:
        """The open workspace."""
        assert self._workspace is not None, "the workspace is open only while a run executes"
        return self._workspace
