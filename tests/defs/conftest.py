"""A small real vault, the real embedder, a real Dagster instance."""

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.launching import SyncResult, run_sync
from companion_assets.definitions import defs
from companion_assets.stores.index import ChunkIndex

NOTES = {
    "Journal/2026-05-14.md": "#DayInShort\nFlew to São Miguel. Furnas stew at noon.\n\n#work\nNothing, gladly.\n",
    "Journal/2026-05-15.md": "#DayInShort\nWhales cancelled by fog.\n\n#Relations\nTomás slept ten hours.\n",
    "Projects/Cello.md": "---\ntags: [cello]\n---\n# Cello\nThe wing crack is closed.\n\n## Invoice\nTotal 4,200.\n",
    "People/Mei Lin.md": "---\naliases: [李梅]\n---\n李梅在台北拉中提琴。\n",
    "Inbox.md": "Buy strings and sardines.\n",
}


def write_notes(root: Path, notes: Mapping[str, str]) -> None:
    """Notes as they lie on disk, a minute old: no editor is still writing them."""
    past = time.time() - 60
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        os.utime(root / path, (past, past))


@pytest.fixture(scope="session")
def synced_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `vault` and its synced data root `home`, made once: copying it costs less than a sync."""
    room = tmp_path_factory.mktemp("synced")
    write_notes(room / "vault", NOTES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPANION_HOME", str(room / "home"))
        patch.setenv("COMPANION_VAULT__PATH", str(room / "vault"))
        patch.delenv("DAGSTER_HOME", raising=False)
        sync(data_paths())
        os.environ.pop("DAGSTER_HOME", None)
    return room


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of a few notes, and no index of it."""
    root = tmp_path / "vault"
    write_notes(root, NOTES)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    return root


@pytest.fixture
def paths(vault: Path) -> DataPaths:
    """The data root of `vault`."""
    return data_paths()


@pytest.fixture
def synced_vault(synced_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same vault with its index, to change at will."""
    shutil.copytree(synced_once, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(tmp_path / "vault"))
    return tmp_path / "vault"


@pytest.fixture
def synced(synced_vault: Path) -> DataPaths:
    """The data root of `synced_vault`."""
    return data_paths()


def sync(paths: DataPaths, *, rebuild: bool = False) -> SyncResult:
    result = run_sync(paths, defs, rebuild=rebuild, reason="test")
    assert result.success, result.failure
    return result


def indexed(paths: DataPaths) -> dict[str, list[tuple[str, int, int]]]:
    """What a reader sees: path → (text, first line, last line) of its chunks, in order."""
    index = ChunkIndex.open(paths)
    return {
        path: [(chunk.text, chunk.first_line, chunk.last_line) for chunk in index.neighbours(path)]
        for path in sorted(index.health().chunks_by_note)
    }
