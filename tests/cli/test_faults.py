"""Broken disks, files and folders: each a sentence that says what to do, and `companion reindex` mends what it can."""

import ctypes
import os
import random
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from companion_assets.contracts.paths import data_paths
from companion_assets.stores.repair import set_damaged_aside
from tests.cli.commands import COMMAND, ROOT, Shell
from tests.cli.conftest import Indexed

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


def spoil(files: Iterable[Path]) -> None:
    noise = random.Random(7).randbytes(5000)
    for file in files:
        file.write_bytes(noise)
        for suffix in ("-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)


def run_as_anybody(shell: Shell, *arguments: str) -> tuple[int, str]:
    """Without the right of an administrator to pass by file modes."""

    def give_up_rights() -> None:
        if os.geteuid() == 0:
            for right in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
                ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, right, 0, 0, 0)

    done = subprocess.run(
        [*COMMAND, *arguments],
        env=shell.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=give_up_rights,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", [["index"], ["search", "x"], ["ask", "x"], ["chat"], ["init", "--vault", "."]])
def test_a_file_in_place_of_the_data_root(empty: Shell, command: list[str]) -> None:
    empty.home.write_text("")
    said = empty.refused(*command)
    assert f"{empty.home} cannot be created: a file is in its place" in said
    assert "COMPANION_HOME" in said


@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_a_data_root_that_is_closed_to_us(empty: Shell, mode: int) -> None:
    empty.home.mkdir()
    empty.home.chmod(mode)
    for command in (["index"], ["search", "x"], ["chat"], ["init", "--vault", str(empty.vault)]):
        status, said = run_as_anybody(empty, *command)
        assert status == 1
        assert str(empty.home) in said
        assert "error: " in said
    empty.home.chmod(0o700)


@pytest.mark.parametrize("blocks", [20, 60])
def test_a_disk_that_is_full_at_the_first_index(empty: Shell, blocks: int) -> None:
    said = empty.refused("index", limit=f"ulimit -f {blocks};")
    assert str(empty.home) in said
    assert "disk" in said
    assert len(said.splitlines()) <= 4


@pytest.mark.parametrize(
    ("file", "told_by"),
    [
        ("catalog.db", ["sync"]),
        ("vectors.db", ["sync"]),
        ("dagster/history/runs.db", ["sync"]),
        ("index.lance/current.json", ["search", "cello"]),
    ],
)
def test_a_damaged_file_is_named_and_made_anew(small: Indexed, tmp_path: Path, file: str, told_by: list[str]) -> None:
    shell = small.shell.copy(tmp_path)
    assert shell.vault
    spoil([shell.home / file])
    if file == "vectors.db":
        (shell.vault / "New.md").write_text("Something to embed.\n")
    said = shell.refused(*told_by)
    assert str((shell.home / file).parent) in said
    assert "companion reindex" in said
    mended = shell.run("reindex")
    assert mended.status == 0
    assert "is made anew" in mended.err
    assert "Cello.md" in shell.run("search", "cello", "-k", "1").out


def test_damaged_rows_and_words_of_the_index_are_made_anew(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    spoil(file for file in (shell.home / "index.lance").rglob("*.lance") if file.is_file())
    assert "companion reindex" in shell.refused("ask", "How thick is the top of the cello?")
    assert "0 passages embedded" in shell.run("reindex").out
    assert "Cello.md" in shell.run("search", "cello", "-k", "1").out


def test_conversations_are_never_moved_away(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    conversations = shell.home / "companion.db"
    spoil([conversations])
    assert "companion restore" in shell.refused("ask", "x")
    assert set_damaged_aside(data_paths(shell.home)) == []
    assert conversations.exists()


def test_only_what_is_damaged_is_set_aside(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    paths = data_paths(shell.home)
    assert set_damaged_aside(paths) == []
    spoil([paths.catalog_db, next(paths.index_dir.rglob("*_indices/*/*.lance"))])
    assert set_damaged_aside(paths) == [paths.catalog_db, paths.index_dir]
    assert (shell.home / "catalog.db.damaged").exists()
    assert (shell.home / "index.lance.damaged").is_dir()
    shutil.rmtree(paths.dagster_home)
    paths.index_dir.write_text("no folder")
    assert set_damaged_aside(paths) == [paths.index_dir]
    assert set_damaged_aside(paths) == []
