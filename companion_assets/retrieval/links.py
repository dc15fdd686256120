"""The dandelion: from what was found best to the notes it links to, that link to it, or that share its people."""

from collections.abc import Iterable

from companion_assets.contracts.settings import LinkSettings
from companion_assets.retrieval.evidence import Weighed
from companion_assets.stores.note_graph import NoteGraph


def linked_notes(weighed: Iterable[Weighed], graph: NoteGraph, settings: LinkSettings) -> dict[str, float]:
    """Path → evidence that a note takes from those it is linked with.

    Args:
        weighed: Best first.
        graph: The links of the vault.
        settings: From how many notes, to how many each, and for which share of their evidence.
    """
    best: dict[str, float] = {}
    for each in weighed:
        if each.evidence > 0:
            best.setdefault(each.hit.path, each.evidence)
        if len(best) == settings.notes:
            break
    taken: dict[str, float] = {}
    for path, evidence in best.items():
        for other, nearness in graph.neighbours([path], settings.neighbours).items():
            taken[other] = max(taken.get(other, 0.0), settings.weight * nearness * evidence)
    return taken
