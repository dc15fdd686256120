"""Conversations of this process: one session object per id, one turn of a session at a time, many readers per turn.

A turn runs in a thread of its own and is kept whole while it runs, so that a page that is reloaded in the middle of
a reply can go on reading it, and a reader that leaves costs nothing. The model itself queues between sessions.
"""

import logging
import queue
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from companion_app.events import ReplyEvent, Stop
from companion_app.session import ChatSession
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.records import Citation, Turn
from companion_assets.contracts.searching import SearchFilters
from companion_assets.stores.chat_log import ChatLog

_log = logging.getLogger(__name__)

_TURNS_AT_ONCE = 8  # threads; turns beyond wait their turn
_SESSIONS_IN_MEMORY = 64  # the others are read again from the chat log when they go on


@dataclass(frozen=True, slots=True)
class End:
    """The last thing a listener hears; `fault` is why the turn broke off."""

    fault: CompanionError | None = None


Listener = Callable[[ReplyEvent | End], None]


class RunningTurn:
    """A turn that is being written.

    Args:
        session_id: The conversation it belongs to.
        question: What was asked.

    Attributes:
        stop: Ends the turn; what was written is kept.
    """

    def __init__(self, session_id: str, question: str) -> None:
        self.session_id = session_id
        self.question = question
        self._lock = threading.Lock()
        self._told: list[ReplyEvent | End] = []
        self._listeners: list[Listener] = []
        self.stop = Stop()

    def listen(self, listener: Listener) -> None:
        """Hear everything from the beginning of the turn to its end; called from the turn's thread, must not block."""
        with self._lock:
            for event in self._told:
                listener(event)
            self._listeners.append(listener)

    def events(self) -> Iterator[ReplyEvent]:
        """Everything from the beginning of the turn, waiting for what is still to come.

        Raises:
            CompanionError: The turn broke off.
        """
        heard: queue.SimpleQueue[ReplyEvent | End] = queue.SimpleQueue()
        self.listen(heard.put)
        while not isinstance(event := heard.get(), End):
            yield event
        if event.fault:
            raise event.fault

    def tell(self, event: ReplyEvent | End) -> None:
        """Pass an event to all listeners, present and future."""
        with self._lock:
            self._told.append(event)
            for listener in self._listeners:
                listener(event)


class Conversations:
    """All sessions of this process.

    Args:
        open_session: Opens a conversation by its id, carrying on what the chat log holds of it.
        chat_log: The record of finished turns; what it says is what was said.
    """

    def __init__(self, open_session: Callable[[str], ChatSession], chat_log: Callable[[], ChatLog]) -> None:
        self._open_session = open_session
        self._chat_log = chat_log
        self._pool = ThreadPoolExecutor(_TURNS_AT_ONCE, thread_name_prefix="companion-turn")
        self._lock = threading.Lock()
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    def ask(
        self,
        question: str,
        session_id: str | None = None,
        *,
        filters: SearchFilters | None = None,
        temperature: float | None = None,
    ) -> RunningTurn:
        """Start a turn. A turn of the same session that still runs is waited for first.

        Args:
            question: As the person wrote it.
            session_id: An earlier conversation; None begins one.
            filters: Hard filters of the search.
            temperature: Overrides the setting, where the settings allow that.
        """
        turn = RunningTurn(session_id or uuid.uuid4().hex, question)
        with self._lock:
            seat = self._seats.setdefault(turn.session_id, _Seat())
            self._seats.move_to_end(turn.session_id)
            seat.turns.append(turn)
            self._make_room()
        self._pool.submit(self._run, seat, turn, filters, temperature)
        return turn

    def running(self, session_id: str) -> RunningTurn | None:
        """The turn of a session that is being written or waits to be."""
        with self._lock:
            seat = self._seats.get(session_id)
            return seat.turns[0] if seat and seat.turns else None

    def stop(self, session_id: str) -> None:
        """End all turns of a session."""
        with self._lock:
            turns = list(self._seats[session_id].turns) if session_id in self._seats else []
        for turn in turns:
            turn.stop()

    def turns(self, session_id: str, last_n: int | None = None) -> list[Turn]:
        """Finished turns of a session, oldest first."""
        return self._chat_log().turns(session_id, last_n)

    def citation(self, session_id: str, chunk_id: str) -> Citation | None:
        """What a finished turn of the session cited under this chunk id."""
        cited = (c for turn in reversed(self.turns(session_id)) for c in turn.citations)
        return next((citation for citation in cited if citation.chunk_id == chunk_id), None)

    def close(self) -> None:
        """Stop all turns and wait until they are stored."""
        with self._lock:
            turns = [turn for seat in self._seats.values() for turn in seat.turns]
        for turn in turns:
            turn.stop()
        self._pool.shutdown(wait=True)

    def _run(self, seat: "_Seat", turn: RunningTurn, filters: SearchFilters | None, temperature: float | None) -> None:
        fault: CompanionError | None = None
        try:
            with seat.lock:
                seat.session = seat.session or self._open_session(turn.session_id)
                for event in seat.session.reply(
                    turn.question, filters=filters, temperature=temperature, stop=turn.stop
                ):
                    turn.tell(event)
        except CompanionError as known:
            fault = known
        except Exception:  # noqa: BLE001 - the last frame of a pool thread; readers would wait for ever
            _log.exception("a turn failed")
            fault = CompanionError("the reply broke off because of a fault in Companion", "the log has the details")
        finally:
            with self._lock:
                seat.turns.remove(turn)
            turn.tell(End(fault))

    def _make_room(self) -> None:
        idle = [key for key, seat in self._seats.items() if not seat.turns]
        for key in idle[: max(0, len(self._seats) - _SESSIONS_IN_MEMORY)]:
            del self._seats[key]


class _Seat:
    """One session's place: its lock, its object once opened, and its turns in the order they were asked."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.session: ChatSession | None = None
        self.turns: list[RunningTurn] = []
