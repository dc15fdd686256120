"""`locks/watch.json`: mode and reason of the living watcher, nothing of a dead one."""

import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon.watch_state import WatchState, WatchStateFile, read_watch_state


@pytest.fixture
def paths() -> DataPaths:
    return data_paths()


def test_what_was_said_is_read_and_withdrawn(paths: DataPaths) -> None:
    assert read_watch_state(paths) is None
    file = WatchStateFile(paths)
    assert file.say("events")
    state = read_watch_state(paths)
    assert state == WatchState("events", "", os.getpid(), state.since if state else dt.datetime.now(dt.UTC))
    assert state
    assert dt.datetime.now(dt.UTC) - state.since < dt.timedelta(minutes=1)
    file.withdraw()
    assert read_watch_state(paths) is None
    file.withdraw()


def test_the_same_again_is_no_news_and_a_new_reason_keeps_the_time(paths: DataPaths) -> None:
    file = WatchStateFile(paths)
    assert file.say("off", "one reason")
    first = read_watch_state(paths)
    assert not file.say("off", "one reason")
    assert file.say("off", "another reason")
    second = read_watch_state(paths)
    assert first
    assert second
    assert (second.reason, second.since) == ("another reason", first.since)
    file.say("events")
    third = read_watch_state(paths)
    assert third
    assert third.since >= first.since


def test_a_dead_process_watches_nothing(paths: DataPaths) -> None:
    code = (
        "from companion_assets.contracts.paths import data_paths\n"
        "from companion_assets.daemon.watch_state import *\n"
        "WatchStateFile(data_paths()).say('events')\n"
        "assert read_watch_state(data_paths()).mode == 'events'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
    assert (paths.locks_dir / "watch.json").exists()
    assert read_watch_state(paths) is None


def test_a_reused_process_number_watches_nothing(paths: DataPaths) -> None:
    WatchStateFile(paths).say("events")
    file = paths.locks_dir / "watch.json"
    raw = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**raw, "started": raw["started"] - 3600}), encoding="utf-8")
    assert read_watch_state(paths) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": 1, "started": 0}', '{"pid": "x", "started": []}'])
def test_a_damaged_file_is_no_watcher(paths: DataPaths, text: str) -> None:
    paths.locks_dir.mkdir(parents=True)
    (paths.locks_dir / "watch.json").write_text(text, encoding="utf-8")
    assert read_watch_state(paths) is None


def test_a_disk_that_refuses_stops_nothing(paths: DataPaths) -> None:
    paths.root.mkdir()
    paths.locks_dir.write_text("a file in its place", encoding="utf-8")
    assert WatchStateFile(paths).say("events")
    assert read_watch_state(paths) is None
