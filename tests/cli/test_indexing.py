"""`companion index`, `sync`, `reindex`, `status`, and the demo."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Shell
from tests.cli.conftest import Indexed


def test_index_says_what_it_does_and_what_it_did(small: Indexed) -> None:
    assert small.first.status == 0
    assert small.first.out.startswith("4 notes read, 0 removed, 4 passages embedded in ")
    assert small.first.out.endswith("The index holds 4 passages of 4 notes.\n")
    assert {"reading notes", "embedding passages"} <= set(small.first.err.splitlines())


def test_sync_reads_what_changed_and_reindex_reads_all(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    assert shell.vault
    (shell.vault / "Bees.md").write_text("# Bees\n\nThe hive stands behind the shed.\n")
    (shell.vault / "Cello.md").unlink()
    synced = json.loads(shell.run("sync", "--json").out)
    assert synced["success"]
    assert (synced["counts"]["notes"]["read"], synced["counts"]["notes"]["removed"]) == (1, 1)
    found = json.loads(shell.run("search", "bees hive", "-k", "1", "--json").out)["hits"]
    assert [hit["path"] for hit in found] == ["Bees.md"]
    assert shell.run("reindex").out.startswith("4 notes read, 0 removed, 0 passages embedded")


def test_status_tells_of_the_vault_and_of_a_note(demo: Indexed) -> None:
    shown = demo.shell.run("status").out
    assert "Journal" in shown
    assert "211 notes, " in shown
    document = json.loads(demo.shell.run("status", "--json").out)
    assert document["notes"] == sum(folder["notes"] for folder in document["folders"].values()) == 211
    assert document["index"]["chunks"] == document["chunks"]
    assert "Projects/" not in demo.shell.run("status", "--note", "Journal/2026-03-18.md").out
    note = json.loads(demo.shell.run("status", "--note", "Journal/2026-03-18.md", "--json").out)
    assert (note["indexed"], note["gone"]) == (True, False)
    assert "Nope.md" in demo.shell.refused("status", "--note", "Nope.md")


def test_looking_at_nothing_creates_nothing(empty: Shell) -> None:
    assert empty.run("status").out == "Nothing is indexed yet. Run: companion index\n"
    assert not empty.home.exists()


@pytest.mark.parametrize("vault", ["absent", "Cello.md", ""])
def test_a_vault_that_is_none_is_named(empty: Shell, vault: str) -> None:
    shell = empty.with_variables(COMPANION_VAULT__PATH=str(empty.vault / vault) if vault and empty.vault else "")
    said = shell.refused("index")
    assert "vault" in said
    assert "hint:" in said


def test_the_demo_answers_with_a_citation_and_ends_without_a_terminal(demo: Indexed) -> None:
    assert demo.first.status == 0
    assert "Nora" in demo.first.out
    assert "\n[1] " in demo.first.out
    assert "companion demo --serve" in demo.first.out
