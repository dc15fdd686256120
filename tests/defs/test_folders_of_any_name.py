"""A folder may have any name the file system takes; Dagster refuses a few of them as partitions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import open_instance
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS, folder_of, key_of
from tests.defs.conftest import indexed, sync, write_notes

ODD = ("To do...", "100% done", "%2E", "a%25b", "tab\there", "🎻", 'it\'s "quoted"', "{braces}", "a|b", "C++", "[x]")


@given(st.text() | st.sampled_from(ODD))
def test_every_folder_has_one_partition(folder: str) -> None:
    key = key_of(folder)
    assert folder_of(key) == folder
    assert not any(part in key for part in ("...", "\a", "\b", "\f", "\n", "\r", "\t", "\v", "\0"))


@pytest.mark.parametrize("plain", ["Journal", "100% done", "Cafe.. au lait", "日記", "a%2e"])
def test_a_name_that_needs_no_escape_is_the_partition(plain: str) -> None:
    assert key_of(plain) == plain


def test_odd_folders_are_indexed_and_leave_again(vault: Path, paths: DataPaths) -> None:
    write_notes(vault, {f"{folder}/Note.md": f"In {number}." for number, folder in enumerate(ODD)})
    sync(paths)
    assert {f"{folder}/Note.md" for folder in ODD} <= set(indexed(paths))
    with open_instance(paths) as instance:
        assert "To do%2E%2E%2E" in instance.get_dynamic_partitions(VAULT_FOLDERS)
    (vault / "To do.../Note.md").rename(vault / "100% done/Moved.md")
    assert sync(paths).counts["embeddings"]["embedded"] == 0
    assert "100% done/Moved.md" in indexed(paths)
    assert "To do.../Note.md" not in indexed(paths)
