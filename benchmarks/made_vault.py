"""Vaults of any size for the other benchmarks, out of the demo vault's notes; and a line about this machine."""

import os
import platform
from collections.abc import Iterator
from importlib.resources import files
from itertools import count, islice
from pathlib import Path

from companion_assets.stages.publishing import open_publisher
from companion_assets.stages.sync import chunk_folder, embed_folder, read_folder
from companion_assets.stages.workspace import Workspace

DEMO = Path(str(files("companion_app.demo") / "vault"))


def make_vault(target: Path, size: int, *, characters: int | None = None) -> None:
    """Notes of the demo vault, in its folders, repeated until there are `size`; no two have the same sentences.

    Args:
        target: The new vault.
        size: Notes.
        characters: Cut each note to about so many; None keeps it whole.
    """
    for path, text in islice(_notes(), size):
        copy = target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text if characters is None else text[:characters], encoding="utf-8")


def _notes() -> Iterator[tuple[Path, str]]:
    notes = sorted(DEMO.rglob("*.md"))
    texts = {note: note.read_text(encoding="utf-8", errors="replace") for note in notes}
    for repeat in count():
        for note, text in texts.items():
            name = note.relative_to(DEMO)
            if repeat:
                yield name.with_stem(f"{name.stem} {repeat}"), text.replace(". ", f" {repeat}. ")
            else:
                yield name, text


def sync_by_steps(work: Workspace) -> None:
    """A sync of every folder in this process, by the product's own steps, without Dagster."""
    folders = sorted(work.folders())
    for step in (read_folder, chunk_folder, embed_folder):
        for folder in folders:
            step(work, folder)
    with open_publisher(work) as publisher:
        for folder in folders:
            publisher.publish_folder(work, folder)
        assert publisher.finish().published


def this_machine() -> str:
    """What the figures were measured on."""
    load = f"load {os.getloadavg()[0]:.1f}"
    return f"{platform.machine()}, {os.cpu_count()} cores, {load}, Python {platform.python_version()}"


def write_results(name: str, text: str) -> None:
    """Print a result and keep it as `benchmarks/results/<name>.md`."""
    print(text)
    target = Path(__file__).parent / "results" / f"{name}.md"
    target.write_text(text.rstrip() + "\n", encoding="utf-8")
