"""The app stays open while another process edits and rebuilds, or a word index breaks (B32, B57, B86)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from companion_app.bootstrap import Companion
from companion_app.retrieval import Retrieval
from companion_assets.contracts.paths import data_paths
from companion_assets.stores.index_table import read_manifest, table_names
from companion_assets.stores.repair import set_damaged_aside
from companion_assets.stores.settings_file import load_settings
from tests.app.small_app import NOTES, SmallCompanion, index_vault, write_vault

ROOT = Path(__file__).parents[2]
# Everything but the vectors is made anew, as after `companion reindex` of a damaged index.
REBUILD = """
import shutil
from companion_assets.contracts.paths import data_paths
from tests.app.small_app import index_vault
paths = data_paths()
paths.catalog_db.unlink()
shutil.rmtree(paths.index_dir)
index_vault(paths)
"""
SYNC = """
from companion_assets.contracts.paths import data_paths
from tests.app.small_app import index_vault
index_vault(data_paths())
"""


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_vault(tmp_path / "vault", NOTES)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    monkeypatch.setenv("COMPANION_RAG__SEARCH__SIMILARITY_THRESHOLD", "0")
    index_vault(data_paths())
    return root


@pytest.fixture
def app(vault: Path) -> Iterator[Companion]:
    with closing(SmallCompanion(load_settings(), data_paths())) as companion:
        assert ask(companion, "varnish from Benedita").hits[0].path == "Journal/2026-03-02.md"
        yield companion


def ask(app: Companion, question: str) -> Retrieval:
    return app.retriever.retrieve(question)


def elsewhere(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=dict(os.environ), check=True)


def test_the_next_question_is_answered_from_what_another_process_has_made(vault: Path, app: Companion) -> None:
    with (vault / "Cello.md").open("a", encoding="utf-8") as note:
        note.write("\nThe endpin is of carbon.\n")
    (vault / "Kitchen/Soup.md").rename(vault / "Kitchen/Broth.md")
    elsewhere(SYNC)
    assert "The endpin is of carbon." in ask(app, "endpin of carbon").hits[0].text
    assert "Regraduated the top" in ask(app, "regraduated the top").hits[0].text, "nothing else of the note is lost"
    assert [hit.path for hit in ask(app, "kale potatoes").hits if "Kale" in hit.text] == ["Kitchen/Broth.md"]


def test_all_is_dropped_and_made_anew_under_an_open_app(vault: Path, app: Companion) -> None:
    old = read_manifest(data_paths()).table
    (vault / "Cello.md").write_text("# Cello\n\nThe endpin is of steel.\n", encoding="utf-8")
    elsewhere(REBUILD)
    assert ask(app, "endpin of steel").hits[0].path == "Cello.md"
    assert ask(app, "varnish from Benedita").hits[0].path == "Journal/2026-03-02.md"
    assert old not in table_names(data_paths())


def test_a_broken_word_index_leaves_the_meaning_with_a_notice_and_a_way_out(vault: Path, app: Companion) -> None:
    paths = data_paths()
    for file in paths.index_dir.glob("*.lance/_indices/*/*"):
        file.write_bytes(b"torn")
    with closing(SmallCompanion(load_settings(), paths)) as restarted:
        found = ask(restarted, "varnish from Benedita")
    assert found.hits[0].path == "Journal/2026-03-02.md"
    assert {hit.matched_by for hit in found.hits} == {("dense",)}
    assert found.notice.startswith("Searched by meaning alone: ")
    assert "companion reindex" in found.notice
    assert set_damaged_aside(paths) == [paths.index_dir]
    index_vault(paths)
    found = ask(app, "varnish from Benedita")
    assert (found.notice, found.hits[0].matched_by) == ("", ("dense", "text"))
