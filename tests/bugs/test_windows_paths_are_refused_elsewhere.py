r"""`C:\Users\…` on a system that has no drives is no relative path: it is refused, and nothing is made of it (B88)."""

import os
from pathlib import Path

import pytest

from companion_app.cli.setup import initialise
from companion_assets.contracts.errors import StoreError, VaultError
from companion_assets.contracts.paths import data_paths, is_windows_path
from companion_assets.stages.vault import check_vault
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.settings_file import load_settings

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has such paths")

SPELLINGS = [r"C:\Users\me\Vault", "C:/Users/me/Vault", r"\\server\share\Vault"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_as_the_vault(spelling: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_VAULT__PATH", spelling)
    vault = load_settings().settings.vault.path
    assert vault is not None
    with pytest.raises(VaultError, match="does not exist") as refused:
        check_vault(vault)
    assert "/mnt/c" in refused.value.hint
    with pytest.raises(VaultError, match="is not a folder") as refused:
        initialise(Path(spelling))
    assert "/mnt/c" in refused.value.hint
    assert not data_paths().root.exists()
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_as_the_data_root(spelling: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANION_HOME", spelling)
    with pytest.raises(StoreError) as refused:
        prepare_data_root(data_paths(), None)
    assert "/mnt/c" in refused.value.hint
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("spelling", ["/mnt/c/Users/me", "notes: a vault", "~/Vault", "Vault:", "/srv/a:b/c"])
def test_other_paths_are_none(spelling: str) -> None:
    assert not is_windows_path(Path(spelling))
    assert not is_windows_path(Path(spelling).absolute())
