"""Faults that the simulated year found, each as short as it can be told."""

import random
from pathlib import Path
from typing import Any

import pytest

from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.records import Note, NoteFile
from companion_assets.stages import difference, sync
from companion_assets.stages.vault import read_note
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import read_manifest
from tests.year.household import DIMENSIONS, Household
from tests.year.interruptions import ProcessDies
from tests.year.judge import Judge
from tests.year.steps import Change
from tests.year.vault_disk import VaultDisk
from tests.year.vault_life import VaultLife

MANY = 60  # more than the guard against mass loss lets go of


@pytest.fixture
def house(tmp_path: Path) -> Household:
    """A vault without notes."""
    return Household(VaultLife(VaultDisk(tmp_path / "vault", tmp_path / "attic"), 0), DataPaths(tmp_path / "home"))


def write(house: Household, folder: str, count: int, text: str = "A note") -> None:
    for number in range(count):
        house.vault.disk.write(Path(folder, f"{number}.md"), f"{text} {number} in {folder}.\n".encode())
    house.vault.disk.pass_time()


def served(house: Household) -> dict[str, int]:
    """Folder → how many of its notes are served."""
    folders = [path.split("/")[0] for path in ChunkIndex.open(house.paths).health().chunks_by_note]
    return {folder: folders.count(folder) for folder in sorted(set(folders))}


def test_a_folder_that_moved_while_a_sync_died_is_not_held_as_lost(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(house, "Journal", MANY)
    write(house, "Projects", MANY)
    house.sync()
    house.vault.disk.move(Path("Journal"), Path("Diary"))
    house.vault.disk.pass_time()

    def die(catalog: Catalog, paths: object) -> None:
        raise ProcessDies("after the notes were read under their new paths")

    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "mark_gone", die)
        assert house.sync().verdict is None
    house.sync()
    assert served(house) == {"Diary": MANY, "Projects": MANY}
    assert list(Judge(house).check()) == []


def test_a_run_of_the_new_folder_alone_drops_the_old_path_of_what_was_read_there_before_a_death(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(house, "Journal", 3)
    house.sync()
    house.vault.disk.move(Path("Journal"), Path("Diary"))
    house.vault.disk.pass_time()

    def die(catalog: Catalog, paths: object) -> None:
        raise ProcessDies("after the notes were read under their new paths")

    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "mark_gone", die)
        assert house.sync().verdict is None
    house.sync("range", pick=0)
    assert served(house) == {"Diary": 3}


def test_a_note_that_takes_the_place_of_its_own_copy_is_there_once(house: Household) -> None:
    house.vault.disk.write(Path("A.md"), b"The same text.\n")
    house.vault.disk.write(Path("B.md"), b"The same text.\n")
    house.vault.disk.pass_time()
    house.sync()
    house.vault.disk.move(Path("A.md"), Path("B.md"))
    house.vault.disk.pass_time()
    house.sync()
    assert house.known().keys() == {"B.md"}
    assert list(Judge(house).check()) == []


def test_a_reader_that_slept_through_upkeep_and_a_change_of_embedder_is_told_to_open_anew(house: Household) -> None:
    write(house, "Journal", 3)
    house.sync()
    reader = ChunkIndex.open(house.paths)
    write(house, "Journal", 3, "Another text")
    house.sync()
    house.change(Change("upkeep", 0))
    house.change(Change("embedder", 1))
    house.sync()
    assert read_manifest(house.paths).embedder.dimensions == DIMENSIONS[1]
    assert reader.superseded


def test_upkeep_leaves_the_published_version_the_newest_one(house: Household) -> None:
    source = random.Random(1)
    write(house, "Journal", 300)
    house.sync()
    for number in range(12):
        for name in source.sample(range(300), 40):
            house.vault.disk.write(Path("Journal", f"{name}.md"), f"Text {number} of {name}.\n".encode())
        house.vault.disk.pass_time()
        house.sync()
        house.change(Change("upkeep", 0))
        version = read_manifest(house.paths).version
        verdict = house.sync().verdict
        assert verdict is not None
        assert not verdict.changed, f"after {number} syncs"
        assert (verdict.version, read_manifest(house.paths).version) == (version, version), f"after {number} syncs"


def test_a_note_that_moves_on_while_it_is_looked_for_stays_where_it_was_until_it_is_found(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(house, "Journal", 2)
    house.sync()
    house.vault.disk.move(Path("Journal/0.md"), Path("Inbox/0.md"))
    house.vault.disk.pass_time()
    hash_note, looks = difference.hash_note, iter(range(9))

    def moves_on(*arguments: Any) -> str:
        if next(looks) == 1:  # the first look only chooses the folders of the run
            house.vault.disk.move(Path("Inbox/0.md"), Path("Archive/0.md"))
            house.vault.disk.pass_time()
        return hash_note(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(difference, "hash_note", moves_on)
        house.sync()
    assert served(house) == {"Journal": 2}
    house.sync()
    assert served(house) == {"Archive": 1, "Journal": 1}


def test_a_run_of_the_old_folder_brings_the_copy_that_a_death_left_unseen(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(house, "Journal", 1)
    write(house, "Projects", 1)
    house.sync()
    house.vault.disk.write(Path("Archive/0.md"), house.vault.disk.read(Path("Journal/0.md")))
    house.vault.disk.pass_time()

    def die(*arguments: object, **options: object) -> None:
        raise ProcessDies("after the commit to the index, before it is written down")

    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "mark_published", die)
        assert house.sync().verdict is None
    house.vault.disk.remove(Path("Journal/0.md"))
    house.vault.disk.pass_time()
    house.sync("vanished")
    assert served(house) == {"Archive": 1, "Projects": 1}
    assert list(Judge(house).check()) == []


def test_notes_that_were_gone_before_they_could_be_read_are_no_loss(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(house, "Journal", MANY)
    house.sync()
    write(house, "Import", MANY)

    def is_gone(root: Path, file: NoteFile) -> Note:
        house.vault.disk.remove(Path(file.path))
        return read_note(root, file)

    with monkeypatch.context() as patch:
        patch.setattr(sync, "read_note", is_gone)
        house.sync()
    house.sync()
    assert served(house) == {"Journal": MANY}
    assert list(Judge(house).check()) == []


def test_a_note_that_is_away_for_a_moment_keeps_its_passages(house: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    write(house, "Journal", 2)
    house.sync()
    write(house, "Journal", 2, "Another text")

    def is_away(root: Path, file: NoteFile) -> Note:
        house.vault.disk.move(Path(file.path), Path(".aside"))
        found = read_note(root, file)
        house.vault.disk.move(Path(".aside"), Path(file.path))
        return found

    def gone_by_then(path: object) -> bool:
        return False

    with monkeypatch.context() as patch:
        patch.setattr(sync, "read_note", is_away)
        patch.setattr(sync.os.path, "lexists", gone_by_then)
        house.sync()
    assert served(house) == {"Journal": 2}
    house.sync()
    assert list(Judge(house).check()) == []
