"""One save is many events; a folder is looked at once they are over. Times are given, nothing waits here."""

import math

from companion_assets.daemon.debounce import Debounce


def test_a_folder_is_due_after_a_moment_of_quiet() -> None:
    debounce = Debounce()
    debounce.notice("Journal", "Journal/a.md", now=10.0)
    assert debounce.take(10.3) == frozenset()
    assert debounce.waiting() == {"Journal"}
    assert debounce.take(10.4) == {"Journal"}
    assert debounce.take(99.0) == frozenset()
    assert debounce.next_at() == math.inf


def test_every_event_prolongs_the_quiet_and_folders_wait_each_for_themselves() -> None:
    debounce = Debounce()
    debounce.notice("Journal", now=10.0)
    debounce.notice("Projects", now=10.0)
    debounce.notice("Journal", now=10.3)
    assert debounce.next_at() == 10.4
    assert debounce.take(10.5) == {"Projects"}
    assert debounce.take(10.8) == {"Journal"}


def test_folders_that_are_almost_due_come_along() -> None:
    debounce = Debounce()
    debounce.notice("Journal", now=10.0)
    debounce.notice("Projects", now=10.05)
    assert debounce.take(10.4) == {"Journal", "Projects"}


def test_constant_writing_delays_a_folder_for_three_seconds_at_most() -> None:
    debounce = Debounce()
    for tenth in range(60):
        debounce.notice("Journal", "Journal/a.md", now=10 + tenth / 10)
        assert debounce.next_at() <= 13.0


def test_a_deletion_waits_longer() -> None:
    debounce = Debounce()
    debounce.notice("Journal", "Journal/a.md", deleted=True, now=10.0)
    assert debounce.take(11.4) == frozenset()
    assert debounce.take(11.5) == {"Journal"}


def test_a_deletion_whose_file_is_there_again_is_a_write() -> None:
    debounce = Debounce()
    debounce.notice("Journal", "Journal/a.md", deleted=True, now=10.0)
    assert debounce.notice("Journal", "Journal/a.md", now=10.2), "it is due sooner now"
    assert debounce.take(10.6) == {"Journal"}


def test_writing_does_not_cut_a_deletion_short() -> None:
    debounce = Debounce()
    debounce.notice("Journal", "Journal/b.md", now=8.0)
    for tenth in range(30):
        debounce.notice("Journal", "Journal/b.md", now=8 + tenth / 10)
    debounce.notice("Journal", "Journal/a.md", deleted=True, now=10.9)
    assert debounce.take(12.3) == frozenset()
    assert debounce.take(12.4) == {"Journal"}


def test_endless_deleting_delays_a_folder_for_ten_seconds_at_most() -> None:
    debounce = Debounce()
    for second in range(30):
        debounce.notice("Journal", f"Journal/{second}.md", deleted=True, now=10.0 + second)
        assert debounce.next_at() <= 20.0


def test_a_storm_takes_no_memory() -> None:
    debounce = Debounce()
    for number in range(20_000):
        debounce.notice("Journal", f"Journal/{number}.md", deleted=True, now=10.0)
    stir = debounce._stirs["Journal"]
    assert len(stir.missing) < 100
    for number in range(20_000):  # they come back; not all of them were remembered, so it waits all the same
        debounce.notice("Journal", f"Journal/{number}.md", now=10.1)
    assert debounce.next_at() == 11.5


def test_only_what_brings_the_next_look_nearer_wakes_the_watcher() -> None:
    debounce = Debounce()
    assert debounce.notice("Journal", now=10.0)
    assert not debounce.notice("Journal", now=10.1)
    assert debounce.notice("Projects", now=10.2)
