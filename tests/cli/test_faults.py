"""Broken disks, files and folders: each a sentence that says what to do, and `companion reindex` mends what it can."""

import ctypes
import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
import typer

from companion_app.cli.console import speaks_plainly
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


@pytest.mark.parametrize("command", [["index"], ["ask", "x"], ["init", "--vault", "."]])
def test_a_file_in_place_of_the_data_root(empty: Shell, command: list[str]) -> None:
    empty.home.write_text("")
    said = empty.refused(*command)
    assert f"{empty.home} cannot be created: a file is in its place" in said
    assert "COMPANION_HOME" in said


@pytest.mark.parametrize(("mode", "command"), [(0o500, "index"), (0o500, "chat"), (0o000, "search"), (0o000, "init")])
def test_a_data_root_that_is_closed_to_us(empty: Shell, mode: int, command: str) -> None:
    arguments = {"search": ["x"], "init": ["--vault", str(empty.vault)]}.get(command, [])
    empty.home.mkdir()
    empty.home.chmod(mode)
    status, said = run_as_anybody(empty, command, *arguments)
    empty.home.chmod(0o700)
    assert status == 1
    assert said.startswith("error: ")
    assert str(empty.home) in said


def test_a_disk_that_is_full_at_the_first_index(empty: Shell) -> None:
    said = empty.refused("index", limit="ulimit -f 60;")
    assert str(empty.home) in said
    assert "disk" in said
    assert len(said.splitlines()) <= 4


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("catalog.db", ["sync"]),
        ("dagster/history/runs.db", ["sync"]),
        ("index.lance/current.json", ["search", "cello"]),
        ("index.lance/*/data/*.lance", ["ask", "How thick is the top of the cello?"]),
    ],
)
def test_a_damaged_file_is_named_with_the_way_out(
    small: Indexed, tmp_path: Path, file: str, command: list[str]
) -> None:
    shell = small.shell.copy(tmp_path)
    spoil(shell.home.glob(file))
    said = shell.refused(*command)
    assert str(shell.home / file.split("/")[0]) in said
    assert "companion reindex" in said


def test_reindex_makes_anew_what_is_damaged(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    files = ["catalog.db", "vectors.db", "dagster/history/runs.db", "index.lance/*/data/*.lance"]
    spoil(path for file in files for path in shell.home.glob(file))
    done = shell.run("reindex", "--json")
    assert done.status == 0, done
    result = json.loads(done.out)
    assert (result["counts"]["notes"]["read"], result["counts"]["embeddings"]["embedded"]) == (4, 4)
    for name in ("catalog.db", "vectors.db", "runs.db", "index.lance"):
        assert f"kept as {name}.damaged" in done.err
    assert "Cello.md" in shell.run("search", "cello", "-k", "1").out


def test_conversations_are_never_moved_away(small: Indexed, tmp_path: Path) -> None:
    shell = small.shell.copy(tmp_path)
    conversations = shell.home / "companion.db"
    spoil([conversations])
    assert "backup" in shell.refused("ask", "x")
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


def test_a_fault_of_ours_before_anything_exists_leaves_a_private_folder() -> None:
    @speaks_plainly
    def command() -> None:
        raise ZeroDivisionError("a fault of ours")

    previous = os.umask(0)
    try:
        with pytest.raises(typer.Exit):
            command()
    finally:
        os.umask(previous)
    assert data_paths().root.stat().st_mode & 0o777 == 0o700
    assert "ZeroDivisionError" in (data_paths().logs_dir / "crash.log").read_text()
