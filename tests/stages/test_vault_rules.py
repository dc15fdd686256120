"""Names alone say to which folder a change belongs, as the walk would have it."""

import unicodedata
from pathlib import Path

import pytest

from companion_assets.stages.vault import scan_vault
from companion_assets.stages.vault_walk import ROOT_FOLDER, vault_rules

PATTERNS = {"file_patterns": ("*.md", "*.TXT"), "deny_dirs": (".git", "zzz-Archive"), "deny_patterns": ("*draft*",)}
RULES = vault_rules(**PATTERNS)
NFD = unicodedata.normalize("NFD", "Übung")
PATHS = {
    "Inbox.md": ROOT_FOLDER,
    "Inbox.MD": ROOT_FOLDER,
    "plain.txt": ROOT_FOLDER,
    "Journal/a.md": "Journal",
    "Journal/2026/05/a.md": "Journal",
    f"{NFD}/a.md": "Übung",
    "it's mine/x' OR 1=1 --.md": "it's mine",
    "photo.png": None,
    "Journal/photo.png": None,
    "Journal/.hidden.md": None,
    "Journal/.obsidian/a.md": None,
    ".git/a.md": None,
    "Journal/zzz-Archive/a.md": None,
    "Journal/draft 1.md": None,
    "a.sync-conflict-20260101-010101-ABCDEFG.md": None,
    "Journal/.a.md.icloud": None,
}


@pytest.mark.parametrize("path", PATHS)
def test_the_folder_of_a_file(path: str) -> None:
    assert RULES.folder_of(path) == PATHS[path]


def test_the_walk_has_it_the_same(tmp_path: Path) -> None:
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("text\n", encoding="utf-8")
    walked = {file.raw_path: file.folder for file in scan_vault(tmp_path, RULES).files}
    assert walked == {path: folder for path, folder in PATHS.items() if folder}


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("Journal", "Journal"),
        ("Journal/2026", "Journal"),
        (f"{NFD}/deep/er", "Übung"),
        ("Notes.md", "Notes.md"),
        (".git", None),
        ("Journal/.obsidian/plugins", None),
        ("zzz-Archive/old", None),
        ("Journal/\udcff", None),
    ],
)
def test_the_folder_of_a_folder(path: str, folder: str | None) -> None:
    assert RULES.folder_of(path, is_folder=True) == folder
