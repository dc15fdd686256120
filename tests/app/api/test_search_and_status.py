import datetime as dt
import sys
import time
from pathlib import Path

import psutil
import pytest

from companion_app.syncs import Syncs
from companion_assets.contracts.paths import data_paths
from companion_assets.contracts.records import HeldRemovals
from companion_assets.stores.catalog import Catalog
from tests.app.api.conftest import Start


def test_search_answers_in_the_stable_form_by_get_and_post(start: Start) -> None:
    http = start().http
    got = http.get("/api/search", params={"q": "bass bar of the cello", "k": 2}).json()
    assert got == http.post("/api/search", json={"q": "bass bar of the cello", "k": 2}).json()
    assert set(got["understood"]) >= {"dates", "people", "notes", "filters", "order"}
    hit = got["hits"][0]
    assert list(hit) == ["path", "heading", "lines", "date", "score", "matched_by", "text"]
    assert (hit["path"], hit["heading"], hit["date"]) == ("Cello.md", "Cello", "2026-03-01")
    assert len(got["hits"]) <= 2


def test_search_filters_by_day_tag_and_folder(start: Start) -> None:
    http = start().http

    def paths(**params: str) -> set[str]:
        hits = http.get("/api/search", params={"q": "cello varnish kale", **params}).json()["hits"]
        return {hit["path"] for hit in hits}

    assert paths(after="2026-03-02") == {"Journal/2026-03-02.md"}
    assert paths(before="2026-03-01") == {"Cello.md"}
    assert paths(folder="Kitchen") == {"Kitchen/Soup.md"}
    assert paths(tag="#DayInShort") == {"Journal/2026-03-02.md"}
    assert paths(note="Kitchen/Soup") == paths(note="soup") == {"Kitchen/Soup.md"}
    assert paths(person="Nobody At All") == set()


@pytest.mark.parametrize("params", [{}, {"q": ""}, {"q": "x", "k": 0}, {"q": "x", "after": "soon"}])
def test_a_search_that_is_none_is_refused(start: Start, params: dict[str, str]) -> None:
    response = start(index=False).http.get("/api/search", params=params)
    assert response.status_code == 422
    assert set(response.json()) == {"error", "hint"}


def test_searching_before_the_first_sync_says_what_to_do(start: Start) -> None:
    response = start(index=False).http.get("/api/search", params={"q": "cello"})
    assert response.status_code == 409
    assert "companion index" in response.json()["hint"]


def test_status_and_health_tell_what_is_there(start: Start) -> None:
    http = start().http
    status = http.get("/api/index/status").json()
    assert status["counts"]["notes"] == 3
    assert status["index"]["notes"] == 3
    assert status["index"]["embedder"] == "multilingual-e5-small"
    assert status["last_sync"]
    assert status["syncing"] is False
    assert status["coverage"] == "3 of 3 notes indexed, 100 %"
    assert status["counts"]["indexed"] == 3
    assert (status["notices"], status["held"], status["embedder_change"]) == ([], None, None)
    assert status["watching"] == {"mode": "off", "words": "not watching", "trouble": ""}
    health = http.get("/api/health").json()
    assert health == {"status": "ok", "index": True, "model": {"state": "ready", "model": "scripted", "detail": ""}}


def test_before_the_first_sync_status_and_health_are_answered_too(start: Start) -> None:
    http = start(index=False).http
    assert http.get("/api/index/status").json()["index"] is None
    assert http.get("/api/health").json()["index"] is False


def test_a_triggered_sync_runs_once_at_a_time_and_indexes_the_vault(start: Start) -> None:
    """The real command in its own process, embedding with the installed weights."""
    http = start(index=False).http
    assert http.post("/api/index/trigger", json={"confirm": True}).status_code == 422
    first = http.post("/api/index/trigger", json={"confirm_removals": True})
    assert first.status_code == 202
    assert psutil.Process(first.json()["pid"]).cmdline()[-2:] == ["sync", "--confirm-removals"]
    second = http.post("/index/trigger")
    assert second.status_code == 409
    assert "already" in second.json()["error"]
    assert http.get("/api/index/status").json()["syncing"] is True
    deadline = time.monotonic() + 120
    while (status := http.get("/api/index/status").json())["syncing"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert status["sync_failure"] == ""
    assert status["index"]["notes"] == 3


def test_a_sync_that_fails_says_why(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(vault / "gone"))
    syncs = Syncs(data_paths(), None)
    syncs.start("test")
    while syncs.state().running:
        time.sleep(0.1)
    assert "gone" in syncs.state().failure


def test_looking_at_a_sync_loads_no_dagster() -> None:
    import subprocess

    code = "import sys; import companion_app.syncs, companion_app.desk; sys.exit('dagster' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("key", "params"),
    [
        ("date_range_enabled", {"after": "2026-03-02"}),
        ("date_range_enabled", {"before": "2026-03-02"}),
        ("tag_filter_enabled", {"tag": "DayInShort"}),
        ("directory_filter_enabled", {"folder": "Kitchen"}),
    ],
)
def test_a_filter_that_is_switched_off_is_refused_and_the_others_work(
    start: Start, monkeypatch: pytest.MonkeyPatch, key: str, params: dict[str, str]
) -> None:
    monkeypatch.setenv(f"COMPANION_RAG__SEARCH__FILTERS__{key.upper()}", "false")
    http = start().http
    response = http.get("/api/search", params={"q": "cello", **params})
    assert response.status_code == 400
    assert f"rag.search.filters.{key}" in response.json()["hint"]
    assert http.get("/api/search", params={"q": "cello"}).status_code == 200


def test_a_damaged_catalog_is_told_and_does_not_take_the_status_away(start: Start) -> None:
    app = start()
    data_paths().catalog_db.write_bytes(b"no database" * 1000)
    for suffix in ("-wal", "-shm"):
        data_paths().catalog_db.with_name(f"catalog.db{suffix}").unlink(missing_ok=True)
    response = app.http.get("/api/index/status")
    assert response.status_code == 200
    assert "catalog.db" in response.json()["index_fault"]


def test_notes_that_are_held_are_told_while_they_are_held(start: Start) -> None:
    app = start()
    catalog = Catalog(data_paths().catalog_db)
    catalog.hold_removals(HeldRemovals(2, 3, ("Cello.md", "Kitchen/Soup.md"), dt.datetime.now(dt.UTC)))
    held = app.http.get("/api/index/status").json()["held"]
    assert (held["vanished"], held["known"], held["examples"]) == (2, 3, ["Cello.md", "Kitchen/Soup.md"])
    assert held["reason"].startswith("2 of 3 notes vanished at once, so none was removed")
    catalog.mark_gone(["Cello.md", "Kitchen/Soup.md"])  # a sync let them go
    assert app.http.get("/api/index/status").json()["held"] is None


def test_a_vault_that_goes_away_is_told_and_search_goes_on(start: Start) -> None:
    app = start()
    app.vault.rename(app.vault.with_name("unplugged"))
    status = app.http.get("/api/index/status").json()
    assert "does not exist. Nothing was removed from the index." in status["vault_fault"]
    assert status["notices"] == [status["vault_fault"]]
    assert status["index"]["notes"] == 3
    assert app.http.get("/api/search", params={"q": "cello"}).json()["hits"][0]["path"] == "Cello.md"
