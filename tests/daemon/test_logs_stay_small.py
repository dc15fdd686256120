"""Logs are rotated while their writers keep them open."""

import subprocess
import sys
from pathlib import Path

import pytest

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.children import Children
from companion_assets.daemon.log_rotation import LogLimits, rotate
from tests.daemon.running import wait_for


def names(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_the_newest_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    for text in ("one", "two", "three", "four"):
        log.write_text(text)
        assert rotate(log, LogLimits(bytes=2, kept=2))
    assert names(tmp_path) == {"app.log": "", "app.log.1": "four", "app.log.2": "three"}


def test_a_short_one_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("one")
    assert not rotate(tmp_path / "app.log", LogLimits(bytes=3, kept=2))
    assert names(tmp_path) == {"app.log": "one"}


def test_none_are_kept_if_none_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("one")
    assert rotate(tmp_path / "app.log", LogLimits(bytes=2, kept=0))
    assert names(tmp_path) == {"app.log": ""}


def test_one_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    assert not rotate(tmp_path / "app.log", LogLimits(bytes=2, kept=2))


def test_a_disk_that_is_full_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Path, target: Path) -> None:
        target.write_text("half of i")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    (tmp_path / "app.log").write_text("one")
    (tmp_path / "app.log.1").write_text("earlier")
    assert not rotate(tmp_path / "app.log", LogLimits(bytes=2, kept=2))
    assert names(tmp_path) == {"app.log": "one", "app.log.1": "earlier"}


def test_a_running_process_goes_on_writing_to_the_emptied_log(tmp_path: Path) -> None:
    paths = DataPaths(tmp_path)
    for folder in (paths.logs_dir, paths.locks_dir, paths.dagster_home):
        folder.mkdir()
    code = "import time\nfor n in range(10**6): print(f'line {n}', flush=True); time.sleep(0.005)"
    with Children(paths) as children:
        children.start("talker", [sys.executable, "-c", code])
        log, earlier = paths.logs_dir / "talker.log", paths.logs_dir / "talker.log.1"

        def rotated() -> bool:
            children.rotate_logs(LogLimits(bytes=500, kept=1))
            return earlier.exists()

        wait_for(rotated, 30)
        wait_for(lambda: log.stat().st_size > 0, 30)
        assert log.stat().st_size < 500 + 100
        assert earlier.read_text().startswith("line 0\n")
        assert "\0" not in log.read_text(), "it appends; a hole would be there if it wrote where it was"


def test_the_reaper_spares_a_group_that_is_no_more(tmp_path: Path) -> None:
    """Its number may be somebody else's by the time the supervisor is killed."""
    sleeping = [subprocess.Popen(["sleep", "60"], process_group=0) for _ in range(2)]
    reaper = [sys.executable, "-m", "companion_assets.daemon.reaper", str(tmp_path / "reaper.lock")]
    told = "".join(f"{line}\n" for line in (sleeping[0].pid, sleeping[1].pid, -sleeping[0].pid))
    with subprocess.Popen(reaper, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(told)
        process.stdin.close()
        assert sleeping[1].wait(30) == -15
        assert process.wait(30) == 0
    assert sleeping[0].poll() is None
    sleeping[0].kill()
    sleeping[0].wait()
