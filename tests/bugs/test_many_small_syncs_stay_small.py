"""A save costs the index what it changes, not a copy of the whole, and its words are found each time (B56, B86)."""

from pathlib import Path

import pytest

from companion_assets.stages.upkeep import compact_index
from companion_assets.stores import index_writer
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.sizes import size_of
from tests.stages.sync_material import Living

SAVES = 30
BYTES_A_SAVE = 15_000  # of rows, a version and its list of files; the whole has 680,000


@pytest.fixture
def living(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Living:
    """A synced vault, at which versions count as many early."""
    monkeypatch.setattr(index_writer, "MANY_VERSIONS", 10)
    made = Living(tmp_path, {f"Folder {n % 5}/Note {n}.md": f"# Note {n}\nText number {n}.\n" for n in range(500)})
    made.sync()
    return made


def test_saves_one_after_the_other_never_copy_the_whole_index(living: Living) -> None:
    fresh = size_of(living.paths.index_dir)
    for n in range(SAVES):
        living.write("Folder 0/Note 0.md", f"Edition {n}.")
        living.sync("Folder 0")
    assert size_of(living.paths.index_dir) - fresh < SAVES * BYTES_A_SAVE < fresh
    with living.workspace() as work:
        assert compact_index(work, grace_minutes=0).left == ""
    assert size_of(living.paths.index_dir) <= 1.3 * fresh
    assert [chunk.text for chunk in ChunkIndex.open(living.paths).neighbours("Folder 0/Note 0.md")] == [
        f"Edition {SAVES - 1}."
    ]


def test_words_are_found_after_every_sync_however_often_their_index_is_renewed(
    living: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_writer, "SMALL_TAIL", 0)  # renewed at every sync, not after 200 new passages
    reader = ChunkIndex.open(living.paths)
    for n in range(SAVES // 2):
        living.write(f"Folder 0/New {n}.md", f"unique{n} shared")
        living.sync("Folder 0")
        assert [hit.path for hit in reader.text_leg(f"unique{n}", 5)] == [f"Folder 0/New {n}.md"]
        assert len(reader.text_leg("shared", 100)) == n + 1
    assert reader.health().unindexed_rows == 0
