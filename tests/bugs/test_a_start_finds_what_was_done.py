"""A start does what is left to do and no more: no text twice, nothing grows, nothing missed (B30, B36, B37, B83)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from companion_assets.stages.drift import measure_drift
from companion_assets.stages.sync import TEXTS_A_BATCH
from companion_assets.stores.index import ChunkIndex
from tests.defs.daemon import Daemon
from tests.stages.sync_material import Living, settle

ROOT = Path(__file__).parents[2]
NOTES = 1000


def many(count: int) -> dict[str, str]:
    return {f"Folder {n % 7}/Note {n}.md": f"# Note {n}\nText number {n}.\n" for n in range(count)}


def files(root: Path) -> dict[str, int]:
    """Every file of the data root, its locks apart, and its size."""
    there = (path for path in root.rglob("*") if path.is_file() and "locks" not in path.parts)
    return {path.relative_to(root).as_posix(): path.stat().st_size for path in there}


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Living:
    """A synced vault of a thousand notes."""
    made = Living(tmp_path_factory.mktemp("living"), many(NOTES))
    made.sync()
    return made


def test_three_starts_embed_nothing_and_leave_every_file_as_it_is(living: Living) -> None:
    before = files(living.paths.root)
    for _ in range(3):
        counts, verdict = living.sync()
        assert (counts["read"], living.embedder.texts, verdict.changed) == (0, [], False)
        assert files(living.paths.root) == before


def test_a_look_of_the_sensor_opens_no_note(living: Living, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_HOME", str(living.paths.root))
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(living.vault))
    with dg.DagsterInstance.ephemeral() as instance, opened_in(living.vault) as opened:
        assert "new: Folder 0" in Daemon(instance).reason()
        assert opened == []
        (living.vault / "Folder 1/Note 1.md").read_bytes()
        assert len(opened) == 1, "it would be seen"


def test_what_nobody_saw_happen_is_found_at_the_start_and_never_comes_back(living: Living) -> None:
    lost, moved, changed = (living.vault / f"Folder {n}/Note {n}.md" for n in (0, 1, 2))
    lost.unlink()
    moved.rename(living.vault / "Folder 3/Note 1, renamed.md")
    changed.write_text("# Note 2\nAnother text.\n", encoding="utf-8")
    settle()
    with living.workspace() as work:
        assert set(measure_drift(work, settle_seconds=0).dirty) == {"Folder 0", "Folder 1", "Folder 2", "Folder 3"}
    for embedded in (1, 0):
        counts, _ = living.sync()
        assert counts["embedded"] == embedded
        index = ChunkIndex.open(living.paths)
        assert index.health().chunks_by_note.keys() ^ many(NOTES).keys() == {
            "Folder 0/Note 0.md",
            "Folder 1/Note 1.md",
            "Folder 3/Note 1, renamed.md",
        }
        assert [chunk.text for chunk in index.neighbours("Folder 2/Note 2.md")] == ["# Note 2\nAnother text."]


EMBEDDING = """
import sys, time
from pathlib import Path
from tests.stages.sync_material import CountingEmbedder, Living

class Halting(CountingEmbedder):
    def embed_passages(self, texts):
        if self.texts:
            print("in the second batch", flush=True)
            time.sleep(60)
        return super().embed_passages(texts)

living = Living(Path(sys.argv[1]))
living.embedder = Halting()
living.sync()
"""


def test_killed_in_the_middle_of_a_large_vault_it_goes_on_where_it_was(tmp_path: Path) -> None:
    living = Living(tmp_path, many(NOTES))
    command = [sys.executable, "-c", EMBEDDING, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "in the second batch\n"
        killed.kill()
    counts, verdict = living.sync()
    assert (counts["read"], counts["embedded"]) == (0, NOTES - TEXTS_A_BATCH)
    assert (verdict.published, verdict.rows) == (True, NOTES)


_LISTENING: list[tuple[str, list[str]]] = []


def _listen(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _LISTENING:
        for root, opened in _LISTENING:
            if str(arguments[0]).startswith(root) and Path(str(arguments[0])).suffix == ".md":
                opened.append(str(arguments[0]))


@contextmanager
def opened_in(folder: Path) -> Iterator[list[str]]:
    """Every note below a folder that anybody in this process opens meanwhile."""
    if not _LISTENING:
        sys.addaudithook(_listen)  # it cannot be taken away again
    opened: list[str] = []
    _LISTENING.append((str(folder) + os.sep, opened))
    try:
        yield opened
    finally:
        _LISTENING.pop()
