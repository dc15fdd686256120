"""Renames and moves: nothing is embedded again, and a note is never found twice or not at all (B29, B31)."""

import os
import shutil
import time
from functools import partial
from pathlib import Path

import pytest

from companion_assets.contracts.settings import ChunkingRule
from companion_assets.stages import cutter, sync
from companion_assets.stages.chunk_rules import rules_signature
from companion_assets.stages.drift import measure_drift
from companion_assets.stages.vault import read_note
from companion_assets.stages.workspace import PARSER_VERSION
from companion_assets.stores import index_table
from companion_assets.stores.index import ChunkIndex
from tests.stages.sync_material import Living, settle

NOTES = {f"Garden/{name}.md": f"# {name}\nAll about {name}.\n" for name in ("pear", "plum", "quince")}
NOTES |= {"Work/plan.md": "The plan for the year.", "loose.md": "A loose note."}


@pytest.fixture
def living(tmp_path: Path) -> Living:
    made = Living(tmp_path, NOTES)
    made.sync()
    return made


def test_a_renamed_note(living: Living) -> None:
    (living.vault / "Garden/pear.md").rename(living.vault / "Garden/Old pear.md")
    counts, _ = living.sync()
    assert (counts["embedded"], living.embedder.texts, counts["notes_removed"]) == (0, [], 1)
    assert set(living.served()) == {*NOTES, "Garden/Old pear.md"} - {"Garden/pear.md"}


def test_a_moved_tree(living: Living) -> None:
    (living.vault / "Archive").mkdir()
    (living.vault / "Garden").rename(living.vault / "Archive/Garden")
    counts, _ = living.sync()
    assert (counts["embedded"], counts["notes_removed"]) == (0, 3)
    assert sorted(living.served()) == sorted(path.replace("Garden/", "Archive/Garden/") for path in NOTES)


@pytest.mark.parametrize("first", ["Garden", "Work"])
def test_whichever_folder_is_synced_first_a_moved_note_is_found_in_exactly_one_place(
    living: Living, first: str
) -> None:
    (living.vault / "Garden/pear.md").rename(living.vault / "Work/pear.md")
    second = {"Garden": "Work", "Work": "Garden"}[first]
    for folder in (first, second):
        living.sync(folder)
        places = [path for path, text in living.served().items() if "about pear" in text]
        assert places == (["Garden/pear.md"] if folder == first == "Garden" else ["Work/pear.md"])
    assert living.embedder.texts == []


def test_old_and_new_path_change_places_in_one_commit(living: Living) -> None:
    (living.vault / "Garden/pear.md").rename(living.vault / "Work/pear.md")
    before = ChunkIndex.open(living.paths).manifest.version
    _, verdict = living.sync()
    assert verdict.version == before + 1, "one merge brought the new rows and dropped the old ones"


def test_a_move_onto_another_note(living: Living) -> None:
    (living.vault / "Garden/pear.md").replace(living.vault / "Garden/plum.md")
    counts, _ = living.sync()
    assert counts["embedded"] == 0
    assert set(living.served()) == set(NOTES) - {"Garden/pear.md"}
    assert "pear" in living.served()["Garden/plum.md"]


def test_two_notes_change_names(living: Living) -> None:
    pear, plum, aside = (living.vault / f"Garden/{name}.md" for name in ("pear", "plum", "aside"))
    pear.rename(aside)
    plum.rename(pear)
    aside.rename(plum)
    counts, _ = living.sync()
    assert counts["embedded"] == 0
    assert "pear" in living.served()["Garden/plum.md"]
    assert "plum" in living.served()["Garden/pear.md"]


def test_a_copy_that_stays_is_no_move(living: Living) -> None:
    shutil.copy(living.vault / "Garden/pear.md", living.vault / "Garden/pear copy.md")
    counts, _ = living.sync()
    assert counts["embedded"] == 0
    assert set(living.served()) == {*NOTES, "Garden/pear copy.md"}
    settle()
    (living.vault / "Garden/pear.md").unlink()
    living.sync()
    assert set(living.served()) == {*NOTES, "Garden/pear copy.md"} - {"Garden/pear.md"}


