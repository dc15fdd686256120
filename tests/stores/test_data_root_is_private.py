"""The data root is created private and never inside the vault (B39)."""

import os
from pathlib import Path

import pytest

from companion_assets.contracts.errors import StoreError, VaultError
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.data_root import prepare_data_root


def test_it_is_created_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        prepare_data_root(DataPaths(tmp_path / "a" / "home"), None)
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "home").stat().st_mode & 0o777 == 0o700
    prepare_data_root(DataPaths(tmp_path / "a" / "home"), tmp_path / "vault")


@pytest.mark.parametrize("inside", ["", "sub/deep"])
def test_it_never_lies_in_the_vault_not_even_through_a_link(tmp_path: Path, inside: str) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "link").symlink_to(vault)
    for start in (vault, tmp_path / "link"):
        with pytest.raises(VaultError, match="lies inside the vault"):
            prepare_data_root(DataPaths(start / inside), vault)
    assert list(vault.iterdir()) == []


def test_a_file_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(StoreError, match="cannot be created"):
        prepare_data_root(DataPaths(tmp_path / "home"), None)
