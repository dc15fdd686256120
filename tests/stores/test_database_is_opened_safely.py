import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from companion_assets.contracts.errors import StoreError
from companion_assets.stores.database import open_database


def _first(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE things (name TEXT)")


def _second(connection: Connection) -> None:
    connection.exec_driver_sql("INSERT INTO things VALUES ('from the second migration')")


def _breaks(connection: Connection) -> None:
    connection.exec_driver_sql("INSERT INTO things VALUES ('half')")
    connection.exec_driver_sql("INSERT INTO no_such_table VALUES (1)")


def _things(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        return [row[0] for row in connection.execute("SELECT name FROM things")]


@pytest.mark.parametrize("name", ["plain.db", "it's 100% #odd? ünï.db"])
def test_migrations_run_once_in_order_and_are_recorded(tmp_path: Path, name: str) -> None:
    path = tmp_path / "deep" / name
    open_database(path, [_first], canonical=False).close()
    for _ in range(3):
        open_database(path, [_first, _second], canonical=False).close()
    assert _things(path) == ["from the second migration"]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT number, name FROM migrations").fetchall() == [(1, "_first"), (2, "_second")]


def test_file_and_folder_are_private_and_pragmas_are_set(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.db"
    previous = os.umask(0)
    try:
        database = open_database(path, [_first], canonical=True)
        with database.write() as connection:
            connection.exec_driver_sql("INSERT INTO things VALUES ('x')")
            files = [path, path.with_name("store.db-wal"), path.with_name("store.db-shm")]
            assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
        with database.read() as connection:
            pragmas = [
                connection.exec_driver_sql(f"PRAGMA {pragma}").scalar()
                for pragma in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            ]
    finally:
        os.umask(previous)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert pragmas == ["wal", 2, 1, 30_000]


def test_failed_migration_leaves_nothing_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with pytest.raises(StoreError):
        open_database(path, [_first, _breaks], canonical=False)
    assert _things(path) == []
    open_database(path, [_first, _second], canonical=False).close()
    assert _things(path) == ["from the second migration"]


@pytest.mark.parametrize(("canonical", "advice"), [(False, "Or: Delete store.db"), (True, "Update Companion.")])
def test_file_of_a_newer_companion_is_refused(tmp_path: Path, canonical: bool, advice: str) -> None:
    path = tmp_path / "store.db"
    open_database(path, [_first, _second], canonical=canonical).close()
    with pytest.raises(StoreError, match="newer Companion") as fault:
        open_database(path, [_first], canonical=canonical)
    assert advice in fault.value.hint


@pytest.mark.parametrize(("canonical", "advice"), [(False, "companion reindex"), (True, "from a backup")])
def test_damaged_file_is_named_with_the_way_out(tmp_path: Path, canonical: bool, advice: str) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StoreError, match=r"store\.db is damaged") as fault:
        open_database(path, [_first], canonical=canonical)
    assert advice in fault.value.hint
    assert ("makes it anew" in fault.value.hint) is not canonical
    assert path.read_bytes().startswith(b"this is no database")


def test_damage_found_later_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = open_database(path, [_first], canonical=False)
    with database.write() as connection:
        connection.exec_driver_sql("INSERT INTO things VALUES (?)", [("x" * 1000,) for _ in range(500)])
    database.close()
    data = bytearray(path.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"), database.read() as connection:
        connection.exec_driver_sql("SELECT count(name) FROM things WHERE name != ''").all()


def test_a_folder_in_the_way_is_a_plain_fault(tmp_path: Path) -> None:
    (tmp_path / "store.db").mkdir()
    with pytest.raises(StoreError, match="cannot open"):
        open_database(tmp_path / "store.db", [_first], canonical=False)


def test_transaction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    database = open_database(tmp_path / "store.db", [_first], canonical=False)

    def fail_half_way() -> None:
        with database.write() as connection:
            connection.exec_driver_sql("INSERT INTO things VALUES ('lost')")
            raise KeyError

    with pytest.raises(KeyError):
        fail_half_way()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM things").scalar() == 0


OPENER = """
import sys
from pathlib import Path
from companion_assets.stores.chat_log import ChatLog
ChatLog(Path(sys.argv[1])).create_session("mine")
"""


def test_processes_that_open_a_new_file_at_once_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "companion.db"
    started = [subprocess.Popen([sys.executable, "-c", OPENER, str(path)], stderr=subprocess.PIPE) for _ in range(4)]
    for process in started:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (4,)


def test_a_fault_of_ours_never_tells_what_was_to_be_stored(tmp_path: Path) -> None:
    database = open_database(tmp_path / "store.db", [_first], canonical=True)
    with database.write() as connection:
        connection.exec_driver_sql("CREATE UNIQUE INDEX once ON things (name)")
    twice = ("a line of a note", "a line of a note")
    with pytest.raises(IntegrityError) as caught, database.write() as connection:
        connection.exec_driver_sql("INSERT INTO things VALUES (?), (?)", twice)
    assert "a line of a note" not in str(caught.value)
    database.close()


WRITER = """
import sys
from pathlib import Path
from companion_assets.stores.database import open_database
database = open_database(Path(sys.argv[1]), [lambda _: None], canonical=False)
for number in range(200):
    with database.write() as connection:
        connection.exec_driver_sql("INSERT INTO things VALUES (?)", (f"{number} " + "x" * 200,))
database.close()
"""


def test_a_second_opening_in_a_process_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    """Closing any handle on the file gives up all of the process's locks on it; a writer elsewhere then tears it."""
    path = tmp_path / "store.db"
    first = open_database(path, [_first], canonical=False)
    with first.write() as connection:
        connection.exec_driver_sql("INSERT INTO things VALUES ('mine')")
    second = open_database(path, [_first], canonical=False)
    for rows in (201, 401):
        subprocess.run([sys.executable, "-c", WRITER, str(path)], check=True)
        third = open_database(path, [_first], canonical=False)
        for database in (first, second, third):
            with database.read() as connection:
                assert connection.exec_driver_sql("SELECT count(*) FROM things").scalar() == rows
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        third.close()
    first.close()
    second.close()
