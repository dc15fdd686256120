"""What starts a sync by itself: the sensor's whole life with a vault, passes over every folder, the daily schedule.

Nothing asked for twice, and no run too many after a sleep (B84).
"""

import datetime as dt
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import open_instance
from companion_assets.definitions import defs
from companion_assets.defs.knowledge import sensor
from companion_assets.defs.knowledge.partitions import RANGE_END, RANGE_START, covering_tags
from companion_assets.defs.run_tags import ALL_FOLDERS, REASON_TAG, SCOPE_TAG
from tests.defs.conftest import sync, write_notes
from tests.defs.daemon import Daemon, clock_ahead, make_older, put_run

PASS = {SCOPE_TAG: ALL_FOLDERS}


@pytest.fixture
def daemon(synced: DataPaths) -> Iterator[Daemon]:
    """Of a vault that is up to date."""
    with open_instance(synced) as instance:
        yield Daemon(instance)


@pytest.fixture
def first_day(paths: DataPaths) -> Iterator[Daemon]:
    """Of a vault that was never synced."""
    with open_instance(paths) as instance:
        yield Daemon(instance)


def edit(note: Path, text: str, *, age: float = 30) -> None:
    note.parent.mkdir(exist_ok=True)
    note.write_text(text, encoding="utf-8")
    os.utime(note, (time.time() - age, time.time() - age))


# --- the sensor


def test_first_tick_adds_the_folders_and_asks_for_one_range_run(vault: Path, first_day: Daemon) -> None:
    (run,) = first_day.tick().run_requests or []
    keys = first_day.partitions()
    assert set(keys) == {"Journal", "Projects", "People", "_root"}
    assert (run.tags[RANGE_START], run.tags[RANGE_END]) == (keys[0], keys[-1])
    assert (run.tags[SCOPE_TAG], run.tags[REASON_TAG]) == (ALL_FOLDERS, "sensor")


def test_the_same_difference_is_asked_for_with_the_same_key(vault: Path, first_day: Daemon) -> None:
    first = first_day.keys()
    assert len(first) == 1
    assert first_day.keys() == first


