"""A passage that the embedder refuses is told of, and the others are embedded (B38)."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.backends.protocols import Vectors
from companion_assets.backends.vectors import report
from companion_assets.contracts.paths import data_paths
from companion_assets.stages import sync
from companion_assets.stages.workspace import Workspace
from companion_assets.stores.settings_file import load_settings


class Picky(HashEmbedder):
    """Has no vector for one word."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        report({at: "refused" for at, text in enumerate(texts) if "basalt" in text})
        return super().embed_passages(texts)


def test_a_passage_without_a_vector_is_told_by_its_note_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(tmp_path / "vault"))
    (tmp_path / "vault").mkdir()
    for name in ("basalt", "kale", "varnish"):
        (tmp_path / f"vault/About {name}.md").write_text(f"Bought {name} today.\n", encoding="utf-8")
    settings = load_settings().settings
    work = Workspace(data_paths(), settings.vault, settings.security, Picky)
    sync.read_folder(work, "_root")
    sync.chunk_folder(work, "_root")
    report_of_all = sync.embed_folder(work, "_root")
    assert report_of_all.problems == (("About basalt.md", "refused"),)
    assert (report_of_all.counts["embedded"], report_of_all.counts["failed"]) == (2, 1)
    assert sync.embed_folder(work, "_root").counts["reused"] == 2
    work.close()
