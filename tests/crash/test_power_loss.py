"""A power cut, unlike a kill, may leave some files as they were a while ago: one sync brings all of them together."""

import shutil
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.crash import vaults
from tests.crash.compare import check
from tests.crash.faulty import Plan
from tests.crash.processes import Job, sync
from tests.crash.situations import SMALL, USUAL, Situations, engine

PLAN = Plan(dimensions=USUAL, constants=SMALL)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Which of two ages each part of a data root has, and the vault. The pointer says which version is served."""

    catalog: str
    vectors: str
    index: str
    pointer: str
    vault: str

    def __str__(self) -> str:
        return (
            f"{self.catalog} catalog, {self.vectors} vectors, {self.index} index, "
            f"{self.pointer} pointer, {self.vault} vault"
        )


AGES = ("old", "new")
MIXTURES = [
    *(Mixture(catalog, "old", index, index, vault) for catalog, index, vault in product(AGES, repeat=3)),
    # The pointer is the one file that is flushed to the disk before it is put in place.
    *(Mixture(catalog, "new", "old", "new", vault) for catalog, vault in product(AGES, repeat=2)),
]


@pytest.fixture(scope="module")
def homes(situations: Situations, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The data root before a sync and after it."""
    after = tmp_path_factory.mktemp("power") / "after"
    vaults.copy(situations.indexed(), after)
    ended = sync(Job(after, situations.new, PLAN))
    assert ended.status == 0, ended.said
    return {"old": situations.indexed(), "new": after}


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_files_of_different_age_are_brought_together(
    situations: Situations, homes: dict[str, Path], tmp_path: Path, mixture: Mixture
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name, age in (("catalog", mixture.catalog), ("vectors", mixture.vectors)):
        for file in homes[age].glob(f"{name}.db*"):
            shutil.copy2(file, home)
    vaults.copy(homes[mixture.index] / "index.lance", home / "index.lance")
    shutil.copy2(homes[mixture.pointer] / "index.lance/current.json", home / "index.lance")
    vault = {"old": situations.old, "new": situations.new}[mixture.vault]
    ended = sync(Job(home, vault, PLAN))
    assert ended.status == 0, ended.said
    check(home, vault, situations.fresh(vault, USUAL), engine=engine(USUAL))
