"""A turn as server-sent events."""

import asyncio
from collections.abc import AsyncIterator

from pydantic import BaseModel

from companion_app.api.answers import CitationOut, DeltaOut, Fault, FinalOut, NoticeOut, SourcesOut
from companion_app.conversations import End, RunningTurn
from companion_app.events import Delta, Final, Notice, ReplyEvent, Sources


async def turn_events(turn: RunningTurn, *, streaming: bool) -> AsyncIterator[str]:
    """The events of a turn as they come. A client that leaves stops the model.

    Args:
        turn: The running turn.
        streaming: False leaves out the pieces; the reply then comes whole, with `final`.
    """
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[ReplyEvent | End] = asyncio.Queue()

    def hear(event: ReplyEvent | End) -> None:
        loop.call_soon_threadsafe(heard.put_nowait, event)

    turn.listen(hear)
    try:
        while not isinstance(event := await heard.get(), End):
            if isinstance(event, Delta) and not (streaming and event.text):
                continue
            yield _event(event, turn.session_id)
        if event.fault:
            yield _sent("error", Fault(error=event.fault.message, hint=event.fault.hint))
    finally:
        turn.stop()  # no effect on a turn that has ended


def _event(event: ReplyEvent, session_id: str) -> str:
    match event:
        case Sources(citations, seconds):
            found = [CitationOut.of(citation) for citation in citations]
            return _sent("sources", SourcesOut(session_id=session_id, citations=found, seconds=seconds))
        case Delta(text):
            return _sent("delta", DeltaOut(text=text))
        case Notice(text):
            return _sent("notice", NoticeOut(text=text))
        case Final():
            return _sent("final", FinalOut.of(event, session_id))


def _sent(name: str, data: BaseModel) -> str:
    # One line: JSON escapes the line breaks of a text.
    return f"event: {name}\ndata: {data.model_dump_json()}\n\n"
