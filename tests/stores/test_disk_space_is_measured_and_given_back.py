import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from companion_assets.contracts.paths import MODEL_CACHE_VARIABLE, DataPaths
from companion_assets.stores.compaction import compact_database
from companion_assets.stores.sizes import measure_sizes, size_of, size_of_database


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of which two thirds are free, under a name that needs quoting."""
    path = tmp_path / "it's 100% #odd? ünï.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE things (number INTEGER PRIMARY KEY, blob BLOB)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO things VALUES (?, randomblob(2000))", [(i,) for i in range(3000)])
        connection.execute("DELETE FROM things WHERE number % 3")
        connection.execute("COMMIT")
    return path


def content(path: Path) -> list[tuple[int, bytes]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT number, blob FROM things ORDER BY number").fetchall()


def test_a_file_that_is_mostly_free_becomes_small_and_loses_nothing(file: Path) -> None:
    before = content(file)
    done = compact_database(file)
    assert (done.before > 6e6, done.after < 3e6, done.left) == (True, True, "")
    assert done.after == size_of_database(file)
    assert content(file) == before
    assert compact_database(file).after == done.after


def test_a_file_that_is_mostly_used_is_only_freed_of_its_log(file: Path) -> None:
    compact_database(file)
    log = file.with_name(file.name + "-wal")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("DELETE FROM things WHERE number < 300")
        free = other.execute("PRAGMA freelist_count").fetchone()
        assert (free > (20,), log.stat().st_size > 10_000) == (True, True)
        compact_database(file)
        assert (other.execute("PRAGMA freelist_count").fetchone(), log.stat().st_size) == (free, 0)


def test_who_reads_goes_on_and_who_writes_waits_a_moment(file: Path) -> None:
    faults, over = [], threading.Event()

    def work(question: str) -> None:
        with closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as connection:
            while not over.is_set():
                try:
                    connection.execute(question).fetchall()
                except sqlite3.Error as fault:
                    faults.append(str(fault))
                time.sleep(0.002)

    questions = ("SELECT sum(length(blob)) FROM things", "INSERT INTO things (blob) VALUES (randomblob(10))")
    others = [threading.Thread(target=work, args=(question,)) for question in questions]
    for other in others:
        other.start()
    done = compact_database(file)
    over.set()
    for other in others:
        other.join()
    assert (faults, done.left) == ([], "")
    compact_database(file)
    assert size_of_database(file) < 3e6


def test_what_takes_too_long_or_is_in_use_is_left_as_it_is(file: Path) -> None:
    before = content(file)
    assert "takes longer" in compact_database(file, seconds=0.0).left
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "locked" in compact_database(file).left
        other.execute("ROLLBACK")
    assert content(file) == before


def test_no_file_and_no_database_are_no_fault(tmp_path: Path) -> None:
    assert compact_database(tmp_path / "none.db").before == 0
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("this is no database at all" * 100)
    assert "not a database" in compact_database(tmp_path / "text.db").left


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from companion_assets.stores import compaction
connect = sqlite3.connect
class Deadly(sqlite3.Connection):
    def set_progress_handler(self, handler, steps):
        left = iter(range(int(sys.argv[2])))
        super().set_progress_handler(lambda: next(left, None) is None and os.kill(os.getpid(), signal.SIGKILL), 100)
sqlite3.connect = lambda *args, **options: connect(*args, factory=Deadly, **options)
compaction.compact_database(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("steps", [0, 3, 30])
def test_a_kill_in_the_middle_of_it_costs_nothing(file: Path, steps: int) -> None:
    before = content(file)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(file), str(steps)], check=False)
    assert killed.returncode == -9
    assert content(file) == before
    assert compact_database(file).after < 3e6
    assert content(file) == before


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(MODEL_CACHE_VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def test_sizes_are_told_by_name(tmp_path: Path, cache: Path) -> None:
    paths = DataPaths(tmp_path / "home")
    assert set(measure_sizes(paths).values()) == {0}
    for number, path in enumerate(
        [
            paths.index_dir / "t.lance/data/1.lance",
            paths.vectors_db,
            paths.catalog_db,
            paths.companion_db,
            paths.dagster_home / "history/runs/a.db",
            paths.logs_dir / "up.log",
            paths.models_dir / "m.gguf",
            cache / "n.gguf",
        ]
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 10**number)
    paths.catalog_db.with_name("catalog.db-wal").write_bytes(b"x" * 5)
    (paths.root / "catalog.db.damaged-2026").write_bytes(b"x" * 3)
    assert measure_sizes(paths) == {
        "index": 1,
        "vectors": 10,
        "catalog": 105,
        "conversations": 1000,
        "run log": 10**4,
        "logs": 10**5,
        "models": 10**6,
        "shared models": 10**7,
    }


def test_links_are_not_followed_and_a_loop_ends(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "outside").write_bytes(b"x" * 1000)
    (tmp_path / "folder/file").write_bytes(b"x" * 10)
    (tmp_path / "folder/loop").symlink_to(tmp_path / "folder")
    (tmp_path / "folder/link").symlink_to(tmp_path / "outside")
    assert size_of(tmp_path / "folder") < 1000


def test_what_vanishes_while_it_is_looked_at_counts_as_nothing(tmp_path: Path) -> None:
    for i in range(300):
        (tmp_path / f"{i}").mkdir()
        (tmp_path / f"{i}/file").write_bytes(b"x" * 10)

    def sweep() -> None:
        for i in range(300):
            (tmp_path / f"{i}/file").unlink()
            (tmp_path / f"{i}").rmdir()

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    while sweeper.is_alive():
        assert 0 <= size_of(tmp_path) <= 3000
    sweeper.join()
    assert size_of(tmp_path) == 0
