"""A running app over the small vault, without the page."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from companion_app.desk import Desk
from companion_assets.contracts.paths import data_paths
from tests.app.small_app import NOTES, SlowModel, index_vault, open_desk, running, write_vault

REPLY = "The top of the cello is 4.2 mm now [1]. The bass bar is spruce [1]. Nothing else was changed that day."


@dataclass(frozen=True)
class RunningApp:
    http: httpx.Client
    desk: Desk
    model: SlowModel
    vault: Path


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_vault(tmp_path / "My vault", NOTES)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    monkeypatch.setenv("COMPANION_UI__WEB__ENABLED", "false")
    # Words by their hash are far apart; the scale of the real embedder does not apply.
    monkeypatch.setenv("COMPANION_RAG__SEARCH__SIMILARITY_THRESHOLD", "0")
    return root


Start = Callable[..., RunningApp]


@pytest.fixture
def start(vault: Path) -> Iterator[Start]:
    """Starts the app; `index=False` leaves the vault unread."""
    with ExitStack() as stack:

        def starts(*, index: bool = True, pause: float = 0.0, prefill: float = 0.0) -> RunningApp:
            if index:
                index_vault(data_paths())
            model = SlowModel(REPLY, pause, prefill)
            desk = open_desk(model)
            address = stack.enter_context(running(desk))
            http = stack.enter_context(httpx.Client(base_url=address, trust_env=False, timeout=30))
            return RunningApp(http, desk, model, vault)

        yield starts
