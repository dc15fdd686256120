"""The routes. Blocking work runs in FastAPI's threads; only the event stream is asynchronous."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from companion_app.api.answers import Fault, HitOut, PassageOut, SearchOut, TriggerOut
from companion_app.api.events import turn_events
from companion_app.api.questions import ChatIn, SearchIn, TriggerIn
from companion_app.api.standing_answers import HealthOut, StatusOut, model_out
from companion_app.desk import Desk
from companion_app.passages import PassageMissing
from companion_app.retrieval import understood_document

_FAULTS: dict[int | str, dict[str, Any]] = {status: {"model": Fault} for status in (400, 404, 409, 413, 422, 503)}
_LINE = Query(ge=1, le=10_000_000)

router = APIRouter(responses=_FAULTS)


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


@router.post("/api/chat", response_class=StreamingResponse)
async def chat(request: Request, asked: ChatIn) -> StreamingResponse:
    """Ask. Answers with server-sent events: `sources`, `delta`…, `notice`, then `final` or `error`."""
    desk = _desk(request)
    turn = desk.conversations.ask(
        asked.question, asked.session_id, filters=asked.filters.filters(), temperature=asked.temperature
    )
    events = turn_events(turn, streaming=desk.companion.settings.companion.chat.streaming)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


@router.get("/api/search")
def search(request: Request, asked: Annotated[SearchIn, Query()]) -> SearchOut:
    """Find passages."""
    return _search(_desk(request), asked)


@router.post("/api/search")
def search_by_post(request: Request, asked: SearchIn) -> SearchOut:
    """Find passages; the same with the question in the body."""
    return _search(_desk(request), asked)


def _search(desk: Desk, asked: SearchIn) -> SearchOut:
    found = desk.companion.retriever.retrieve(asked.q, k=asked.k, filters=asked.filters(), rerank=False)
    hits = [HitOut.of(hit) for hit in found.hits]
    return SearchOut(hits=hits, understood=understood_document(found), evidence=found.strength, notice=found.notice)


@router.post("/api/index/trigger", status_code=202)
@router.post("/index/trigger", status_code=202)
def trigger(request: Request, asked: TriggerIn | None = None) -> TriggerOut:
    """Start a sync of the vault; 409 if one runs already. The body may be left out."""
    started = _desk(request).syncs.start("api", confirm_removals=asked is not None and asked.confirm_removals)
    return TriggerOut(run_id=started.run_id, pid=started.pid)


@router.get("/api/index/status")
def status(request: Request) -> StatusOut:
    """What is indexed, since when, and what runs."""
    return StatusOut.of(_desk(request).standing())


@router.get("/api/health")
def health(request: Request) -> HealthOut:
    """The app is up; whether model and index are there."""
    standing = _desk(request).standing()
    return HealthOut(index=standing.knowledge.index is not None, model=model_out(standing))


@router.get("/api/passage")
def passage(
    request: Request,
    chunk_id: Annotated[str | None, Query(max_length=200)] = None,
    path: Annotated[str | None, Query(min_length=1, max_length=4096)] = None,
    first: Annotated[int, _LINE] = 1,
    last: Annotated[int | None, _LINE] = None,
) -> PassageOut:
    """A passage in its note: by chunk id, or by path and lines."""
    passages = _desk(request).passages
    if chunk_id is not None:
        return PassageOut.of(passages.of_chunk(chunk_id))
    if path is not None:
        return PassageOut.of(passages.of_lines(path, first, last or first))
    raise PassageMissing("neither chunk_id nor path was given", "/api/passage?chunk_id=… or ?path=…&first=…&last=…")


@router.api_route("/api/{rest:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)
def nothing_here(rest: str) -> None:
    """Anything else under /api is not the page's business."""
    raise HTTPException(404, f"there is no /api/{rest}")
