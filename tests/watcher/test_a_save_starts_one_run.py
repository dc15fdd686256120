"""However an editor saves, one save is one run, never an empty note, never a removal (bugs B30, B32, B33, B34)."""

import os
import threading
import time
from pathlib import Path

from tests.watcher.conftest import NOTHING_MORE, Watched, wait_for

OLD, NEW = "Old text.\n", "New text.\n"
NOTE = "Journal/2026-05-14.md"


def _at_once(note: Path) -> None:
    note.write_text(NEW, encoding="utf-8")


def _twice(note: Path) -> None:
    note.write_text("Between.\n", encoding="utf-8")
    note.write_text(NEW, encoding="utf-8")


def _truncate_then_write(note: Path) -> None:
    with note.open("w", encoding="utf-8") as file:
        file.flush()
        time.sleep(0.05)
        file.write(NEW)


def _empty_for_a_second(note: Path) -> None:
    note.write_bytes(b"")
    time.sleep(1.2)
    note.write_text(NEW, encoding="utf-8")


def _in_pieces(note: Path) -> None:
    with note.open("w", encoding="utf-8") as file:
        for piece in ("New ", "text", ".\n"):
            file.write(piece)
            file.flush()
            time.sleep(0.15)


def _temp_and_replace(note: Path) -> None:
    beside = note.with_name(".note.md.tmp")
    beside.write_text(NEW, encoding="utf-8")
    time.sleep(0.05)
    beside.replace(note)


def _delete_then_create(note: Path) -> None:
    note.unlink()
    time.sleep(0.7)
    note.write_text(NEW, encoding="utf-8")


def _backup_then_create(note: Path) -> None:
    backup = note.rename(note.with_name("note.md~"))
    time.sleep(0.1)
    note.write_text(NEW, encoding="utf-8")
    backup.unlink()


def _moved_out_and_another_in(note: Path) -> None:
    outside = note.rename(note.parents[2] / "outside.md")
    time.sleep(0.3)
    outside.write_text(NEW, encoding="utf-8")
    outside.rename(note)


SAVES = (
    _at_once,
    _twice,
    _truncate_then_write,
    _empty_for_a_second,
    _in_pieces,
    _temp_and_replace,
    _delete_then_create,
    _backup_then_create,
    _moved_out_and_another_in,
)


def test_every_way_of_saving_is_one_run_while_all_others_go_on(watched: Watched) -> None:
    names = [save.__name__ for save in SAVES]
    for name in names:
        watched.write(f"{name}/note.md", OLD)
    watched.settles(1)
    threads = [threading.Thread(target=save, args=(watched.root / save.__name__ / "note.md",)) for save in SAVES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_for(watched.is_in_step)
    time.sleep(NOTHING_MORE)
    runs = watched.launched[1:]
    assert {name: sum(name in folders for folders in runs) for name in names} == dict.fromkeys(names, 1)
    assert {watched.indexed()[f"{name}/note.md"] for name in names} == {NEW}
    assert watched.syncs.half_saved == []


def test_a_folder_waits_for_a_note_that_is_just_being_written(watched: Watched) -> None:
    (watched.root / NOTE).write_bytes(b"")
    watched.write("Journal/2026-05-15.md", NEW)
    time.sleep(1.2)
    assert watched.launched == []
    watched.write(NOTE, NEW)
    watched.settles(1)
    assert watched.syncs.half_saved == []


def test_a_note_that_stays_empty_is_taken_for_empty(watched: Watched) -> None:
    (watched.root / NOTE).write_bytes(b"")
    watched.settles(1)
    assert watched.indexed()[NOTE].strip() == ""


def test_two_hundred_saves_are_few_runs(watched: Watched) -> None:
    for number in range(200):
        watched.write(f"Journal/{number}.md", f"Number {number}\n")
    watched.settles(1)
    assert watched.launched == [{"Journal"}]
    assert len(watched.indexed()) == 204


def test_what_is_no_note_starts_nothing_not_even_a_look(watched: Watched) -> None:
    for path in (
        ".obsidian/workspace.json",
        "Journal/photo.png",
        "Journal/a.md.tmp",
        ".trash/old.md",
        "x.sync-conflict-20260101-010101.md",
    ):
        watched.write(path, "something\n")
    watched.settles(0)


def test_repeated_and_meaningless_events_start_nothing(watched: Watched) -> None:
    note = watched.root / NOTE
    before = note.stat()
    for mode in (0o600, 0o644):
        note.chmod(mode)
        note.read_bytes()
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    with note.open("a", encoding="utf-8"):
        pass
    watched.settles(0)


def test_a_save_during_a_run_is_the_next_run(watched: Watched) -> None:
    watched.syncs.hold.set()
    watched.write(NOTE, "First.\n")
    wait_for(lambda: watched.launched)
    for path in (NOTE, "Projects/Cello.md", "Inbox.md"):
        watched.write(path, "Second.\n")
        time.sleep(0.6)
    assert watched.launched == [{"Journal"}]
    watched.syncs.hold.clear()
    watched.settles(2)
    assert watched.launched == [{"Journal"}, {"Journal", "Projects", "_root"}]


def test_a_run_that_cannot_be_started_is_tried_again_until_it_can(watched: Watched) -> None:
    watched.syncs.refuse = True
    watched.write(NOTE, "New text.\n")
    wait_for(lambda: watched.syncs.attempts >= 3)
    wait_for(lambda: watched.state and "no sync could be started" in watched.state.reason)
    watched.write("Inbox.md", "New text.\n")
    watched.syncs.refuse = False
    wait_for(lambda: watched.launched)
    watched.settles(1)
    assert watched.launched == [{"Journal", "_root"}]
    assert watched.state
    assert watched.state.reason == ""


def test_a_run_that_fails_is_not_started_again_for_the_same_difference(watched: Watched) -> None:
    watched.syncs.fail = True
    watched.write(NOTE, "New text.\n")
    wait_for(lambda: watched.launched)
    watched.syncs.fail = False
    watched.write("Projects/Cello.md", "New text.\n")
    wait_for(lambda: len(watched.launched) == 2)
    time.sleep(NOTHING_MORE)
    assert watched.launched == [{"Journal"}, {"Projects"}]
    watched.write("Journal/another.md", "Another difference.\n")
    watched.settles(3)
    assert watched.launched[2] == {"Journal"}


def test_a_change_that_no_event_told_of_is_repaired_on_the_way(watched: Watched) -> None:
    elsewhere = watched.root.parent / "elsewhere.md"
    elsewhere.write_text("Written through a link.\n", encoding="utf-8")
    os.link(elsewhere, watched.root / "Journal/linked.md")
    watched.catches_up(1)
    elsewhere.write_text("Changed through the other name, which is not watched.\n", encoding="utf-8")
    watched.write("Projects/Cello.md", "This is seen.\n")
    watched.settles(3)
    assert watched.launched == [{"Journal"}, {"Projects"}, {"Journal"}]
