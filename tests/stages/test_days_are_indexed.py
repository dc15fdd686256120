"""The days a passage names are in the index, also in one that an earlier build has made."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

from companion_assets.stores import index_table
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.predicates import days_within
from tests.stages.sync_material import Living

NOTES = {
    "Journal/2026-03-04.md": "On March 3rd we planted the pear tree.",
    "Plan.md": "The concert is on 24 December 2026.",
    "Other.md": "Nothing is said of time.",
}


def _on(index: ChunkIndex, day: dt.date) -> list[str]:
    return sorted({one.source_file for one in index._chunks(days_within(day, day))})


def test_a_passage_is_found_by_a_day_it_names(tmp_path: Path) -> None:
    living = Living(tmp_path, NOTES)
    living.sync()
    index = ChunkIndex.open(living.paths)
    assert _on(index, dt.date(2026, 3, 3)) == _on(index, dt.date(2026, 3, 4)) == ["Journal/2026-03-04.md"]
    assert _on(index, dt.date(2026, 12, 24)) == ["Plan.md"]
    assert _on(index, dt.date(2026, 12, 25)) == []


def test_an_index_without_days_is_made_anew_and_nothing_is_embedded_for_it(tmp_path: Path) -> None:
    living = Living(tmp_path, NOTES)
    living.sync()
    manifest = index_table.read_manifest(living.paths)
    table = index_table.connect(living.paths).open_table(manifest.table)
    table.drop_columns(["days", "note_text"])
    index_table.write_manifest(living.paths, replace(manifest, version=table.version))
    before = ChunkIndex.open(living.paths)
    assert not before.knows_days
    counts, _ = living.sync()
    assert counts["embedded"] == 0
    after = ChunkIndex.open(living.paths)
    assert after.manifest.table != manifest.table
    assert _on(after, dt.date(2026, 12, 24)) == _on(before, dt.date(2026, 12, 24)) == ["Plan.md"]