def test_a_new_chunking_rule_embeds_only_texts_that_are_new(living: Living) -> None:
    rule = ChunkingRule(chunk_size=64, chunk_overlap=0)
    living.settings = living.settings.model_copy(update={"chunking_rules": {"default": rule}})
    counts, verdict = living.sync()
    assert (counts["chunks"], counts["embedded"], verdict.rows) == (5, 0, 5)


def test_other_search_terms_are_written_without_embedding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    living = Living(tmp_path, NOTES)
    with monkeypatch.context() as before:
        before.setattr(cutter, "rules_signature", partial(rules_signature, version="1"))
        before.setattr(index_table, "indexed", lambda text: "other terms")
        living.sync()
    assert ChunkIndex.open(living.paths).text_leg("pear", 5) == []
    counts, verdict = living.sync()
    assert (counts["chunks"], counts["rows_written"], counts["embedded"], verdict.rows) == (5, 5, 0, 5)
    assert [hit.path for hit in ChunkIndex.open(living.paths).text_leg("pear", 5)] == ["Garden/pear.md"]
    assert living.sync()[0]["chunks"] == 0


def test_a_touched_note_is_taken_over_without_embedding(living: Living) -> None:
    (living.vault / "loose.md").touch()
    counts, _ = living.sync()
    assert (counts["read"], counts["embedded"], counts["rows_written"]) == (0, 0, 1)
    modified = ChunkIndex.open(living.paths).neighbours("loose.md")[0].modified_at
    assert abs(modified.timestamp() - (living.vault / "loose.md").stat().st_mtime) < 1e-5
    assert not living.sync()[1].changed


def test_a_note_that_was_read_and_not_cut_is_known_to_be_behind(living: Living) -> None:
    living.write("loose.md", "Edited, and then the machine went down.")
    with living.workspace() as work:
        sync.read_folder(work, "_root")
    state = living.view().note_status("loose.md")
    assert state is not None
    assert not state.indexed
    with living.workspace() as work:
        assert list(measure_drift(work, settle_seconds=0).dirty) == ["_root"]
    living.sync("_root")
    assert "went down" in living.served()["loose.md"]


def test_reading_all_anew_cuts_and_merges_all_anew_and_embeds_nothing(living: Living) -> None:
    with living.workspace() as work:
        for folder in work.folders():
            sync.read_folder(work, folder, rebuild=True)
    counts, _ = living.sync()
    assert (counts["chunks"], counts["rows_written"], counts["embedded"]) == (5, 5, 0)


def test_a_file_system_without_fractions_of_seconds_hides_no_edit(living: Living) -> None:
    second = int(time.time())
    for text in ("- [ ] buy strings", "- [x] buy strings"):
        living.write("loose.md", text)
        os.utime(living.vault / "loose.md", (second, second))
        living.sync()
        assert living.served()["loose.md"] == text
    assert not living.sync()[1].changed
    settle()
    settle()
    living.sync()
    counts, verdict = living.sync()
    assert (counts["read"], counts["unchanged"], verdict.changed) == (0, 5, False)


def test_a_text_that_is_read_in_one_place_waits_for_no_other(living: Living) -> None:
    (living.vault / "Garden/pear.md").rename(living.vault / "Work/pear.md")
    with living.workspace() as work:
        (file,) = (file for file in work.folders()["Work"] if file.path == "Work/pear.md")
        work.catalog.put_notes([(file, read_note(work.root, file))], PARSER_VERSION)  # and the machine went down
    shutil.copy(living.vault / "Work/pear.md", living.vault / "Garden/copy.md")
    living.sync("Work")
    assert "Garden/pear.md" not in living.served()
    assert "about pear" in living.served()["Work/pear.md"]
