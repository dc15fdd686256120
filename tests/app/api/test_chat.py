import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.app.api.conftest import REPLY, RunningApp, Start

QUESTION = "How thick is the top of the cello?"
Event = tuple[str, dict[str, Any]]


@contextmanager
def asking(app: RunningApp, question: str = QUESTION, **body: Any) -> Iterator[Iterator[Event]]:
    with app.http.stream("POST", "/api/chat", json={"question": question, **body}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield _events(response)


def _events(response: httpx.Response) -> Iterator[Event]:
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def ask(app: RunningApp, question: str = QUESTION, **body: Any) -> list[Event]:
    with asking(app, question, **body) as events:
        return list(events)


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_sources_come_first_then_pieces_then_the_turn(start: Start) -> None:
    app = start()
    events = ask(app)
    names = [name for name, _ in events]
    assert names[0] == "sources"
    assert names[-1] == "final"
    assert names.count("delta") > 5
    sources, final = events[0][1], events[-1][1]
    assert sources["citations"][0]["path"] == "Cello.md"
    assert final["session_id"] == sources["session_id"]
    assert "".join(data["text"] for name, data in events if name == "delta").strip() == REPLY
    cited = final["citations"][0]
    assert (cited["number"], cited["path"], cited["title"]) == (1, "Cello.md", "Cello")
    assert "4.2 mm" in cited["text"]
    assert cited["lines"][0] <= 6 <= cited["lines"][1]
    assert final["timings"]["total"] > 0
    assert final["counts"]["completion"] > 5
    stored = app.desk.companion.chat_log.turn(final["trace_id"])
    assert stored is not None
    assert stored.reply == final["reply"]


def test_the_stream_arrives_while_the_model_still_writes(start: Start) -> None:
    app = start(pause=0.02)
    with asking(app) as events:
        session = next(events)[1]["session_id"]
        assert next(events)[0] == "delta"
        assert app.desk.conversations.running(session) is not None
        assert list(events)[-1][0] == "final"
    eventually(lambda: app.desk.conversations.running(session) is None)


def test_a_client_that_leaves_stops_the_model_and_the_partial_turn_is_kept(start: Start) -> None:
    app = start(pause=0.1)
    with asking(app) as events:
        session = next(events)[1]["session_id"]
        written = [next(events)[1]["text"] for _ in range(3)]
    eventually(lambda: bool(app.desk.conversations.turns(session)))
    (turn,) = app.desk.conversations.turns(session)
    assert turn.stopped
    assert turn.reply.startswith("".join(written).strip())
    assert len(turn.reply) < len(REPLY)
    assert app.model.ended == "cancelled"


def test_a_client_that_leaves_while_the_model_reads_stops_it_too(start: Start) -> None:
    app = start(prefill=600)
    with asking(app) as events:
        session = next(events)[1]["session_id"]
        eventually(lambda: app.desk.conversations.running(session) is not None)
    eventually(lambda: bool(app.desk.conversations.turns(session)))
    assert app.desk.conversations.turns(session)[0].stopped


def test_a_conversation_is_carried_on_by_its_id(start: Start) -> None:
    app = start()
    session = ask(app)[-1][1]["session_id"]
    again = ask(app, "And the bass bar?", session_id=session)[-1][1]
    assert again["session_id"] == session
    assert [turn.question for turn in app.desk.conversations.turns(session)] == [QUESTION, "And the bass bar?"]
    assert any(QUESTION in message.content for message in app.model.prompts[-1])
    assert ask(app)[-1][1]["session_id"] != session


def test_two_questions_to_one_conversation_at_once_both_get_their_turn(start: Start) -> None:
    app = start(pause=0.01)
    results: list[Event] = []
    threads = [
        threading.Thread(target=lambda q=question: results.append(ask(app, q, session_id="shared")[-1]))
        for question in ("What about the cello?", "What about the varnish?")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [name for name, _ in results] == ["final", "final"]
    assert {turn.question for turn in app.desk.conversations.turns("shared")} == {
        "What about the cello?",
        "What about the varnish?",
    }


def test_filters_reach_the_search(start: Start) -> None:
    app = start()
    events = ask(app, "What varnish is on the cello?", filters={"folder": "Journal"})
    assert {citation["path"] for citation in events[0][1]["citations"]} == {"Journal/2026-03-02.md"}


def test_without_an_index_the_stream_says_what_to_do(start: Start) -> None:
    app = start(index=False)
    assert [name for name, _ in ask(app)] == ["error"]
    _, fault = ask(app)[0]
    assert "indexed" in fault["error"]
    assert "companion index" in fault["hint"]


def test_with_streaming_off_the_reply_comes_whole(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_COMPANION__CHAT__STREAMING", "false")
    assert [name for name, _ in ask(start())] == ["sources", "final"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": "   "},
        {"question": "x" * 8001},
        {"question": "Hello there", "temperature": 3},
        {"question": "Hello there", "session_id": "../x"},
        {"question": "Hello there", "unknown": 1},
        {"question": "Hello there", "filters": {"after": "yesterday"}},
    ],
)
def test_a_question_that_is_none_is_refused_with_a_reason(start: Start, body: dict[str, Any]) -> None:
    response = start(index=False).http.post("/api/chat", json=body)
    assert response.status_code == 422
    assert set(response.json()) == {"error", "hint"}
    assert response.json()["error"]
