"""`companion index`, `sync`, `reindex`, and the demo."""

import json
from pathlib import Path

import pytest

from companion_assets.stores.catalog_view import CatalogView
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


def test_another_chunking_rule_embeds_only_the_texts_that_are_new(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    assert shell.vault
    lines = "\n\n".join(f"Paragraph {n} of the long note tells of hive {n} and its queen." for n in range(40))
    (shell.vault / "Long.md").write_text(f"# Long\n\n{lines}\n")
    shell.run("sync")
    before = texts_of(shell)
    settings = shell.home / "companion.yaml"
    settings.write_text("vault:\n  chunking_rules:\n    default: { chunk_size: 64, chunk_overlap: 0 }\n")
    new = embedded_by_sync(shell)
    after = texts_of(shell)
    assert new == len(after - before) > 3
    assert before & after, "short notes are cut as before"
    assert shell.run("search", "the queen of hive 31", "-k", "1").out.startswith("1. Long Long.md")


def texts_of(shell: Shell) -> set[str]:
    return CatalogView(shell.home / "catalog.db").all_text_shas()


def embedded_by_sync(shell: Shell) -> int:
    return json.loads(shell.run("sync", "--json").out)["counts"]["embeddings"]["embedded"]
