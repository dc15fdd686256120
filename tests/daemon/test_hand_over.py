"""How a launcher and the worker agree, over their real socket, on who executes a run."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon import worker_link
from companion_assets.daemon.worker_link import current_run, interrupt_run, listening, offer_run, running_worker
from tests.daemon.running import wait_for


class Desk:
    """A worker that executes nothing."""

    def __init__(self) -> None:
        self.taken = ""
        self.confirmed: list[tuple[str, bool]] = []
        self.asked = threading.Event()
        self.slow = threading.Event()
        self.slow.set()

    def current(self) -> str:
        return self.taken

    def accept(self, run_id: str) -> bool:
        self.asked.set()
        self.slow.wait(10)
        if self.taken:
            return False
        self.taken = run_id
        return True

    def confirm(self, run_id: str, *, wanted: bool) -> None:
        self.confirmed.append((run_id, wanted))
        if not wanted:
            self.taken = ""

    def interrupt(self, run_id: str) -> bool:
        return run_id == self.taken


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    made = DataPaths(tmp_path)
    made.locks_dir.mkdir(mode=0o700)
    return made


@pytest.fixture
def desk(paths: DataPaths) -> Iterator[Desk]:
    made = Desk()
    with listening(paths, made):
        yield made


def socket_of(paths: DataPaths) -> Path:
    return Path(json.loads((paths.locks_dir / "worker.json").read_text())["path"])


def test_a_free_worker_takes_a_run_and_a_busy_one_does_not(paths: DataPaths, desk: Desk) -> None:
    assert running_worker(paths) == os.getpid()
    assert current_run(paths) == ""
    assert offer_run(paths, "one")
    wait_for(lambda: desk.confirmed == [("one", True)], 5)
    assert current_run(paths) == "one"
    assert not offer_run(paths, "two")
    assert desk.confirmed == [("one", True)]


def test_only_the_run_it_is_at_can_be_ended(paths: DataPaths, desk: Desk) -> None:
    desk.taken = "one"
    assert not interrupt_run(paths, "two")
    assert interrupt_run(paths, "one")


def test_nobody_there_is_no_fault(paths: DataPaths) -> None:
    assert (running_worker(paths), current_run(paths)) == (None, None)
    assert not offer_run(paths, "one")
    assert not interrupt_run(paths, "one")


def test_a_launcher_that_lost_patience_gets_its_run_back(paths: DataPaths, desk: Desk) -> None:
    desk.slow.clear()
    assert not offer_run(paths, "one"), "it did not answer in time"
    desk.slow.set()
    wait_for(lambda: desk.confirmed == [("one", False)], 10)
    assert offer_run(paths, "two"), "the next launcher is heard"


def test_a_worker_that_hangs_does_not_hold_up_the_launcher(paths: DataPaths, desk: Desk) -> None:
    desk.slow.clear()
    hung = threading.Thread(target=offer_run, args=(paths, "one"))
    hung.start()
    assert desk.asked.wait(5)
    assert current_run(paths) is None
    assert not offer_run(paths, "two")
    desk.slow.set()
    hung.join()


def test_rubbish_on_the_line_harms_nobody(paths: DataPaths, desk: Desk) -> None:
    for rubbish in (b"", b"\n", b"\xff\xfe\n", b"run\n", b"x" * 5000, b"interrupt\n"):
        with worker_link.socket.socket(worker_link.socket.AF_UNIX) as door:
            door.connect(str(socket_of(paths)))
            door.sendall(rubbish)
    wait_for(lambda: current_run(paths) == "", 10)


def test_a_data_root_too_deep_for_a_socket_has_one_elsewhere(tmp_path: Path) -> None:
    deep = DataPaths(tmp_path / ("d" * 60) / ("e" * 60))
    deep.locks_dir.mkdir(parents=True)
    with listening(deep, Desk()):
        place = socket_of(deep)
        assert deep.root not in place.parents
        assert place.parent.stat().st_mode & 0o777 == 0o700
        assert offer_run(deep, "one")
    assert not place.parent.exists()


def test_what_a_killed_worker_left_is_cleared_away(tmp_path: Path) -> None:
    deep = DataPaths(tmp_path / ("d" * 60) / ("e" * 60))
    deep.locks_dir.mkdir(parents=True)
    code = (
        "import sys, time; from pathlib import Path; from companion_assets.contracts.paths import DataPaths;"
        "from companion_assets.daemon.worker_link import listening\n"
        "with listening(DataPaths(Path(sys.argv[1])), None): print('up', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(deep.root)], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "up\n"
        left = socket_of(deep)
        assert running_worker(deep) == killed.pid
        killed.kill()
    assert running_worker(deep) is None
    assert not offer_run(deep, "one")
    with listening(deep, Desk()):
        assert not left.parent.exists()
        assert offer_run(deep, "one")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("deep", [False, True], ids=["in the data root", "elsewhere"])
def test_other_accounts_are_not_heard(tmp_path: Path, deep: bool) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    root = DataPaths(tmp_path / ("d" * 120 if deep else "d"))
    root.root.mkdir()
    root.locks_dir.mkdir(mode=0o700)
    with listening(root, Desk()):
        code = f"import os, socket; os.setuid(65534); socket.socket(socket.AF_UNIX).connect({str(socket_of(root))!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "PermissionError" in done.stderr


def test_it_answers_as_soon_as_it_can_be_found(paths: DataPaths) -> None:
    heard: list[str | None] = []

    def call() -> None:
        while running_worker(paths) is None:
            time.sleep(0.001)
        heard.append(current_run(paths))

    caller = threading.Thread(target=call)
    caller.start()
    with listening(paths, Desk()):
        caller.join(10)
    assert heard == [""]
