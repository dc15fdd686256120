"""Renames, moves, deletions and new folders of every shape end in step with the disk (bugs B29, B30, B31)."""

import shutil
import time
import unicodedata
from pathlib import Path

from tests.watcher.conftest import NOTHING_MORE, Syncs, Watched, wait_for, watched_vault


def test_a_note_that_moves_to_another_folder_is_one_run_for_both(watched: Watched) -> None:
    (watched.root / "Inbox.md").rename(watched.root / "Projects/Inbox.md")
    watched.settles(1)
    assert watched.launched == [{"Projects", "_root"}]
    assert watched.indexed().keys() >= {"Projects/Inbox.md", "Projects/Cello.md"}
    assert "Inbox.md" not in watched.indexed()


def test_a_note_is_renamed_then_deleted(watched: Watched) -> None:
    note = watched.root / "Journal/2026-05-14.md"
    moved = note.rename(watched.root / "Journal/renamed.md")
    watched.catches_up(1)
    assert watched.indexed().keys() & {"Journal/2026-05-14.md", "Journal/renamed.md"} == {"Journal/renamed.md"}
    moved.unlink()
    watched.settles(2)
    assert watched.launched == [{"Journal"}, {"Journal"}]
    assert "Journal/renamed.md" not in watched.indexed()


def test_there_and_back_again_starts_nothing(watched: Watched) -> None:
    note = watched.root / "Journal/2026-05-14.md"
    note.rename(watched.root / "Journal/x.md").rename(note)
    away = (watched.root / "Journal").rename(watched.root / "Away")
    away.rename(watched.root / "Journal")
    watched.settles(0)


def test_a_whole_tree_is_renamed_and_watched_under_its_new_name(watched: Watched) -> None:
    for number in range(50):
        watched.write(f"Journal/2025/{number % 5}/{number}.md", f"Day {number}\n")
    watched.catches_up(1)
    (watched.root / "Journal").rename(watched.root / "Diary")
    watched.catches_up(2)
    assert watched.launched[1] >= {"Diary"}
    paths = watched.indexed().keys()
    assert len(paths) == 54
    assert not [path for path in paths if path.startswith("Journal")]
    watched.write("Diary/2025/3/3.md", "Changed under the new name.\n")
    watched.settles(3)
    assert watched.launched[2] == {"Diary"}


def test_a_folder_is_deleted_with_all_in_it(watched: Watched) -> None:
    shutil.rmtree(watched.root / "Journal")
    watched.settles(1)
    assert watched.launched == [{"Journal"}]
    assert watched.indexed().keys() == {"Inbox.md", "Projects/Cello.md"}


def test_new_folders_are_watched_however_deep(watched: Watched) -> None:
    watched.write("Travel/2026/Azores/Furnas.md", "Stew at noon.\n")
    watched.catches_up(1)
    assert watched.launched == [{"Travel"}]
    watched.write("Travel/2026/Azores/Furnas.md", "Stew at one.\n")
    watched.settles(2)
    assert watched.indexed()["Travel/2026/Azores/Furnas.md"] == "Stew at one.\n"


def test_a_folder_that_comes_from_outside_is_watched_from_then_on(watched: Watched, tmp_path: Path) -> None:
    outside = tmp_path / "Recipes"
    (outside / "Soup").mkdir(parents=True)
    (outside / "Soup/Caldo.md").write_text("Kale.\n", encoding="utf-8")
    outside.rename(watched.root / "Recipes")
    watched.catches_up(1)
    watched.write("Recipes/Soup/Caldo.md", "Kale and chouriço.\n")
    watched.catches_up(2)
    assert watched.launched == [{"Recipes"}, {"Recipes"}]
    (watched.root / "Recipes").rename(outside)
    watched.settles(3)
    assert "Recipes/Soup/Caldo.md" not in watched.indexed()


def test_decomposed_names_are_the_same_folder(watched: Watched) -> None:
    folder = "Überlegungen"
    watched.write(f"{unicodedata.normalize('NFD', folder)}/{unicodedata.normalize('NFD', 'Café')}.md", "Accents.\n")
    watched.settles(1)
    assert watched.launched == [{folder}]
    assert watched.indexed()[f"{folder}/Café.md"] == "Accents.\n"


def test_a_storm_in_many_folders_is_few_runs(watched: Watched) -> None:
    for number in range(2500):
        watched.write(f"Import {number % 7}/{number % 20}/{number}.md", f"Number {number}\n")
        if number % 2:
            watched.write(f"Import {number % 7}/{number % 20}/{number}.md", f"Number {number}, again\n")
    wait_for(lambda: watched.launched and watched.is_in_step())
    time.sleep(NOTHING_MORE)
    assert len(watched.indexed()) == 2504
    assert len(watched.launched) <= 5
    # Folders that the system never told of, because its queue ran over, are watched all the same.
    runs = len(watched.launched)
    watched.write("Import 6/13/2499.md", "After the storm.\n")
    wait_for(lambda: len(watched.launched) > runs and watched.is_in_step())


def test_what_seems_lost_all_at_once_starts_nothing(vault: Path) -> None:
    for number in range(80):
        (vault / f"Journal/{number}.md").write_text(f"Number {number}\n", encoding="utf-8")
    syncs = Syncs()
    with watched_vault(vault, syncs) as watched:
        wait_for(lambda: syncs.launched and watched.is_in_step())
        runs = len(syncs.launched)
        for number in range(80):
            (vault / f"Journal/{number}.md").unlink()
        time.sleep(2 * NOTHING_MORE)
        assert len(syncs.launched) == runs
        watched.write("Inbox.md", "Life goes on.\n")
        wait_for(lambda: watched.indexed()["Inbox.md"] == "Life goes on.\n")
        assert len(watched.indexed()) == 84
