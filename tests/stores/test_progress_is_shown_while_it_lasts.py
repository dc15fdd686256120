import json
import os
import subprocess
import sys
from pathlib import Path

from companion_assets.stores.progress import ProgressFile, read_progress


def test_the_last_word_is_read(tmp_path: Path) -> None:
    path = tmp_path / "home" / "progress.json"
    assert read_progress(path) is None
    writer = ProgressFile(path, "run-1")
    writer.report("embedding", 0, 10, "Journal")
    shown = read_progress(path)
    assert shown is not None
    assert (shown.phase, shown.done, shown.total, shown.folder) == ("embedding", 0, 10, "Journal")
    assert (shown.run_id, shown.pid) == ("run-1", os.getpid())
    writer.report("embedding", 10, 10, "Journal")
    after = read_progress(path)
    assert after is not None
    assert (after.done, after.started_at) == (10, shown.started_at)
    writer.clear()
    writer.clear()
    assert read_progress(path) is None
    assert list(path.parent.iterdir()) == []


def test_counting_items_writes_seldom_and_ends_complete(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "progress.json"
    written = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: written.append(target) or replace(self, target))
    assert list(ProgressFile(path).over(range(50_000), "reading", "F")) == list(range(50_000))
    assert len(written) < 200
    shown = read_progress(path)
    assert shown is not None
    assert (shown.done, shown.total) == (50_000, 50_000)
    assert list(ProgressFile(path).over([], "reading", "F")) == []


def test_a_phase_is_counted_over_all_folders(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    writer = ProgressFile(path)
    seen = []
    for phase, folder, size in (("reading", "A", 3), ("reading", "B", 2), ("embedding", "A", 4), ("embedding", "C", 0)):
        list(writer.over(range(size), phase, folder))
        shown = read_progress(path)
        assert shown is not None
        seen.append((shown.phase, shown.done, shown.overall))
    assert seen == [("reading", 3, 3), ("reading", 2, 5), ("embedding", 4, 4), ("embedding", 4, 4)]


def test_a_finished_process_makes_it_stale(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    code = (
        "import sys; from pathlib import Path; from companion_assets.stores.progress import ProgressFile;"
        "ProgressFile(Path(sys.argv[1])).report('reading', 1, 2); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    while not path.exists():
        assert process.poll() is None
    assert read_progress(path) is not None
    process.kill()
    process.wait()
    assert read_progress(path) is None


def test_a_number_given_to_a_later_process_is_not_mistaken(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    ProgressFile(path).report("reading", 1, 2)
    raw = json.loads(path.read_text())
    path.write_text(json.dumps({**raw, "started_at": "2020-01-01T00:00:00+00:00"}))
    assert read_progress(path) is None


def test_anything_unreadable_is_no_progress(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    for text in ("", "{", "[]", '"x"', "{}", '{"phase": 1}', "\0"):
        path.write_text(text)
        assert read_progress(path) is None
    path.write_bytes(b"\xff\xfe")
    assert read_progress(path) is None


def test_a_disk_that_refuses_stops_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert list(ProgressFile(blocked / "progress.json").over([1, 2], "reading")) == [1, 2]
