"""Whatever happens to the vault, one sync later a reader sees exactly the vault."""

import os
import shutil
from pathlib import Path

import dagster as dg
import pytest

from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.launching import run_sync
from companion_assets.definitions import defs
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import read_manifest
from tests.defs.conftest import NOTES, indexed, sync


def test_the_first_sync_indexes_every_note(paths: DataPaths) -> None:
    result = sync(paths)
    assert set(indexed(paths)) == set(NOTES)
    assert result.counts["notes"]["read"] == len(NOTES)
    assert result.counts["embeddings"]["embedded"] == ChunkIndex.open(paths).count()


def test_a_second_sync_does_nothing(synced: DataPaths) -> None:
    version = read_manifest(synced).version
    counts = sync(synced).counts
    assert counts["notes"]["read"] == 0
    assert counts["chunks"]["notes"] == 0
    assert counts["embeddings"]["embedded"] == 0
    assert counts["vault_index"]["rows_written"] == 0
    assert read_manifest(synced).version == version


def test_one_edit_costs_one_note(synced_vault: Path, synced: DataPaths) -> None:
    note = synced_vault / "Projects/Cello.md"
    note.write_text(note.read_text(encoding="utf-8").replace("4,200", "4,350"), encoding="utf-8")
    counts = sync(synced).counts
    assert counts["notes"]["read"] == 1
    assert counts["embeddings"]["embedded"] == 1
    assert any("4,350" in text for text, _, _ in indexed(synced)["Projects/Cello.md"])
    assert not any("4,200" in text for chunks in indexed(synced).values() for text, _, _ in chunks)


def test_a_touched_file_is_not_embedded_again(synced_vault: Path, synced: DataPaths) -> None:
    os.utime(synced_vault / "Inbox.md", (1_900_000_000, 1_900_000_000))
    counts = sync(synced).counts
    assert (counts["notes"]["read"], counts["embeddings"]["embedded"]) == (0, 0)
    assert counts["vault_index"]["rows_written"] == 1, "a row says when its note was modified"


def test_a_renamed_folder_moves_without_embedding_what_it_says(synced_vault: Path, synced: DataPaths) -> None:
    shutil.move(synced_vault / "People", synced_vault / "Persons")
    assert sync(synced).counts["embeddings"]["embedded"] == 0
    found = indexed(synced)
    assert "Persons/Mei Lin.md" in found
    assert not any(path.startswith("People/") for path in found)


def test_deleted_notes_are_gone_and_the_rest_stays(synced_vault: Path, synced: DataPaths) -> None:
    (synced_vault / "Journal/2026-05-15.md").unlink()
    assert sync(synced).counts["notes"]["removed"] == 1
    assert set(indexed(synced)) == set(NOTES) - {"Journal/2026-05-15.md"}


def test_a_bad_note_is_reported_and_holds_up_nobody(synced_vault: Path, synced: DataPaths) -> None:
    (synced_vault / "Projects/Bad.md").write_bytes(b"---\ntitle: [unclosed\n---\nStill \xff readable words.\n")
    sync(synced)
    state = Catalog(synced.catalog_db).note_status("Projects/Bad.md")
    assert state is not None
    assert state.status == "partial"
    assert state.indexed
    assert state.reason
    assert set(indexed(synced)) == {*NOTES, "Projects/Bad.md"}


def test_a_missing_vault_removes_nothing(synced_vault: Path, synced: DataPaths, tmp_path: Path) -> None:
    before = indexed(synced)
    synced_vault.rename(tmp_path / "unmounted")
    with pytest.raises(VaultError, match="does not exist"):
        run_sync(synced, defs)
    assert indexed(synced) == before


def test_a_lost_catalog_is_rebuilt_from_the_vault(synced_vault: Path, synced: DataPaths) -> None:
    (synced_vault / "Inbox.md").unlink()
    for leftover in synced.root.glob("catalog.db*"):
        leftover.unlink()
    counts = sync(synced).counts
    assert counts["embeddings"]["embedded"] == 0, "vectors are kept by text"
    assert set(indexed(synced)) == set(NOTES) - {"Inbox.md"}


def test_a_run_of_one_folder_sweeps_what_is_gone_and_leaves_what_it_has_not_looked_at(
    synced_vault: Path, synced: DataPaths
) -> None:
    (synced_vault / "Inbox.md").unlink()
    for leftover in synced.root.glob("catalog.db*"):
        leftover.unlink()
    with open_instance(synced) as instance:
        job = defs.resolve_job_def("sync_job")
        assert job.execute_in_process(instance=instance, partition_key="Journal").success
    assert set(indexed(synced)) == set(NOTES) - {"Inbox.md"}


def test_a_lost_index_is_rebuilt_from_the_catalog(synced: DataPaths) -> None:
    before = indexed(synced)
    shutil.rmtree(synced.index_dir)
    counts = sync(synced).counts
    assert counts["notes"]["read"] == 0
    assert counts["embeddings"]["embedded"] == 0
    assert indexed(synced) == before


def test_a_rebuild_gives_the_same_index(synced: DataPaths) -> None:
    before = indexed(synced)
    assert sync(synced, rebuild=True).counts["notes"]["read"] == len(NOTES)
    assert indexed(synced) == before


def test_every_run_is_in_the_log_with_readable_metadata_and_passed_checks(synced: DataPaths) -> None:
    result = sync(synced)
    with open_instance(synced) as instance:
        run = instance.get_run_by_id(result.run_id)
        assert run is not None
        assert run.job_name == "sync_job"
        assert run.remote_job_origin is not None, "without it the UI cannot re-execute the run"
        records = instance.fetch_materializations(dg.AssetKey("vault_index"), limit=4).records
        assert {record.partition_key for record in records} == {"Journal", "Projects", "People", "_root"}
        for record in records:
            metadata = record.asset_materialization.metadata
            assert metadata["vault_notes"].value == len(NOTES)
            assert "data:image/png;base64," in metadata["notes_and_chunks"].value
        checks = instance.all_logs(result.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
        evaluations = [entry.get_dagster_event().event_specific_data for entry in checks]
        assert {evaluation.check_name for evaluation in evaluations} == {
            "row_counts", "no_orphans", "no_null_vectors", "full_text_covers_all",
        }  # fmt: skip
        assert all(evaluation.passed for evaluation in evaluations)
