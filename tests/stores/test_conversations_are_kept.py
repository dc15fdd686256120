import subprocess
import sys
from pathlib import Path

import pytest

from companion_assets.contracts.records import Citation, Turn
from companion_assets.stores.chat_log import ChatLog

ROOT = Path(__file__).parents[2]
CITATION = Citation(1, "c1", "Ünï's.md", "Title", "A > B", 3, 7, "quoted\ntext")


@pytest.fixture
def log(tmp_path: Path) -> ChatLog:
    return ChatLog(tmp_path / "companion.db")


def test_turns_come_back_whole_and_in_order(log: ChatLog, tmp_path: Path) -> None:
    session = log.create_session()
    turns = [Turn(f"q{i} 🙂", f"r{i}", (CITATION,) * i, f"trace{i}", "model", stopped=i == 2) for i in range(4)]
    for turn in turns:
        log.append_turn(session, turn)
    log.close()
    again = ChatLog(tmp_path / "companion.db")
    assert again.turns(session) == turns
    assert again.turns(session, 2) == turns[2:]
    assert again.turns(session, 0) == []
    assert again.turns("unknown") == []
    assert again.turn("trace1") == turns[1]
    assert again.turn("nowhere") is None


def test_sessions_are_listed_by_last_use_with_their_first_question(log: ChatLog) -> None:
    first, second, unused = log.create_session(), log.create_session("Chosen title"), log.create_session()
    log.append_turn(first, Turn("First question?", "r"))
    log.append_turn(second, Turn("Other?", "r"))
    log.append_turn(first, Turn("Second question?", "r"))
    listed = log.sessions()
    assert [(one.session_id, one.title, one.turns) for one in listed] == [
        (first, "First question?", 2),
        (second, "Chosen title", 1),
    ]
    assert unused not in {one.session_id for one in listed}
    assert listed[0].created_at <= listed[0].last_at
    assert listed[0].last_at.tzinfo is not None
    assert len(log.sessions(limit=1)) == 1


def test_a_session_that_nobody_created_is_begun(log: ChatLog) -> None:
    log.append_turn("from-elsewhere", Turn("q", "r"))
    assert [one.session_id for one in log.sessions()] == ["from-elsewhere"]


def test_broken_unicode_of_a_model_is_no_reason_to_lose_a_turn(log: ChatLog) -> None:
    log.append_turn("s", Turn("q\ud83d", "half \udcff"))
    assert log.turns("s") == [Turn("q?", "half ?")]


PARTNER = """
import sys
from pathlib import Path
from companion_assets.contracts.records import Turn
from companion_assets.stores.chat_log import ChatLog

log = ChatLog(Path(sys.argv[1]))
for i in range(int(sys.argv[3])):
    log.append_turn("shared", Turn(f"{sys.argv[2]} {i}", "r"))
    print(i, flush=True)
"""


def _partner(path: Path, name: str, turns: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PARTNER, str(path), name, str(turns)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "companion.db"
    partners = [_partner(path, name, 60) for name in ("a", "b")]
    for partner in partners:
        partner.communicate(timeout=60)
        assert partner.returncode == 0
    questions = [turn.question for turn in ChatLog(path).turns("shared")]
    assert len(questions) == 120
    for name in ("a", "b"):
        assert [q for q in questions if q.startswith(name)] == [f"{name} {i}" for i in range(60)]


def test_a_turn_that_was_confirmed_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "companion.db"
    partner = _partner(path, "a", 100_000)
    assert partner.stdout is not None
    confirmed = [int(partner.stdout.readline()) for _ in range(20)]
    partner.kill()
    partner.wait()
    stored = [turn.question for turn in ChatLog(path).turns("shared")]
    assert stored[:20] == [f"a {i}" for i in confirmed]
    assert stored == [f"a {i}" for i in range(len(stored))]
