"""Short ways to make notes and vaults for the tests of the parser."""

from pathlib import Path

from companion_assets.contracts.records import Link, Note, NoteFile
from companion_assets.stages.markdown import parse_note
from companion_assets.stages.vault import VaultScan, read_note, scan_vault
from companion_assets.stages.vault_walk import vault_rules

DENY_DIRS = (".obsidian", ".trash", "zzz-Archive", ".git", ".logseq")
DENY_PATTERNS = ("*.tmp", "*.bak", "*conflict*", ".*")


def note_of(text: str, path: str = "Note.md") -> Note:
    return parse_note(text, NoteFile(path, path, path.rpartition("/")[0] or "_root", 0, len(text)))


def scan(root: Path, **rules: tuple[str, ...]) -> VaultScan:
    chosen = {"file_patterns": ("*.md",), "deny_dirs": DENY_DIRS, "deny_patterns": DENY_PATTERNS} | rules
    return scan_vault(root, vault_rules(**chosen))


def write(root: Path, notes: dict[str, str | bytes]) -> Path:
    for name, content in notes.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def read(root: Path, path: str, **limits: int) -> Note:
    (file,) = [file for file in scan(root, deny_dirs=(), deny_patterns=()).files if file.path == path]
    return read_note(root, file, **limits)


def address(link: Link) -> str:
    fragment = f"#{link.heading}" if link.heading else f"#^{link.block}" if link.block else ""
    return link.target + fragment
