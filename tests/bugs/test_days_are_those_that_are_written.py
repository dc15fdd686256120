"""The day of a note is the one in its name, else the one in its properties as it stands there, anywhere (B85)."""

import datetime as dt
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion_assets.contracts.searching import SearchFilters
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.predicates import where
from tests.stages.sync_material import Living

FOURTH = dt.date(2026, 3, 4)
SAVED = dt.datetime(2026, 3, 3, 16, 19, tzinfo=dt.UTC)  # 00:19 on the 4th in Shanghai, 08:19 on the 3rd in California
NOTES = {
    "Journal/2026-03-03.md": "---\ncreated: 2026-03-04T00:19:00+08:00\n---\nBy its name the third.",
    "Journal/2026-03-04.md": "---\ncreated: 2026-03-03T16:19:00Z\n---\nBy its name the fourth.",
    "Meeting.md": "---\ndate: 2026-03-04T00:19:00+08:00\n---\nNineteen minutes into the fourth.",
    "Call.md": "---\ndate: 2026-03-03T23:59:00-08:00\n---\nStill the third.",
    "Undated.md": "Of no day.",
}


@pytest.fixture(params=["Asia/Shanghai", "America/Los_Angeles", "UTC"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The time zone of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


def test_near_midnight_in_every_time_zone(zone: str, tmp_path: Path) -> None:
    living = Living(tmp_path, NOTES)
    for path in NOTES:
        os.utime(living.vault / path, (SAVED.timestamp(), SAVED.timestamp()))
    living.sync()
    index = ChunkIndex.open(living.paths)
    found = index.text_leg("third fourth day", 10, where(SearchFilters(after=FOURTH, before=FOURTH)))
    assert {hit.path for hit in found} == {"Journal/2026-03-04.md", "Meeting.md"}
    assert {hit.date for hit in found} == {FOURTH}
    chunks = {path: index.neighbours(path)[0] for path in NOTES}
    assert chunks["Call.md"].date == chunks["Journal/2026-03-03.md"].date == dt.date(2026, 3, 3)
    assert chunks["Undated.md"].date is None
    assert {chunk.modified_at for chunk in chunks.values()} == {SAVED}
