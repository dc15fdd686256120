"""How current the knowledge is, in words; and that looking costs and changes nothing."""

import datetime as dt
from pathlib import Path

import pytest

from companion_app.standing import Knowledge, ago, look, share_words
from companion_assets.contracts.paths import data_paths
from companion_assets.contracts.settings import Settings
from companion_assets.daemon.running import Services, announce
from companion_assets.daemon.watch_state import WatchStateFile
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.process_mark import ProcessMark
from tests.app.small_app import NOTES, index_vault, write_vault


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_vault(tmp_path / "vault", NOTES)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    return root


def settings(vault: Path, **indexing: object) -> Settings:
    return Settings.model_validate({"vault": {"path": str(vault), "indexing": indexing}})


def looked(given: Settings) -> Knowledge:
    return look(data_paths(), given, lambda: Catalog(data_paths().catalog_db))


def start_services() -> None:
    own = ProcessMark.own()
    data_paths().locks_dir.mkdir(parents=True, exist_ok=True)
    announce(data_paths(), Services(own.pid, own.started, "http://127.0.0.1:7373", 3210))


def test_looking_creates_nothing(vault: Path) -> None:
    known = looked(settings(vault))
    assert (known.index, known.counts.notes, known.notices) == (None, 0, [])
    assert not data_paths().root.exists()


@pytest.mark.parametrize(
    ("state", "indexing", "words", "mode"),
    [
        (("events", ""), {}, "watching", "events"),
        (("polling", "too few watches"), {}, "looks every few seconds", "looks"),
        (None, {}, "looks every 30 s", "looks"),
        (("off", "off"), {"watch_fs_events": False}, "looks every day", "looks"),
        (("off", "off"), {"watch_fs_events": False, "auto_sync_interval_minutes": 45}, "looks every 45 min", "looks"),
        (("off", "off"), {"watch_fs_events": False, "auto_sync_interval_minutes": 120}, "looks every 2 hours", "looks"),
        (("off", "off"), {"auto_sync": False}, "automatic sync is off", "off"),
    ],
)
def test_how_changes_are_noticed_is_told_in_words(
    vault: Path, state: tuple[str, str] | None, indexing: dict[str, object], words: str, mode: str
) -> None:
    start_services()
    if state:
        WatchStateFile(data_paths()).say(*state)  # type: ignore[arg-type]
    known = looked(settings(vault, **indexing))
    assert (known.watching.words, known.watching.mode) == (words, mode)
    assert known.notices == (["too few watches"] if state and state[0] == "polling" else [])


def test_without_services_nobody_watches(vault: Path) -> None:
    assert looked(settings(vault)).watching.words == "not watching"


@pytest.mark.parametrize(
    ("part", "whole", "words"), [(6551, 6571, "99.7 %"), (9999, 10000, "99.9 %"), (3, 3, "100 %"), (0, 0, "100 %")]
)
def test_a_share_is_never_rounded_to_all(part: int, whole: int, words: str) -> None:
    assert share_words(part, whole) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (12, "12 s"), (75, "1 minute"), (100, "2 minutes"), (3700, "1 hour"), (200_000, "2 days")],
)
def test_a_moment_is_told_as_how_long_ago(seconds: int, words: str) -> None:
    moment = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds)
    assert ago(moment.isoformat()) == f"{words} ago"
    assert ago("someday") == "someday"


def test_coverage_names_what_is_not_searched_whole(vault: Path) -> None:
    (vault / "Half.md").write_bytes(b"# Half\n\nGood line.\n\xff\xfe\xe9 broken\n")
    index_vault(data_paths())
    assert looked(settings(vault)).coverage == "3 of 4 notes indexed, 75.0 %; 1 read in part"


def test_a_change_of_embedder_is_counted_in_texts_without_opening_an_engine(vault: Path) -> None:
    index_vault(data_paths())
    other = Settings.model_validate(
        {"vault": {"path": str(vault)}, "rag": {"embedding": {"provider": "ollama", "base_url": "http://127.0.0.1:1"}}}
    )
    known = looked(other)
    assert known.change is not None
    assert (known.change.texts.done, known.change.texts.total) == (0, 3)
    assert known.notices[0].startswith("The settings name mxbai-embed-large: the next sync makes its index")
    assert known.indexed == 3
    data_paths().vectors_db.unlink()
    assert looked(other).change is not None
    assert not data_paths().vectors_db.exists()
