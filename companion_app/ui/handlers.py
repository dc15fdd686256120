"""What happens on the page's events. No logic: the desk is asked, its answer rendered."""

from collections.abc import Iterator
from html import escape
from typing import Any

import gradio as gr

from companion_app.conversations import RunningTurn
from companion_app.desk import Desk
from companion_app.events import Delta, Final, Notice, Sources
from companion_app.ui.render import TurnRenderer, panel_fault, passage_panel
from companion_app.ui.status import notices, status_line, welcome
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.records import Citation

_TURNS_SHOWN = 50
Told = tuple[Any, Any, Any, Any, Any, Any]  # history, live, question, session, send, stop
Looks = tuple[str, str, str]  # status, notices, welcome


class PageHandlers:
    """The handlers of one page.

    Args:
        desk: What they ask.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        settings = desk.companion.settings
        features = settings.ui.web.features
        self._streaming = features.streaming and settings.companion.chat.streaming
        self._renderer = TurnRenderer(citations=features.citations, preview=features.source_preview)
        self._name = settings.companion.name

    def brand(self) -> str:
        """Name of the companion."""
        return f'<h1><span class="gem" aria-hidden="true"></span>{escape(self._name)}</h1>'

    def ask(self, question: str, session: str) -> Iterator[Told]:
        """Ask, and show the reply while it is written."""
        asked = question.strip()
        if not asked:
            yield _unchanged()
            return
        yield from self._follow(self._desk.conversations.ask(asked, session or None))

    def resume(self, session: str) -> Iterator[Told]:
        """Show a session again; a reply that is still being written goes on."""
        if session and (turn := self._desk.conversations.running(session)):
            yield from self._follow(turn, self._history(session))
        else:
            yield (self._history(session), "", gr.skip(), gr.skip(), *_idle())

    def stop(self, session: str) -> None:
        """Stop the reply; what was written stays."""
        if session:
            self._desk.conversations.stop(session)

    def new(self, session: str) -> tuple[Any, ...]:
        """Leave the session; the next question begins another."""
        self.stop(session)
        return ("", "", "", "", *_idle(), "")

    def open(self, session: str, event: gr.EventData) -> str:
        """A cited passage in its note."""
        chunk_id = str(event.passage)
        try:
            cited = self._desk.conversations.citation(session, chunk_id) if session else None
            return passage_panel(self._desk.passages.of_chunk(chunk_id, cited))
        except CompanionError as fault:
            return panel_fault(fault.message, fault.hint)

    def sync(self, session: str) -> Looks:
        """Start a sync."""
        return self._sync(session)

    def confirm(self, session: str) -> Looks:
        """Start a sync that removes the notes which are held: the person has said so, twice."""
        return self._sync(session, confirm_removals=True)

    def look(self, session: str) -> Looks:
        """Status line, what a person should know and, in an empty conversation, the welcome."""
        conversations = self._desk.conversations
        used = bool(session and (conversations.running(session) or conversations.turns(session, 1)))
        standing = self._desk.standing()
        return status_line(standing), notices(standing), "" if used else welcome(standing, self._name)

    def _sync(self, session: str, *, confirm_removals: bool = False) -> Looks:
        try:
            self._desk.syncs.start("page", confirm_removals=confirm_removals)
        except CompanionError as fault:
            gr.Warning(escape(f"{fault.message}. {fault.hint}"))
        return self.look(session)

    def _history(self, session: str) -> str:
        return self._renderer.history(self._desk.conversations.turns(session, _TURNS_SHOWN)) if session else ""

    def _follow(self, turn: RunningTurn, history: Any = None) -> Iterator[Told]:
        shown = _Shown(turn.question)
        yield (gr.skip() if history is None else history, shown.html(self._renderer), "", turn.session_id, *_busy())
        try:
            for event in turn.events():
                if shown.take(event, streaming=self._streaming):
                    yield (gr.skip(), shown.html(self._renderer), gr.skip(), gr.skip(), gr.skip(), gr.skip())
            ending = ""
        except CompanionError as fault:
            ending = self._renderer.fault(turn.question, fault.message, fault.hint)
        yield (self._history(turn.session_id), ending, gr.skip(), gr.skip(), *_idle())


class _Shown:
    """What the running turn shows."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._reply = ""
        self._notice = ""
        self._found: tuple[Citation, ...] | None = None

    def take(self, event: object, *, streaming: bool) -> bool:
        """Take an event in; True when there is something new to show."""
        match event:
            case Sources(citations):
                self._found = citations
            case Delta(text) if streaming and text:
                self._reply += text
            case Notice(text):
                self._notice, self._reply = text, ""
            case Final() | _:
                return False
        return True

    def html(self, renderer: TurnRenderer) -> str:
        """The turn as it is now."""
        doing = "" if self._reply else "looking through your notes …" if self._found is None else "thinking …"
        return renderer.live(self._question, self._reply, self._found, self._notice, doing)


def _busy() -> tuple[Any, Any]:
    return gr.update(visible="hidden"), gr.update(visible=True)


def _idle() -> tuple[Any, Any]:
    return gr.update(visible=True), gr.update(visible="hidden")


def _unchanged() -> Told:
    return (gr.skip(), gr.skip(), gr.skip(), gr.skip(), gr.skip(), gr.skip())
