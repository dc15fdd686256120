"""Vaults as the retrieval knows them: names, links, tags, folders and days in a catalog."""

from pathlib import Path

from companion_assets.contracts.records import Note
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.note_graph import NoteGraph
from tests.stores.samples import note_file


def graph_of(folder: Path, *notes: Note) -> NoteGraph:
    """The graph of a vault of these notes."""
    catalog = Catalog(folder / "catalog.db")
    catalog.put_notes([(note_file(one.path), one) for one in notes], "1")
    catalog.close()
    return NoteGraph(folder / "catalog.db")
