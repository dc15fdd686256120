"""Opens the SQLite files of the data root: pragmas, file mode, migrations, and faults in plain words.

Every file is in WAL mode: readers never wait, and a killed process loses at most its open transaction.
Writers begin with BEGIN IMMEDIATE, because a read that turns into a write fails at once in WAL mode,
whatever the busy timeout.
"""

import datetime as dt
import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from companion_assets.contracts.errors import StoreError

Migration = Callable[[Connection], None]

BUSY_TIMEOUT_MS = 30_000  # a folder of 10,000 notes is written in about 2 s; 30 s means a stuck process
_IMMEDIATE = "companion_immediate"
_CREATING = threading.Lock()


class Database:
    """One open SQLite file.

    Attributes:
        engine: For SQLModel sessions that read.
        writer: The same pool; its transactions begin with the write lock.
    """

    def __init__(self, path: Path, engine: Engine, *, canonical: bool) -> None:
        self.path = path
        self.canonical = canonical
        self.engine = engine
        self.writer = engine.execution_options(**{_IMMEDIATE: True})

    def faults(self) -> AbstractContextManager[None]:
        """Turn SQLite's faults into a `StoreError` that names the file and the way out."""
        return database_faults(self.path, canonical=self.canonical)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the file from its first query on."""
        with self.faults(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that holds the write lock; all of it is kept, or nothing."""
        with self.faults(), self.writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close all connections; safe to call twice."""
        self.engine.dispose()


@contextmanager
def database_faults(path: Path, *, canonical: bool) -> Iterator[None]:
    """Turn SQLite's faults into a `StoreError`.

    Args:
        path: The file (or the folder of several) that is named.
        canonical: It cannot be rebuilt.
    """
    try:
        yield
    except (exc.IntegrityError, exc.ProgrammingError):
        raise  # a fault of ours, not of the file
    except exc.DatabaseError as fault:
        raise _explain(path, str(fault.orig), canonical=canonical) from fault
    except sqlite3.DatabaseError as fault:  # from the pragmas of a new connection, which SQLAlchemy does not wrap
        raise _explain(path, str(fault), canonical=canonical) from fault


def open_database(path: Path, migrations: Sequence[Migration], *, canonical: bool) -> Database:
    """Open or create the file and bring its schema up to date.

    Args:
        path: The file; its folder is made (mode 0700) if it is missing.
        migrations: Small functions, applied in order, each once and in a transaction of its own. Append only.
        canonical: The file cannot be rebuilt: every commit is synced to disk, and hints never say "delete".

    Raises:
        StoreError: The file is damaged, cannot be opened or written, or comes from a newer Companion.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with database_faults(path, canonical=canonical):
            _create(path)
        path.chmod(0o600)
    except OSError as fault:
        raise StoreError(
            f"cannot open {path}: {fault.strerror}", "Check that the folder exists and is yours."
        ) from fault
    database = Database(path, _engine(path, canonical=canonical), canonical=canonical)
    try:
        _migrate(database, migrations)
    except StoreError:
        database.close()
        raise
    return database


def _create(path: Path) -> None:
    """Make the file if it is missing, in WAL mode and so that no moment exists in which others may read it.

    The switch to WAL fails at once, whatever the busy timeout, while another process looks at the file: so it is made
    under another name, and appears ready. SQLite's side files take the file's mode. A file that is there must not even
    be opened: closing it again would take away the locks that SQLite holds on it for this process, and another process
    would then throw its log away.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with _CREATING:
        if path.exists():
            return
        new = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            new.unlink(missing_ok=True)
            _create_empty(new)
            with closing(sqlite3.connect(new)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
            os.link(new, path)
        except FileExistsError:
            pass  # another process was quicker
        except OSError:  # a file system without hard links; any other fault comes again here
            _create_empty(path)
        finally:
            new.unlink(missing_ok=True)


def _create_empty(path: Path) -> None:
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _engine(path: Path, *, canonical: bool) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),  # an object: the path may hold any character
        connect_args={"timeout": BUSY_TIMEOUT_MS / 1000},
        hide_parameters=True,  # they are text of notes and conversations, and faults end up in logs
    )

    @event.listens_for(engine, "connect")
    def on_connect(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # else sqlite3 begins transactions by itself
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", f"synchronous={'FULL' if canonical else 'NORMAL'}", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_IMMEDIATE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _migrate(database: Database, migrations: Sequence[Migration]) -> None:
    """Apply what is missing. The write lock makes two processes that open a new file take turns."""
    with database.read() as connection:
        known = _applied(connection)
    if known == len(migrations):
        return
    with database.write() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS migrations"
            " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
        )
    for number in range(1, len(migrations) + 1):
        with database.write() as connection:
            if number > _applied(connection):
                migrations[number - 1](connection)
                row = (number, migrations[number - 1].__name__, dt.datetime.now(dt.UTC).isoformat(timespec="seconds"))
                connection.exec_driver_sql("INSERT INTO migrations VALUES (?, ?, ?)", row)
    with database.read() as connection:
        known = _applied(connection)
    if known > len(migrations):
        raise StoreError(
            f"{database.path} was written by a newer Companion (schema {known}, this one knows {len(migrations)})",
            "Update Companion." + ("" if database.canonical else f" Or: {_begin_anew(database.path)}"),
        )


def _applied(connection: Connection) -> int:
    exists = connection.exec_driver_sql(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'"
    ).first()
    return (
        int(connection.exec_driver_sql("SELECT coalesce(max(number), 0) FROM migrations").scalar_one()) if exists else 0
    )


def _explain(path: Path, reason: str, *, canonical: bool) -> StoreError:
    if "locked" in reason:
        return StoreError(f"{path} is held by another process", "Wait for the running Companion command, or end it.")
    if "disk is full" in reason:
        return StoreError(f"{path} cannot be written: the disk is full", "Free some space and run the command again.")
    if "disk I/O" in reason:
        return StoreError(
            f"{path} cannot be read or written: {reason}",
            "Check that the disk is neither full nor failing, and run the command again.",
        )
    if "readonly" in reason or "unable to open" in reason:
        return StoreError(
            f"{path} cannot be opened: {reason}", "Check that the file and its folder are yours and writable."
        )
    way_out = "`companion reindex` moves it away and makes it anew."
    if canonical:
        way_out = f"Put {path.name} back from a backup of yours, or move it away to start with an empty one."
    return StoreError(f"{path} is damaged: {reason}", way_out)


def _begin_anew(path: Path) -> str:
    return (
        f"Delete {path.name} (and {path.name}-wal, {path.name}-shm); `companion index` builds it again from the vault."
    )
