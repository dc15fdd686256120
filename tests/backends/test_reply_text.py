import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.backends.reply_text import ReplyText


def fed(reply: ReplyText, pieces: list[bytes]) -> list[str]:
    return [reply.feed(piece) for piece in pieces]


@given(st.text(), st.integers(1, 4))
def test_characters_split_over_pieces_arrive_whole(text: str, size: int) -> None:
    raw = text.encode("utf-8", "ignore")
    reply = ReplyText()
    shown = fed(reply, [raw[at : at + size] for at in range(0, len(raw), size)])
    assert "".join(shown) + reply.finish() == raw.decode()


def test_half_an_emoji_at_the_end_is_dropped() -> None:
    reply = ReplyText()
    assert fed(reply, [b"ok ", "🦊".encode()[:2]]) == ["ok ", ""]
    assert reply.finish() == ""


def test_broken_bytes_become_a_replacement_and_the_rest_survives() -> None:
    assert ReplyText().feed(b"a\xffb") == "a\ufffdb"


@pytest.mark.parametrize("pieces", [[b"one", b"\nQ: two"], [b"one\n", b"Q", b":", b" two"], [b"one\nQ: two"]])
def test_a_stop_string_is_cut_wherever_it_is_split(pieces: list[bytes]) -> None:
    reply = ReplyText(["\nQ:"])
    shown = ""
    for piece in pieces:
        shown += reply.feed(piece)
        if reply.stopped:
            break
    assert reply.stopped
    assert shown + reply.finish() == "one"


def test_the_earliest_of_several_stop_strings_wins() -> None:
    reply = ReplyText(["END", "", "STOP"])
    assert reply.feed(b"a STOP b END") == "a "
    assert reply.stopped


def test_what_only_looked_like_a_stop_string_is_shown() -> None:
    reply = ReplyText(["\nQ:"])
    assert reply.feed(b"one\n") == "one"
    assert reply.feed(b"Quiet") == "\nQuiet"
    assert reply.feed(b" end\nQ") == " end"
    assert reply.finish() == "\nQ"
    assert not reply.stopped
