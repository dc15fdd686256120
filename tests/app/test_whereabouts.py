"""`status --note`: which note is meant, in whatever spelling (B88), and where it stands."""

import os
import unicodedata
from pathlib import Path

import pytest

from companion_app.whereabouts import NoteFinder, NoteStanding, Whereabouts
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import data_paths
from companion_assets.contracts.settings import VaultSettings
from companion_assets.stores.catalog_view import CatalogView
from tests.app.small_app import NOTES, index_vault, write_vault

CAFE = unicodedata.normalize("NFD", "Café/Crème.md")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_vault(tmp_path / "vault", {**NOTES, CAFE: "# Crème\n\nBurnt.\n", "People/Cello.md": "# The cat\n"})
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    return root


@pytest.fixture
def indexed(vault: Path) -> Path:
    index_vault(data_paths())
    return vault


def finder(vault: Path) -> NoteFinder:
    catalog = data_paths().catalog_db
    return NoteFinder(VaultSettings(path=vault), CatalogView(catalog) if catalog.exists() else None)


def found(vault: Path, text: str) -> Whereabouts:
    return finder(vault).find(text)


def refusal(vault: Path, text: str) -> CompanionError:
    with pytest.raises(CompanionError) as fault:
        found(vault, text)
    return fault.value


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Kitchen/Soup.md", "Kitchen/Soup.md"),
        ("Kitchen/Soup", "Kitchen/Soup.md"),
        ("./Kitchen/../Kitchen/Soup", "Kitchen/Soup.md"),
        ("Kitchen\\Soup.md", "Kitchen/Soup.md"),
        ("soup", "Kitchen/Soup.md"),
        ("SOUP.MD", "Kitchen/Soup.md"),
        ("kitchen/SOUP", "Kitchen/Soup.md"),
        ("{vault}/Kitchen/Soup.md", "Kitchen/Soup.md"),
        ("{vault}/Kitchen/Soup", "Kitchen/Soup.md"),
        ("{link}/Kitchen/Soup.md", "Kitchen/Soup.md"),
        (CAFE, "Café/Crème.md"),
        (unicodedata.normalize("NFC", CAFE), "Café/Crème.md"),
        ("crème", "Café/Crème.md"),
        ("Cello", "Cello.md"),  # a path from the root, before any other of that name
        ("2026-03-02", "Journal/2026-03-02.md"),
    ],
)
def test_a_note_is_found_in_any_spelling(indexed: Path, tmp_path: Path, text: str, path: str) -> None:
    (tmp_path / "link").symlink_to(indexed)
    spelled = text.format(vault=indexed, link=tmp_path / "link")
    root = tmp_path / "link" if "{link}" in text else indexed
    assert found(root, spelled).path == path
    assert found(root, spelled).standing is NoteStanding.INDEXED


