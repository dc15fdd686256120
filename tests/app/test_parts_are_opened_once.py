"""Parts of the app are opened by their first user, once, whoever comes beside."""

import threading

import pytest

from companion_app.bootstrap import Once
from companion_assets.contracts.errors import StoreError


def test_callers_side_by_side_get_the_same_thing() -> None:
    opened: list[object] = []
    gate = threading.Event()

    def opener() -> object:
        gate.wait()
        opened.append(object())
        return opened[-1]

    once, got = Once(opener), []
    threads = [threading.Thread(target=lambda: got.append(once())) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert once.opened is None
    gate.set()
    for thread in threads:
        thread.join()
    assert len(opened) == 1
    assert got == opened * 8
    assert once.opened is opened[0]


def test_a_failure_is_not_kept() -> None:
    answers = iter([StoreError("not yet"), "there"])

    def opener() -> str:
        answer = next(answers)
        if isinstance(answer, StoreError):
            raise answer
        return answer

    once = Once(opener)
    with pytest.raises(StoreError):
        once()
    assert once() == once() == "there"
