"""Conversations, as they were shown: `companion.db`. Canonical: nothing here can be made again from the vault.

Append-only. A turn is written once, when the reply has ended or was stopped.
"""

import datetime as dt
import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from sqlmodel import Field, Session, SQLModel, col, func, select

from companion_assets.contracts.records import Citation, Turn
from companion_assets.stores.database import open_database


class _SessionRow(SQLModel, table=True):
    __tablename__ = "sessions"

    session_id: str = Field(primary_key=True)
    title: str
    created_at: str


class _TurnRow(SQLModel, table=True):
    __tablename__ = "turns"

    number: int | None = Field(default=None, primary_key=True)
    session_id: str = Field(foreign_key="sessions.session_id")
    question: str
    reply: str
    citations: str  # JSON
    trace_id: str
    model: str
    stopped: bool
    created_at: str


def _create(connection: Connection) -> None:
    # Spelled out: a migration must not change when the classes above do.
    connection.exec_driver_sql(
        "CREATE TABLE sessions (session_id TEXT PRIMARY KEY, title TEXT NOT NULL, created_at TEXT NOT NULL)"
    )
    connection.exec_driver_sql(
        "CREATE TABLE turns ("
        " number INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions,"
        " question TEXT NOT NULL, reply TEXT NOT NULL, citations TEXT NOT NULL, trace_id TEXT NOT NULL,"
        " model TEXT NOT NULL, stopped INTEGER NOT NULL, created_at TEXT NOT NULL)"
    )
    connection.exec_driver_sql("CREATE INDEX turns_by_session ON turns (session_id, number)")
    connection.exec_driver_sql("CREATE INDEX turns_by_trace ON turns (trace_id)")


MIGRATIONS = (_create,)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session as a list shows it. `title` is its first question; times are UTC."""

    session_id: str
    title: str
    turns: int
    created_at: dt.datetime
    last_at: dt.datetime


class ChatLog:
    """The conversations of `companion.db`; several processes may use it at once.

    Args:
        path: The file, created if missing.

    Raises:
        StoreError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._database = open_database(path, MIGRATIONS, canonical=True)

    def create_session(self, title: str = "") -> str:
        """Begin a conversation; returns its id. Without a title the first question becomes it."""
        row = _SessionRow(session_id=uuid.uuid4().hex, title=_plain(title), created_at=_now())
        session_id = row.session_id
        with self._database.faults(), Session(self._database.writer) as session:
            session.add(row)
            session.commit()
        return session_id

    def append_turn(self, session_id: str, turn: Turn) -> None:
        """Add a finished exchange; it is on disk when this returns. An unknown session is begun."""
        with self._database.faults(), Session(self._database.writer) as session:
            parent = session.get(_SessionRow, session_id)
            if parent is None:
                parent = _SessionRow(session_id=session_id, title="", created_at=_now())
            parent.title = parent.title or _plain(turn.question)
            session.add(parent)
            session.flush()
            session.add(
                _TurnRow(
                    session_id=session_id,
                    question=_plain(turn.question),
                    reply=_plain(turn.reply),
                    citations=json.dumps([asdict(citation) for citation in turn.citations]),
                    trace_id=turn.trace_id,
                    model=turn.model,
                    stopped=turn.stopped,
                    created_at=_now(),
                )
            )
            session.commit()

    def turns(self, session_id: str, last_n: int | None = None) -> list[Turn]:
        """The turns of a conversation in order; only the last `last_n` if given."""
        if last_n is not None and last_n <= 0:
            return []
        query = select(_TurnRow).where(_TurnRow.session_id == session_id).order_by(col(_TurnRow.number).desc())
        with self._database.faults(), Session(self._database.engine) as session:
            return [_turn(row) for row in session.exec(query.limit(last_n))][::-1]

    def turn(self, trace_id: str) -> Turn | None:
        """The turn of a trace."""
        query = select(_TurnRow).where(_TurnRow.trace_id == trace_id).order_by(col(_TurnRow.number).desc())
        with self._database.faults(), Session(self._database.engine) as session:
            row = session.exec(query).first()
            return _turn(row) if row else None

    def sessions(self, limit: int | None = None) -> list[Conversation]:
        """Conversations that have turns, the last used first."""
        last = func.max(_TurnRow.created_at)
        query = (
            select(_SessionRow, func.count(), last)
            .join(_TurnRow)
            .group_by(_SessionRow.session_id)
            .order_by(func.max(_TurnRow.number).desc())
            .limit(limit)
        )
        with self._database.faults(), Session(self._database.engine) as session:
            return [
                Conversation(
                    session_id=row.session_id,
                    title=row.title,
                    turns=number,
                    created_at=dt.datetime.fromisoformat(row.created_at),
                    last_at=dt.datetime.fromisoformat(last_at),
                )
                for row, number, last_at in session.exec(query)
            ]

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._database.close()


def _turn(row: _TurnRow) -> Turn:
    raw: list[dict[str, Any]] = json.loads(row.citations)
    return Turn(
        question=row.question,
        reply=row.reply,
        citations=tuple(Citation(**item) for item in raw),
        trace_id=row.trace_id,
        model=row.model,
        stopped=row.stopped,
    )


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def _plain(text: str) -> str:
    """Without lone surrogates, which SQLite's text cannot hold (a model's broken byte may leave one)."""
    return text.encode("utf-8", "replace").decode()
