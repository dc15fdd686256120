"""What vanishes leaves the index; what vanishes in masses stays (B27) until its person has said that it is right (B28).

A save that deletes or empties the file for a moment is no removal (B34).
"""

import shutil
import threading
import time
from pathlib import Path
from unittest import mock

import pytest

from companion_assets.contracts.errors import VaultError
from companion_assets.stages.drift import measure_drift
from companion_assets.stores import index_writer
from tests.stages.sync_material import Living, settle


def many(folder: str, count: int) -> dict[str, str]:
    return {f"{folder}/{n}.md": f"Note {n} of {folder}." for n in range(count)}


def remove(living: Living, *paths: str) -> None:
    settle()
    for path in paths:
        (living.vault / path).unlink()
    settle()


def test_a_removed_note_and_a_removed_folder_leave_the_index(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("A", 3), **many("B", 2)})
    living.sync()
    remove(living, "A/0.md", "B/0.md", "B/1.md")
    (living.vault / "B").rmdir()
    counts, _ = living.sync()
    assert (counts["removed"], counts["notes_removed"]) == (3, 3)
    assert set(living.served()) == {"A/1.md", "A/2.md"}


def test_more_than_fifty_and_more_than_a_tenth_are_held_until_confirmed(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("A", 51), **many("B", 9)})
    living.sync()
    settle()
    shutil.rmtree(living.vault / "A")
    settle()
    living.write("B/0.md", "Edited meanwhile.")
    counts, _ = living.sync()
    assert (counts["removed"], counts["embedded"], len(living.served())) == (0, 1, 60)
    held = living.view().held_removals()
    assert held is not None
    assert (held.vanished, held.known) == (51, 60)
    assert "companion sync --confirm-removals" in held.reason
    with living.workspace() as work:
        drift = measure_drift(work)
    assert (drift.dirty, drift.held, drift.folders) == ({}, held, ("A", "B"))
    counts, _ = living.sync(confirm_removals=True)
    assert (counts["removed"], len(living.served())) == (51, 9)
    living.sync()
    assert living.view().held_removals() is None


def test_fifty_of_many_and_a_tenth_of_very_many_go_without_asking(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("A", 50), "B/stays.md": "Stays."})
    living.sync()
    remove(living, *(f"A/{n}.md" for n in range(50)))
    assert living.sync()[0]["removed"] == 50


def test_held_notes_that_come_back_are_as_before(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("A", 60), "B/stays.md": "Stays."})
    living.sync()
    settle()
    (living.vault / "A").rename(tmp_path / "elsewhere")
    settle()
    living.sync()
    (tmp_path / "elsewhere").rename(living.vault / "A")
    _, verdict = living.sync()
    assert not verdict.changed
    assert living.view().held_removals() is None


def test_a_mass_move_is_no_loss(tmp_path: Path) -> None:
    living = Living(tmp_path, many("A", 60))
    living.sync()
    (living.vault / "A").rename(living.vault / "Renamed")
    counts, _ = living.sync()
    assert (counts["notes_removed"], counts["embedded"]) == (60, 0)
    assert set(living.served()) == {f"Renamed/{n}.md" for n in range(60)}


@pytest.mark.parametrize("left", ["nothing", "settings only", "no folder"])
def test_an_emptied_or_missing_vault_removes_nothing(tmp_path: Path, left: str) -> None:
    living = Living(tmp_path, many("A", 3))
    living.sync()
    settle()
    if left == "settings only":
        shutil.rmtree(living.vault / "A")
        settle()
        living.sync()
        assert living.view().held_removals() is not None
    else:
        shutil.rmtree(living.vault)
        if left == "nothing":
            living.vault.mkdir()
        with pytest.raises(VaultError):
            living.sync("A")
    assert len(living.served()) == 3


def test_notes_of_a_folder_that_is_denied_now_leave_the_index(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("Private", 3), **many("A", 2)})
    living.sync()
    indexing = living.settings.indexing.model_copy(update={"deny_dirs": ("Private",)})
    living.settings = living.settings.model_copy(update={"indexing": indexing})
    living.sync()
    assert set(living.served()) == {"A/0.md", "A/1.md"}


def test_a_save_by_deleting_and_making_anew_removes_nothing(tmp_path: Path) -> None:
    living = Living(tmp_path, many("A", 3))
    living.sync()
    (living.vault / "A/0.md").unlink()
    back = threading.Timer(0.4, lambda: living.write("A/0.md", "Saved anew."))
    back.start()
    counts, _ = living.sync()
    back.join()
    assert (counts["removed"], counts["notes_merged"]) == (0, 1)
    assert living.served()["A/0.md"] == "Saved anew."


def test_a_note_that_is_emptied_to_be_written_is_never_indexed_empty(tmp_path: Path) -> None:
    living = Living(tmp_path, many("A", 2))
    living.sync()
    living.write("A/0.md", "")
    with living.workspace() as work:
        assert measure_drift(work, settle_seconds=0).unsettled == {"A"}
    filled = threading.Timer(0.4, lambda: living.write("A/0.md", "Written again."))
    filled.start()
    living.sync()
    filled.join()
    assert living.served()["A/0.md"] == "Written again."


def test_a_note_that_stays_empty_is_empty(tmp_path: Path) -> None:
    living = Living(tmp_path, many("A", 2))
    living.sync()
    living.write("A/0.md", "")
    started = time.monotonic()
    living.sync()
    assert time.monotonic() - started < 30
    assert set(living.served()) == {"A/1.md"}


def test_a_run_of_one_folder_reads_and_writes_only_what_changed_in_it(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("A", 20), **many("B", 20)})
    living.sync()
    living.write("A/7.md", "Changed.")
    living.write("B/7.md", "Changed too.")
    counts, _ = living.sync("A")
    assert (counts["read"], counts["embedded"], counts["rows_written"]) == (1, 1, 1)
    assert living.embedder.texts == ["Changed."]
    assert living.served()["B/7.md"] == "Note 7 of B."
    with living.workspace() as work:
        assert list(measure_drift(work, settle_seconds=0).dirty) == ["B"]


def test_a_confirmation_does_not_hold_for_many_more_than_were_shown(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("A", 60), **many("B", 60), "C/stays.md": "Stays."})
    living.sync()
    settle()
    shutil.rmtree(living.vault / "A")
    settle()
    living.sync()
    shutil.rmtree(living.vault / "B")
    settle()
    assert living.sync(confirm_removals=True)[0]["removed"] == 0
    assert living.sync(confirm_removals=True)[0]["removed"] == 120


def test_a_passage_that_cannot_be_embedded_costs_other_saves_nothing(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many("A", 3), "B/bad.md": "A bad text.\n"})
    living.embedder.refuses = "bad"
    living.sync()
    looked: list[int] = []
    measure = index_writer.measure_health
    living.write("A/0.md", "Edited.")
    with mock.patch.object(
        index_writer,
        "measure_health",
        lambda t, s, n=None: looked.append(-1 if n is None else len(n)) or measure(t, s, n),
    ):
        living.sync("A")
    assert looked == [1], "only the edited note was looked at"
