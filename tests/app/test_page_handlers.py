from pathlib import Path

import pytest

from companion_app.ui.handlers import PageHandlers
from companion_assets.backends.scripted import ScriptedGenerator
from companion_assets.contracts.paths import data_paths
from companion_assets.contracts.records import Turn
from companion_assets.stores.progress import ProgressFile
from tests.app.small_app import NOTES, index_vault, open_desk, write_vault


def test_syncing_in_a_conversation_does_not_bring_the_welcome_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(write_vault(tmp_path / "vault", NOTES)))
    index_vault(data_paths())
    desk = open_desk(ScriptedGenerator("Yes [1]."))
    desk.companion.chat_log.append_turn("used", Turn("How thick is the top?", "4.2 mm."))
    ProgressFile(data_paths().progress_file).report("reading", 0, 1)  # one runs already: none is started here
    handlers = PageHandlers(desk)
    with pytest.warns(UserWarning, match="running already"):
        status, _, welcome = handlers.sync("used")
    assert "reading" in status
    assert welcome == ""
    with pytest.warns(UserWarning, match="running already"):
        assert "What would you like to know?" in handlers.sync("")[2]
    desk.close()
