"""A note that cannot be decoded or embedded is named with its reason; all others are served (B21, B23, B38)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from companion_app.whereabouts import NoteFinder, NoteStanding
from companion_assets.backends.protocols import Vectors
from companion_assets.backends.vectors import report
from companion_assets.definitions import defs
from companion_assets.defs.knowledge.partitions import VAULT_FOLDERS
from companion_assets.stores.index import ChunkIndex
from tests.stages.sync_material import CountingEmbedder, Living

LOSSY = b"caf\xc3\xa9 and\nstill \xff readable\n"
REASON = f"byte {LOSSY.index(0xFF)} is not valid UTF-8; such bytes were replaced"


def many(count: int) -> dict[str, str]:
    return {f"Notes/{n}.md": f"# Note {n}\nText number {n}.\n" for n in range(count)}


def test_one_bad_byte_among_160_notes_costs_one_character(tmp_path: Path) -> None:
    living = Living(tmp_path, many(160))
    (living.vault / "Notes/bad.md").write_bytes(LOSSY)
    living.sync()
    index = ChunkIndex.open(living.paths)
    assert len(index.health().chunks_by_note) == 161
    assert [chunk.text for chunk in index.neighbours("Notes/bad.md")] == ["café and\nstill \ufffd readable"]
    found = NoteFinder(living.settings, living.view()).find("bad")
    assert (found.path, found.standing) == ("Notes/bad.md", NoteStanding.PARTIAL)
    assert found.reason == REASON
    assert living.view().partial() == [("Notes/bad.md", REASON)]


def test_the_run_log_names_the_note_and_the_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    living = Living(tmp_path, many(3))
    (living.vault / "Notes/bad.md").write_bytes(LOSSY)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(living.vault))
    assert problems_of_reading("Notes") == [{"note": "Notes/bad.md", "why": REASON}]


def problems_of_reading(folder: str) -> Sequence[Mapping[str, Any]]:
    """The table that a run of the first step puts into the run log."""
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(VAULT_FOLDERS, [folder])
        job = defs.resolve_job_def("sync_job")
        done = job.execute_in_process(instance=instance, partition_key=folder, op_selection=["notes"])
        (event,) = done.get_asset_materialization_events()
    problems = event.materialization.metadata["problems"]
    assert isinstance(problems, dg.TableMetadataValue)
    return [record.data for record in problems.records]


class Picky(CountingEmbedder):
    """Has no vector for texts with a certain word, like an engine that answers with NaN."""

    refused = "basalt"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        report({at: "not a number" for at, text in enumerate(texts) if self.refused and self.refused in text})
        return super().embed_passages(texts)


def test_one_of_32_texts_without_a_vector_holds_nobody_up_and_is_tried_again(tmp_path: Path) -> None:
    living = Living(tmp_path, {**many(31), "Notes/odd.md": "# Odd\nMade of basalt.\n"})
    living.embedder = picky = Picky()
    counts, verdict = living.sync()
    assert (counts["embedded"], counts["failed"], verdict.published, verdict.rows) == (31, 1, True, 31)
    assert set(living.served()) == set(many(31))
    assert ChunkIndex.open(living.paths).health().zero_vectors == 0
    odd = NoteFinder(living.settings, living.view()).find("odd")
    assert (odd.standing, odd.reason) == (NoteStanding.WAITING, "1 of its passages cannot be embedded: not a number")
    assert living.view().counts().pending == 1

    picky.refused = ""
    counts, verdict = living.sync()
    assert (counts["embedded"], verdict.rows) == (1, 32)
    assert NoteFinder(living.settings, living.view()).find("odd").standing is NoteStanding.INDEXED
    assert living.view().unembedded() == {}
