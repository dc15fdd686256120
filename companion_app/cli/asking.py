"""`ask` and `chat` in the terminal."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from types import FrameType

from companion_app.bootstrap import Companion
from companion_app.cli.console import err, fail, interactive, out, print_json
from companion_app.cli.opening import checked, open_here
from companion_app.cli.replies import ReplyView
from companion_app.events import Final, Notice, ReplyEvent, Stop
from companion_app.session import ChatSession
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.searching import SearchFilters
from companion_assets.stores.index_table import read_manifest

_INTERRUPTED = 130
_EXAMPLE = 'companion ask "When did I …?"'


def answer_once(question: str | None, filters: SearchFilters, *, as_json: bool) -> int:
    """Answer one question and print the sources it cites; returns the exit status.

    Args:
        question: None or `-` reads standard input.
        filters: Hard filters of the search.
        as_json: Print the turn as a document instead.
    """
    if question is None and sys.stdin.isatty():
        raise CompanionError("no question was given", _EXAMPLE)
    asked = checked(sys.stdin.read() if question in (None, "-") else question or "", "question", _EXAMPLE)
    with closing(open_here()) as companion, _view(companion) as view:
        read_manifest(companion.paths)  # before anything is loaded
        companion.load_generator()
        companion.engines.index()
        view.looking()
        final = _play(companion.session(), asked, filters, _show_notice if as_json else view.show)
    if as_json:
        print_json({**asdict(final.turn), "timings": final.timings, "counts": final.counts})
    else:
        _tell_of_missing_model(companion, final)
    return _INTERRUPTED if final.turn.stopped else 0


def converse(session_id: str | None) -> int:
    """A conversation, until `/exit` or the end of input; returns the exit status.

    Args:
        session_id: An earlier conversation to carry on.

    Raises:
        CompanionError: There is no such conversation, or nothing has been indexed.
    """
    with closing(open_here()) as companion:
        read_manifest(companion.paths)
        said = companion.chat_log.turns(session_id) if session_id else []
        if session_id and not said:
            raise CompanionError(f"there is no conversation {session_id}", "companion chat begins a new one")
        companion.warm()
        session = companion.session(session_id)
        if interactive():
            _greet(companion, len(said))
        status = 0
        while (line := _read_line()) is not None and line not in ("/exit", "/quit"):
            status = max(status, _respond(companion, session, line))
        if interactive() and companion.chat_log.turns(session.session_id, 1):
            out.print(f"to carry on: companion chat --session {session.session_id}", style="dim")
        return 0 if interactive() else status


def _respond(companion: Companion, session: ChatSession, line: str) -> int:
    """Answer a line of the conversation; what goes wrong does not end it."""
    if line.startswith("/"):
        err.print(f"there is no command {line.split()[0]}; /exit ends", markup=False)
        return 1
    if not line:
        return 0
    try:
        with _view(companion) as view:
            view.looking()
            final = _play(session, checked(line, "question", ""), SearchFilters(), view.show)
        _tell_of_missing_model(companion, final)
        if not interactive():
            out.print()
    except CompanionError as fault:
        fail(fault)
        return 1
    return 0


def _play(session: ChatSession, question: str, filters: SearchFilters, show: Callable[[ReplyEvent], None]) -> Final:
    """One turn, shown as it goes; Ctrl-C stops the reply and keeps what was written."""
    stop = Stop()
    with _stopped_by_ctrl_c(stop):
        for event in session.reply(question, filters=filters, stop=stop):
            show(event)
    if not isinstance(event, Final):
        raise CompanionError("the reply broke off", "ask again")
    return event


def _show_notice(event: ReplyEvent) -> None:
    if isinstance(event, Notice):
        err.say(event.text, style="yellow")


@contextmanager
def _stopped_by_ctrl_c(stop: Stop) -> Iterator[None]:
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if stop.asked:  # the second time: leave
            raise KeyboardInterrupt
        # Beside this thread, which may hold the lock that the stop needs.
        threading.Thread(target=stop, daemon=True).start()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _view(companion: Companion) -> ReplyView:
    return ReplyView(companion.settings.vault.path, streaming=companion.settings.companion.chat.streaming)


def _greet(companion: Companion, turns: int) -> None:
    with suppress(ImportError):
        import readline  # noqa: F401 - arrow keys and earlier lines at the prompt
    carried = f" · carrying on after {turns} turns" if turns else ""
    out.print(companion.settings.companion.name, style="bold", end="", markup=False)
    out.print(f"{carried} · /exit ends, Ctrl-C stops a reply", style="dim")


def _read_line() -> str | None:
    """The next line; None at the end of input."""
    while True:
        try:
            return input("\n› " if interactive() else "").strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            if not interactive():
                raise
            out.print("\n/exit ends", style="dim")


def _tell_of_missing_model(companion: Companion, final: Final) -> None:
    """Why an answer is only quoted, if nobody asked for that."""
    wanted = companion.settings.model.inference.backend != "none"
    if final.turn.citations and not final.turn.model and wanted and companion.model_state().state == "none":
        err.print("quoted, because no model is installed; companion doctor tells how to get one", style="dim")
