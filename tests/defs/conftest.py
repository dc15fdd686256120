"""A small real vault, the real embedder, a real Dagster instance."""

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


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "vault"
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    return root


@pytest.fixture
def paths(vault: Path) -> DataPaths:
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
