"""What starts a sync by itself: the sensor's whole life with a vault, and the daily schedule."""

import datetime as dt
import os
import shutil
import time
from pathlib import Path

import dagster as dg
import pytest

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import open_instance
from companion_assets.defs.knowledge.jobs import daily_sync, vault_changes
from companion_assets.defs.knowledge.partitions import RANGE_END, RANGE_START, VAULT_FOLDERS
from companion_assets.defs.resources import KnowledgeResource
from tests.defs.conftest import sync


def tick(instance: dg.DagsterInstance) -> dg.SensorResult:
    with dg.build_sensor_context(instance=instance, resources={"knowledge": KnowledgeResource()}) as context:
        result = vault_changes(context)
    assert isinstance(result, dg.SensorResult)
    # What the daemon does with the requests, in its order.
    for request in result.dynamic_partitions_requests or []:
        if isinstance(request, dg.AddDynamicPartitionsRequest):
            instance.add_dynamic_partitions(VAULT_FOLDERS, list(request.partition_keys))
        else:
            for key in request.partition_keys:
                instance.delete_dynamic_partition(VAULT_FOLDERS, key)
    return result


def at_three(instance: dg.DagsterInstance) -> object:
    at = dt.datetime(2026, 6, 1, 3, 0, tzinfo=dt.UTC)
    resources = {"knowledge": KnowledgeResource()}
    with dg.build_schedule_context(instance=instance, scheduled_execution_time=at, resources=resources) as context:
        return daily_sync(context)


def test_first_tick_adds_the_folders_and_asks_for_one_range_run(vault: Path, paths: DataPaths) -> None:
    with open_instance(paths) as instance:
        result = tick(instance)
        assert set(instance.get_dynamic_partitions(VAULT_FOLDERS)) == {"Journal", "Projects", "People", "_root"}
        (run,) = result.run_requests or []
        keys = instance.get_dynamic_partitions(VAULT_FOLDERS)
        assert (run.tags[RANGE_START], run.tags[RANGE_END]) == (keys[0], keys[-1])


def test_the_same_difference_asks_with_the_same_key(vault: Path, paths: DataPaths) -> None:
    with open_instance(paths) as instance:
        first, second = tick(instance), tick(instance)
    assert [run.run_key for run in first.run_requests or []] == [run.run_key for run in second.run_requests or []]


def test_an_edit_asks_for_its_folder_only(synced_vault: Path, synced: DataPaths) -> None:
    note = synced_vault / "Journal/2026-05-14.md"
    note.write_text("#DayInShort\nRewritten.\n", encoding="utf-8")
    os.utime(note, (time.time() - 30, time.time() - 30))
    with open_instance(synced) as instance:
        (run,) = tick(instance).run_requests or []
    assert run.partition_key == "Journal"


def test_a_file_that_is_still_being_written_waits(synced_vault: Path, synced: DataPaths) -> None:
    (synced_vault / "Inbox.md").write_text("just now", encoding="utf-8")
    with open_instance(synced) as instance:
        result = tick(instance)
    assert not result.run_requests


def test_a_vanished_folder_is_emptied_first_and_dropped_then(synced_vault: Path, synced: DataPaths) -> None:
    shutil.rmtree(synced_vault / "People")
    with open_instance(synced) as instance:
        result = tick(instance)
        assert [run.partition_key for run in result.run_requests or []] == ["People"]
        assert "People" in instance.get_dynamic_partitions(VAULT_FOLDERS)
    sync(synced)
    with open_instance(synced) as instance:
        result = tick(instance)
        assert not result.run_requests
        assert "People" not in instance.get_dynamic_partitions(VAULT_FOLDERS)


def test_nothing_to_do_and_no_vault_are_said_in_words(synced_vault: Path, synced: DataPaths, tmp_path: Path) -> None:
    with open_instance(synced) as instance:
        skipped = tick(instance).skip_reason
        assert skipped is not None
        assert "up to date" in str(skipped)
        synced_vault.rename(tmp_path / "unmounted")
        result = tick(instance)
        assert not result.run_requests
        assert not result.dynamic_partitions_requests
        assert str(synced_vault) in str(result.skip_reason)


def test_the_daily_sync_covers_every_folder_once_a_day(synced: DataPaths) -> None:
    with open_instance(synced) as instance:
        request = at_three(instance)
        keys = instance.get_dynamic_partitions(VAULT_FOLDERS)
    assert isinstance(request, dg.RunRequest)
    assert request.run_key == "daily:2026-06-01"
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == (keys[0], keys[-1])
    assert daily_sync.cron_schedule == "0 3 * * *"


def test_without_auto_sync_nothing_starts_by_itself(synced: DataPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_VAULT__INDEXING__AUTO_SYNC", "false")
    with open_instance(synced) as instance:
        asked = [at_three(instance), tick(instance)]
    assert not any(isinstance(answer, dg.RunRequest) or getattr(answer, "run_requests", None) for answer in asked)
    assert all("auto_sync" in str(answer) for answer in asked)