def test_a_path_from_the_current_folder_is_found(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(indexed / "Kitchen")
    assert found(indexed, "Soup.md").path == "Kitchen/Soup.md"
    assert found(indexed, "../People/Cello.md").path == "People/Cello.md"
    monkeypatch.chdir("/")
    assert found(indexed, os.path.relpath(indexed / "Cello.md")).path == "Cello.md"


def test_several_notes_of_a_name_are_listed(indexed: Path) -> None:
    (indexed / "Cello.md").unlink()
    write_vault(indexed, {"Shop/Cello.md": "# Another\n"})
    index_vault(data_paths())
    fault = refusal(indexed, "cello")
    assert fault.message == "2 notes may be meant by cello"
    assert fault.hint == "give the path of one: People/Cello.md, Shop/Cello.md"


@pytest.mark.parametrize("text", ["../secret.md", "{tmp}/secret.md", "/etc/passwd", "..", ".", "", "Kitchen/../../x"])
def test_nothing_outside_the_vault_is_looked_at(indexed: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n")
    fault = refusal(indexed, text.format(tmp=tmp_path))
    assert "no note of the vault" in fault.message


@pytest.mark.parametrize("text", [r"C:\Users\me\Cello.md", r"D:\vault\Kitchen\Soup.md", r"\\server\share\Cello.md"])
def test_a_path_of_windows_is_not_taken_for_one_in_the_vault(indexed: Path, text: str) -> None:
    assert "no note" in refusal(indexed, text).message


def test_a_drive_of_windows_is_where_its_linux_has_it(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = CatalogView(data_paths().catalog_db)
    there = NoteFinder(VaultSettings(path=Path("/mnt/c/Users/me/vault")), catalog)  # not connected now
    note = there.find(r"C:\Users\me\vault\Kitchen\Soup.md")
    assert (note.path, note.standing) == ("Kitchen/Soup.md", NoteStanding.INDEXED)
    assert "does not exist" in note.reason


def test_an_unknown_note_is_said_to_be_none_with_what_is_near(indexed: Path) -> None:
    assert refusal(indexed, "Soap").hint == "did you mean Kitchen/Soup.md?"
    assert "from the vault's root" in refusal(indexed, "xyzzy").hint


def test_where_a_note_stands_is_told_with_the_reason(indexed: Path) -> None:
    (indexed / "Cello.md").write_text("# Cello\n\nThe top is 4.0 mm now.\n")
    (indexed / "Kitchen" / "Soup.md").unlink()
    (indexed / "New.md").write_text("# New\n")
    told = {note.path: (note.standing, note.reason) for note in map(finder(indexed).find, ("Cello", "Soup", "New"))}
    assert told == {
        "Cello.md": (NoteStanding.CHANGED, "companion sync reads it again"),
        "Kitchen/Soup.md": (NoteStanding.GONE, "companion sync removes it from the index"),
        "New.md": (NoteStanding.NEW, "companion sync reads it"),
    }
    index_vault(data_paths())
    assert found(indexed, "Cello").standing is NoteStanding.INDEXED
    assert "no note" in refusal(indexed, "Soup").message


def test_a_note_that_was_read_in_part_or_not_at_all_says_why(vault: Path) -> None:
    (vault / "Half.md").write_bytes(b"# Half\n\nGood line.\n\xff\xfe\xe9 broken\n")
    (vault / "Torn.md").write_bytes(b"\x00\x01\x02" * 100)
    index_vault(data_paths())
    half = found(vault, "Half")
    assert half.standing is NoteStanding.PARTIAL
    assert "not valid UTF-8" in half.reason
    assert half.state is not None
    assert (half.state.chunks, half.state.run_id) == (1, "test-run")
    assert found(vault, "Torn").standing in (NoteStanding.PARTIAL, NoteStanding.SKIPPED)
    assert found(vault, "Torn").reason


def test_a_note_that_is_left_out_on_purpose_says_why(indexed: Path, tmp_path: Path) -> None:
    outside = write_vault(tmp_path / "outside", {"Note.md": "x"})
    write_vault(indexed, {"zzz-Archive/Old.md": "x", "Shop/Bill.sync-conflict-20260101-120000-ABCDEFG.md": "x"})
    (indexed / "Outside.md").symlink_to(outside / "Note.md")
    (indexed / "Linked").symlink_to(outside)
    for text, reason in (
        ("zzz-Archive/Old.md", "zzz-Archive is left out: folder on the deny list"),
        ("bill.sync-conflict-20260101-120000-abcdefg", "conflict copy of a sync tool"),
        ("Outside", "link out of the vault"),
        ("Linked/Note.md", "Linked is left out: link out of the vault"),
    ):
        note = found(indexed, text)
        assert (note.standing, note.reason) == (NoteStanding.LEFT_OUT, reason)


def test_before_the_first_sync_and_without_the_vault_something_true_is_said(vault: Path) -> None:
    assert found(vault, "Cello").standing is NoteStanding.NEW
    index_vault(data_paths())
    vault.rename(vault.with_name("elsewhere"))
    note = found(vault, "Cello")
    assert note.standing is NoteStanding.INDEXED
    assert "does not exist" in note.reason
