"""`companion status`: what is indexed, how current it is, left out (B23, B26), or in the way (B27, B28)."""

import json
from pathlib import Path

from companion_assets.contracts.paths import data_paths
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.progress import ProgressFile
from tests.cli.commands import Shell, write_vault
from tests.cli.conftest import Indexed
from tests.cli.screen import Screen


def status(shell: Shell) -> dict:
    done = shell.run("status", "--json")
    assert done.status == 0, done
    return json.loads(done.out)


def test_figures_agree_with_each_other_and_with_the_index(demo: Indexed) -> None:
    shown = demo.shell.run("status").out
    assert shown.startswith("209 of 211 notes indexed, 99.1 %; 2 read in part\n")
    assert "multilingual-e5-small · synced " in shown
    document = status(demo.shell)
    folders = document["folders"].values()
    assert document["notes"] == sum(folder["notes"] for folder in folders) == 211
    assert document["indexed"] == 211 - len(document["partial_notes"]) == 209
    assert document["chunks"] == document["index"]["chunks"] == sum(folder["chunks"] for folder in folders)
    assert document["last_sync"] == document["index"]["published_at"]
    assert document["sizes"]["index"] > 100_000
    assert (document["watching"]["mode"], document["services"], document["progress"]) == ("off", None, None)


def test_what_is_read_in_part_skipped_or_left_out_is_counted_and_named(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    assert shell.vault
    (shell.vault / "Half.md").write_bytes(b"# Half\n\nGood line.\n\xff\xfe\xe9 broken\n")
    write_vault(shell.vault, {"Kitchen/Soup.sync-conflict-20260101-120000-ABCDEFG.md": "x", ".hidden.md": "x"})
    (shell.vault / "Cello.md").write_text("# Cello\n\nThe top is thinner now.\n")
    (shell.vault / "Kitchen" / "Odd.md").unlink()
    document = status(shell)
    assert document["since_last_sync"] == {"changed": 2, "gone": 1}
    assert "2 new or changed on disk, 1 gone from it since the last sync: companion sync" in shell.run("status").out
    shell.run("sync")
    shown = shell.run("status").out
    assert shown.startswith("3 of 4 notes indexed, 75.0 %; 1 read in part\n")
    assert "left out: 1 × conflict copy of a sync tool, 1 × name starts with a dot\n" in shown
    assert "Half.md: read in part, byte 19 is not valid UTF-8" in shown
    document = status(shell)
    assert document["left_out"] == {"conflict copy of a sync tool": 1, "name starts with a dot": 1}
    assert [note["path"] for note in document["partial_notes"]] == ["Half.md"]
    assert document["since_last_sync"] == {"changed": 0, "gone": 0}


def test_it_fits_a_terminal_of_80_columns(demo: Indexed) -> None:
    with Screen(demo.shell, "status", width=80) as screen:
        assert screen.ended() == 0
        lines = screen.lines()
    assert lines[0] == "209 of 211 notes indexed, 99.1 %; 2 read in part"
    heading = next(line for line in lines if line.startswith("folder"))
    assert heading.split() == ["folder", "notes", "passages", "partial"]  # no column of nothing


def test_looking_at_nothing_creates_nothing(empty: Shell) -> None:
    assert empty.run("status").out == "Nothing is indexed yet. Run: companion index\n"
    assert status(empty)["index"] is None
    assert not empty.home.exists()


def test_a_sync_that_runs_is_shown(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    ProgressFile(shell.home / "progress.json").report("embedding", 120, 400, "Journal")
    assert "sync running: embedding Journal 120 of 400\n" in shell.run("status").out
    assert status(shell)["progress"]["done"] == 120


def test_a_vault_that_is_not_there_is_said_and_nothing_is_removed(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    assert shell.vault
    shell.vault.rename(tmp_path / "unplugged")
    assert "does not exist" in shell.refused("sync")
    for what in ("does not exist", "is empty"):
        shown = shell.run("status").out
        assert f"{what}. Nothing was removed from the index." in shown
        assert "4 of 4 notes indexed, 100 %" in shown
        assert what in status(shell)["vault"]["fault"]
        shell.vault.mkdir(exist_ok=True)
    assert "Cello.md" in shell.run("search", "cello", "-k", "1").out


def test_notes_that_all_vanish_at_once_are_kept_until_it_is_confirmed(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    assert shell.vault
    for note in shell.vault.rglob("*.md"):
        note.unlink()
    (shell.vault / "Cello.png").write_bytes(b"x")
    words = "4 of 4 notes vanished at once, so none was removed; if that is right: companion sync --confirm-removals."
    done = shell.run("sync")
    assert "0 notes read, 0 removed" in done.out
    assert words in done.out
    assert words in shell.run("status").out
    assert status(shell)["held_removals"]["vanished"] == 4
    shown = shell.run("status", "--note", "Cello.md").out
    assert shown.startswith("Cello.md: its file is gone\n  why: 4 of 4 notes vanished at once")
    assert "Cello.md" in shell.run("search", "cello", "-k", "1").out
    done = shell.run("sync", "--confirm-removals")
    assert "4 removed" in done.out
    assert "vanished" not in done.out
    assert CatalogView(data_paths(shell.home).catalog_db).counts().notes == 0
    assert shell.run("search", "cello").out == "Nothing found.\n"
    assert status(shell)["held_removals"] is None


def test_a_note_is_told_of_with_reason_time_and_run(demo: Indexed) -> None:
    shown = demo.shell.run("status", "--note", "2026-03-18").out
    assert shown.startswith("Journal/2026-03-18.md: indexed\n")
    assert " in the index\n" in shown
    note = json.loads(demo.shell.run("status", "--note", "Journal/2026-03-18.md", "--json").out)
    assert (note["standing"], note["indexed"], note["gone"]) == ("indexed", True, False)
    assert note["run_id"] in shown
    assert "Nope" in demo.shell.refused("status", "--note", "Nope.md")


def test_a_reader_finds_the_run_of_a_note_in_the_running_services(small: Indexed, tmp_path: Path) -> None:
    from companion_assets.daemon.running import Services, announce
    from companion_assets.stores.process_mark import ProcessMark

    shell = small.shell.copy(tmp_path)
    own = ProcessMark.own()
    paths = data_paths(shell.home)
    paths.locks_dir.mkdir(exist_ok=True)
    announce(paths, Services(own.pid, own.started, "http://127.0.0.1:7373", 3210))
    note = json.loads(shell.run("status", "--note", "Cello", "--json").out)
    assert note["run_url"] == f"http://127.0.0.1:3210/runs/{note['run_id']}"
    shown = shell.run("status").out
    assert "page http://127.0.0.1:7373 · runs http://127.0.0.1:3210" in shown
    assert " · looks every 30 s\n" in shown
