"""A vault of a dozen notes with everything that is delicate in it, and what a person does to it between two syncs."""

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

_SECTION = "## Evening\nThe fog lifted late and the harbour smelled of varnish.\n"
LONG = "/".join(["Projects", *("deep" * 12 for _ in range(4)), "w" * 40])  # about 250 characters

NOTES: Mapping[str, str | bytes] = {
    "Inbox.md": "Buy strings and sardines.\n",
    "Empty.md": "",
    "Journal/2026-05-14.md": "#DayInShort\nFlew to São Miguel. Furnas stew at noon.\n\n#work\nNothing, gladly.\n",
    "Journal/2026-05-15.md": f"#DayInShort\nWhales cancelled by fog.\n\n{_SECTION}",
    "Journal/2026-05-16.md": f"# Third day\nSardines again, with bread.\n\n{_SECTION}",
    "Projects/Cello.md": "---\ntags: [cello]\n---\n# Cello\nThe wing crack is closed.\n\n## Invoice\nTotal 4,200.\n",
    "Projects/Boat.md": f"# Boat\nThe keel wants paint. See [[Cello]].\n\n{_SECTION}",
    f"{LONG}.md": "# Far down\nA path of two hundred and fifty characters.\n",
    "People/Mei Lin.md": "---\naliases: [李梅]\n---\n李梅在台北拉中提琴。She plays viola.\n",
    "People/Tomás.md": "# Tomás\nSleeps ten hours and repairs radios.\n",
    "🎻 Music/Scales 🎼.md": "# Scales\nSlow bows in the morning.\n",
    "🎻 Music/Broken.md": b"---\ntitle: [unclosed\n---\nStill \xff readable words.\n",
}


def write(vault: Path, notes: Mapping[str, str | bytes], *, age: float = 3600) -> None:
    """Notes as they lie on disk, `age` seconds old: no editor is still writing them."""
    past = time.time() - age
    for path, text in notes.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, (past, past))


def change(vault: Path) -> None:
    """Everything at once: edit, delete, rename, move, a folder renamed, one more, one less, unreadable, mended."""
    note = vault / "Projects/Cello.md"
    text = note.read_text(encoding="utf-8").replace("4,200", "4,350").replace("# Cello\n", "# Cello\nA new line.\n")
    write(
        vault,
        {
            "Projects/Cello.md": text,
            "Empty.md": "Not empty any more: the ferry leaves at six.\n",
            "Inbox.md": "",
            "Ideas/First.md": f"# First\nA kiln in the shed.\n\n{_SECTION}",
            "🎻 Music/Broken.md": "---\ntitle: closed\n---\nMended words.\n",
            "People/Tomás.md": b"# Tom\xe1s\nSleeps ten hours and repairs \xff radios.\n",
        },
        age=600,
    )
    (vault / "Journal/2026-05-15.md").unlink()
    (vault / "Journal/2026-05-16.md").rename(vault / "Journal/2026-05-17.md")
    (vault / "Projects/Boat.md").rename(vault / "Journal/Boat.md")
    (vault / "People").rename(vault / "Persons")
    os.utime(vault / "Journal/2026-05-14.md")
    past = time.time() - 600
    os.utime(vault / "Journal/2026-05-14.md", (past, past))


def copy(source: Path, target: Path) -> None:
    """A copy with its file times."""
    shutil.copytree(source, target, symlinks=True)
