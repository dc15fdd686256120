"""`companion index`, `sync`, `reindex`, `status`, and the demo."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Shell
from tests.cli.conftest import Indexed
from tests.cli.screen import Screen


def test_index_says_what_it_does_and_what_it_did(small: Indexed) -> None:
    assert small.first.status == 0
    assert small.first.out.startswith("4 notes read, 0 removed, 4 passages embedded in ")
    assert small.first.out.endswith("The index holds 4 passages of 4 notes.\n")
    assert {"reading notes", "embedding passages"} <= set(small.first.err.splitlines())


def test_sync_reads_what_changed_and_shows_a_bar_for_each_phase(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    assert shell.vault
    for number in range(12):
        (shell.vault / f"Bees {number}.md").write_text(f"# Bees {number}\n\nHive {number} stands behind the shed.\n")
    (shell.vault / "Cello.md").unlink()
    with Screen(shell, "sync", width=80) as screen:
        assert screen.ended() == 0
    assert "looking at the vault" in screen.raw
    assert "embedding passages" in screen.raw  # while Dagster holds the process's own output
    assert "12 notes read, 1 removed, 12 passages embedded" in " ".join(screen.lines())
    assert "Hive 3" in shell.run("search", "hive 3 of the bees", "-k", "1").out


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