def test_a_difference_that_stays_is_asked_for_again_after_an_hour(
    synced_vault: Path, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(synced_vault / "Inbox.md", "Its run will fail.\n")
    first = daemon.keys()
    monkeypatch.setattr(sensor, "dt", clock_ahead(dt.timedelta(minutes=58)))
    assert daemon.keys() == first
    monkeypatch.setattr(sensor, "dt", clock_ahead(dt.timedelta(minutes=61)))
    second = daemon.keys()
    assert len(second) == 1
    assert second != first


def test_a_note_edited_to_and_fro_is_never_taken_for_done(
    synced_vault: Path, synced: DataPaths, daemon: Daemon
) -> None:
    """B82: a run key that was used once must not hide the same difference when it comes again."""
    note, times = synced_vault / "Inbox.md", []
    before = note.read_text(encoding="utf-8"), note.stat().st_mtime_ns
    edit(note, "Other words.\n")
    after = note.read_text(encoding="utf-8"), note.stat().st_mtime_ns
    for text, mtime in (after, before, after):  # with the file times restored, as a sync tool does
        note.write_text(text, encoding="utf-8")
        os.utime(note, ns=(mtime, mtime))
        times += daemon.keys()
        sync(synced)
        assert daemon.keys() == []
    assert len(set(times)) == 3


@pytest.mark.parametrize(
    "cursor", [None, "", "no json", "[1]", '{"_root": 7}', '{"seen": [1]}', '{"seen": {"_root": 7}, "pass": 3}']
)
def test_a_lost_cursor_loses_no_work(synced_vault: Path, daemon: Daemon, cursor: str | None) -> None:
    edit(synced_vault / "Inbox.md", "Other words.\n")
    daemon.cursor = cursor
    (key,) = daemon.keys()
    assert key.startswith("_root:")


def test_an_edit_asks_for_its_folder_only(synced_vault: Path, daemon: Daemon) -> None:
    edit(synced_vault / "Journal/2026-05-14.md", "#DayInShort\nRewritten.\n")
    (run,) = daemon.tick().run_requests or []
    assert run.partition_key == "Journal"


def test_scattered_edits_are_one_run_over_the_range_between_them(synced_vault: Path, daemon: Daemon) -> None:
    notes = {"Journal": "Journal/2026-05-14.md", "Projects": "Projects/Cello.md", "People": "People/Mei Lin.md"}
    first, _, last = (key for key in daemon.partitions() if key in notes)
    for folder in (first, last):
        edit(synced_vault / notes[folder], "Rewritten.\n")
    (run,) = daemon.tick().run_requests or []
    assert run.partition_key is None
    assert (run.tags[RANGE_START], run.tags[RANGE_END]) == (first, last)
    assert SCOPE_TAG not in run.tags


def test_a_range_covers_what_it_must_and_says_when_that_is_all() -> None:
    keys = ["d", "b", "a", "c"]  # in the order of their adding, as Dagster has them
    assert covering_tags(keys, {"c", "b"}) == {RANGE_START: "b", RANGE_END: "c"}
    assert covering_tags(keys, ["a"]) == {RANGE_START: "a", RANGE_END: "a"}
    assert covering_tags(keys, {"c", "d"}) == {RANGE_START: "d", RANGE_END: "c", SCOPE_TAG: ALL_FOLDERS}


def test_a_file_that_is_still_being_written_waits(synced_vault: Path, daemon: Daemon) -> None:
    (synced_vault / "Inbox.md").write_text("just now", encoding="utf-8")
    assert daemon.keys() == []


def test_a_vanished_folder_is_emptied_first_and_dropped_then(
    synced_vault: Path, synced: DataPaths, daemon: Daemon
) -> None:
    shutil.rmtree(synced_vault / "People")
    (run,) = daemon.tick().run_requests or []
    assert run.partition_key == "People"
    assert "People" in daemon.partitions()
    sync(synced)
    edit(synced_vault / "Inbox.md", "Edited in the same half minute.\n")
    assert "People" in daemon.reason()
    assert "People" not in daemon.partitions()
    (run,) = daemon.tick().run_requests or []
    assert run.partition_key == "_root"


def test_a_folder_that_is_only_out_of_sight_keeps_its_partition(synced_vault: Path, daemon: Daemon) -> None:
    note = synced_vault / "People/Mei Lin.md"
    note.rename(note.with_name(".Mei Lin.md.icloud"))
    assert "up to date" in daemon.reason()
    assert "People" in daemon.partitions()


def test_a_mass_loss_is_held_and_said_while_the_other_folders_go_on(
    synced_vault: Path, synced: DataPaths, daemon: Daemon
) -> None:
    write_notes(synced_vault, {f"Many/{i}.md": f"Note {i}.\n" for i in range(60)})
    sync(synced)
    shutil.rmtree(synced_vault / "Many")
    reason = daemon.reason()
    assert "60 of 65 notes vanished at once" in reason
    assert "--confirm-removals" in reason
    edit(synced_vault / "Inbox.md", "Other words.\n")
    (run,) = daemon.tick().run_requests or []
    assert run.partition_key == "_root"
    assert "Many" in daemon.partitions()


def test_nothing_to_do_and_no_vault_are_said_in_words(synced_vault: Path, daemon: Daemon, tmp_path: Path) -> None:
    assert "up to date" in daemon.reason()
    synced_vault.rename(tmp_path / "unmounted")
    assert str(synced_vault) in daemon.reason()
    synced_vault.mkdir()
    assert "is empty" in daemon.reason()
    assert isinstance(answer := daemon.at(dt.datetime.now(dt.UTC) + dt.timedelta(days=1)), dg.SkipReason)
    assert "is empty" in str(answer.skip_message)
    assert len(daemon.partitions()) == 4


def test_a_damaged_catalog_is_a_reason_and_no_failed_tick(synced: DataPaths, daemon: Daemon) -> None:
    for side in ("-wal", "-shm"):
        synced.catalog_db.with_name(synced.catalog_db.name + side).unlink(missing_ok=True)
    synced.catalog_db.write_bytes(b"no database" * 1000)
    assert "is damaged" in daemon.reason()


# --- settings


def test_without_auto_sync_nothing_starts_by_itself(
    synced_vault: Path, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(synced_vault / "Inbox.md", "Other words.\n")
    monkeypatch.setenv("COMPANION_VAULT__INDEXING__AUTO_SYNC", "false")
    assert "auto_sync is off" in daemon.reason()
    assert "auto_sync is off" in str(daemon.at(dt.datetime.now(dt.UTC) + dt.timedelta(days=1)))


def test_without_watching_the_vault_is_compared_at_passes_only(
    synced_vault: Path, synced: DataPaths, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPANION_VAULT__INDEXING__WATCH_FS_EVENTS", "false")
    edit(synced_vault / "New folder/Note.md", "New.\n")
    assert "watch_fs_events is off" in daemon.reason()
    monkeypatch.setenv("COMPANION_VAULT__INDEXING__AUTO_SYNC_INTERVAL_MINUTES", "60")
    assert "watch_fs_events is off" in daemon.reason()
    make_older(synced, dt.timedelta(minutes=61))
    (run,) = daemon.tick().run_requests or []
    assert (run.tags[SCOPE_TAG], run.tags[RANGE_END]) == (ALL_FOLDERS, "New folder")


# --- passes


def test_a_shorter_interval_adds_passes_in_between(
    synced: DataPaths, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_older(synced, dt.timedelta(days=3))  # asleep meanwhile
    assert "up to date" in daemon.reason()
    monkeypatch.setenv("COMPANION_VAULT__INDEXING__AUTO_SYNC_INTERVAL_MINUTES", "720")
    (run,) = daemon.tick().run_requests or []
    keys = daemon.partitions()
    assert (run.tags[RANGE_START], run.tags[RANGE_END]) == (keys[0], keys[-1])
    assert (run.tags[SCOPE_TAG], run.tags[REASON_TAG]) == (ALL_FOLDERS, "interval")
    assert daemon.keys() == [], "asked for once in the same stretch of time"
    put_run(daemon.instance, run.tags)
    assert "up to date" in daemon.reason(), "one catches up with all that was missed"


def test_a_failed_pass_counts_as_none_and_any_other_as_one(
    synced: DataPaths, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_older(synced, dt.timedelta(days=3))
    monkeypatch.setenv("COMPANION_VAULT__INDEXING__AUTO_SYNC_INTERVAL_MINUTES", "720")
    put_run(daemon.instance, PASS, dg.DagsterRunStatus.FAILURE)
    put_run(daemon.instance, {})
    assert len(daemon.keys()) == 1
    put_run(daemon.instance, {**PASS, REASON_TAG: "companion sync"})
    assert daemon.keys() == []


def test_the_daily_sync_covers_every_folder_once_a_day(synced_vault: Path, daemon: Daemon) -> None:
    edit(synced_vault / "New folder/Note.md", "The sensor has not seen it yet.\n")
    at = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    request = daemon.at(at)
    keys = daemon.partitions()
    assert isinstance(request, dg.RunRequest)
    assert request.run_key == f"daily:{at:%Y-%m-%d}"
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == (keys[0], keys[-1])
    assert (request.tags[SCOPE_TAG], request.tags[REASON_TAG]) == (ALL_FOLDERS, "daily")
    assert keys[-1] == "New folder"


def test_the_daily_sync_drops_what_is_gone_but_not_while_a_sync_runs(
    synced_vault: Path, synced: DataPaths, daemon: Daemon
) -> None:
    shutil.rmtree(synced_vault / "People")
    sync(synced)
    at = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    running = put_run(daemon.instance, {}, dg.DagsterRunStatus.NOT_STARTED)
    assert isinstance(daemon.at(at), dg.RunRequest)
    assert "People" in daemon.partitions()
    daemon.instance.delete_run(running)
    request = daemon.at(at)
    assert isinstance(request, dg.RunRequest)
    assert "People" not in daemon.partitions()
    assert "People" not in (request.tags[RANGE_START], request.tags[RANGE_END])


def test_a_longer_interval_leaves_days_out_and_says_so(
    synced: DataPaths, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPANION_VAULT__INDEXING__AUTO_SYNC_INTERVAL_MINUTES", str(3 * 1440))
    last = dt.datetime.now(dt.UTC)
    for day in (1, 2):
        answer = daemon.at(last + dt.timedelta(days=day))
        assert isinstance(answer, dg.SkipReason)
        assert "due every 3 days" in str(answer.skip_message)
        assert f"{last + dt.timedelta(days=3):%Y-%m-%d}" in str(answer.skip_message)
    # A few seconds before the three days are over, since the run was created some seconds after its tick.
    assert isinstance(daemon.at(last + dt.timedelta(days=3, seconds=-20)), dg.RunRequest)


def test_after_a_week_asleep_one_daily_sync_catches_up(synced: DataPaths, daemon: Daemon) -> None:
    make_older(synced, dt.timedelta(days=8))
    now, begun = dt.datetime.now(dt.UTC), []
    for days in range(7, 0, -1):  # Dagster evaluates the missed ticks one after the other
        answer = daemon.at(now - dt.timedelta(days=days))
        if isinstance(answer, dg.RunRequest):
            begun.append(put_run(daemon.instance, answer.tags, dg.DagsterRunStatus.NOT_STARTED))
        else:
            assert "has begun since then" in str(answer.skip_message)
    assert len(begun) == 1


def test_what_runs_by_itself_is_on_from_the_start_and_at_the_hours_of_the_person() -> None:
    repository = defs.get_repository_def()
    hours = {name: repository.get_schedule_def(name).cron_schedule for name in ("daily_sync", "weekly_upkeep")}
    assert hours == {"daily_sync": "0 3 * * *", "weekly_upkeep": "30 4 * * 0"}
    for name in hours:
        schedule = repository.get_schedule_def(name)
        assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
        assert schedule.execution_timezone
    assert repository.get_sensor_def("vault_changes").default_status is dg.DefaultSensorStatus.RUNNING
