"""Notes of a folder that may not be read stay, a note that may not is named, the rest goes on (B21, B27)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion_app.whereabouts import NoteFinder, NoteStanding
from tests.bugs.read_only import without_privileges
from tests.stages.sync_material import Living, settle

ROOT = Path(__file__).parents[2]
NOTES = {f"{folder}/{n}.md": f"Note {n} of {folder}." for folder in ("Open", "Shut", "Shut/deep") for n in range(9)}
SYNC = """
import json, sys
from pathlib import Path
from tests.stages.sync_material import Living
counts, verdict = Living(Path(sys.argv[1])).sync()
print(json.dumps(counts))
"""


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    """A synced vault of which a folder and a note were locked since, one note edited and one deleted."""
    made = Living(tmp_path, NOTES)
    made.sync()
    (made.vault / "Open/0.md").unlink()
    settle()
    made.write("Open/1.md", "Edited meanwhile.")
    made.write("Open/2.md", "Edited, and then locked.")
    locked = [made.vault / "Open/2.md", made.vault / "Shut"]
    for path in locked:
        path.chmod(0)
    yield made
    for path in locked:
        path.chmod(0o700)


def sync_as_anybody(living: Living) -> dict[str, Any]:
    """Sync in a process that file modes count for, and return its counts."""
    command = [*without_privileges(), sys.executable, "-c", SYNC, str(living.vault.parent)]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=True)
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


def test_a_locked_folder_and_a_locked_note_hold_up_nobody(living: Living) -> None:
    counts = sync_as_anybody(living)
    assert (counts["removed"], counts["embedded"]) == (1, 1)
    served = living.served()
    assert served.keys() == NOTES.keys() - {"Open/0.md", "Open/2.md"}
    assert served["Open/1.md"] == "Edited meanwhile."
    assert living.view().held_removals() is None
    note = NoteFinder(living.settings, living.view()).find("Open/2.md")
    assert (note.standing, note.reason) == (NoteStanding.SKIPPED, "cannot be read: Permission denied")

    for path in (living.vault / "Open/2.md", living.vault / "Shut"):
        path.chmod(0o700)
    counts, _ = living.sync()
    assert (counts["read"], counts["removed"]) == (1, 0)
    assert living.served().keys() == NOTES.keys() - {"Open/0.md"}
