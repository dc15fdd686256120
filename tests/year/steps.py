"""What happens in a year of a vault, as data: a history can be drawn, shrunk, printed and lived again.

A step holds numbers only. What they mean is decided when it is lived: the third of the notes that are there then.
"""

from collections.abc import Callable
from dataclasses import dataclass

Number = Callable[[int, int], int]
"""Draws a whole number between two bounds, both included: Hypothesis in the tests, a seeded generator else."""

# Kind of edit → how often, in a hundred or so. The plain ones come first, where shrinking ends.
EDITS = {
    "create": 8,
    "append": 8,
    "prepend": 3,
    "change a paragraph": 8,
    "change properties": 4,
    "touch": 3,
    "delete": 5,
    "rename": 6,
    "move": 6,
    "rename folder": 2,
    "move folder": 2,
    "delete folder": 1,
    "restore": 5,
    "swap contents": 2,
    "swap names": 2,
    "duplicate": 3,
    "overwrite": 2,
    "recreate same": 2,
    "recreate other": 2,
    "undo": 3,
    "empty": 2,
    "line ends": 1,
    "byte order mark": 1,
    "bad bytes": 2,
    "letter case": 3,
    "accents": 4,
    "case of folder": 1,
    "hide": 2,
    "conflict copy": 2,
    "link": 2,
    "attachment": 1,
    "import many": 1,
    "delete many": 1,
}
SCOPES = ("all", "one", "dirty", "range", "vanished")
CHANGES = ("rule", "embedder", "upkeep")

_EDITS_BY_WEIGHT = [kind for kind, weight in EDITS.items() for _ in range(weight)]
_ANY = 2**16 - 1


@dataclass(frozen=True, slots=True)
class Edit:
    """Something a person or a sync tool does to the vault. `picks` choose the notes, names and texts."""

    kind: str
    picks: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Interruption:
    """What happens in the middle of a sync, before the product executes a line of its own.

    Attributes:
        line: Which line; see `tests.year.interruptions.places`.
        hit: Which time it is executed, from 1.
        edit: The vault changes; None = the process dies.
    """

    line: int
    hit: int
    edit: Edit | None


@dataclass(frozen=True, slots=True)
class Sync:
    """A run over some folders: all, one (that differs), all that differ, neighbours, or one that is no longer there."""

    scope: str
    pick: int
    during: tuple[Interruption, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """Another chunking rule, another embedder, or upkeep of the index."""

    kind: str
    pick: int


Step = Edit | Sync | Change


def draw_step(number: Number) -> Step:
    """One step: of a hundred 82 edits, 16 syncs and two changes."""
    kind = number(0, 99)
    if kind < 82:
        return draw_edit(number)
    if kind < 98:
        return draw_sync(number)
    return Change(CHANGES[number(0, len(CHANGES) - 1)], number(0, _ANY))


def draw_edit(number: Number) -> Edit:
    """One edit, by weight."""
    kind = _EDITS_BY_WEIGHT[number(0, len(_EDITS_BY_WEIGHT) - 1)]
    return Edit(kind, (number(0, _ANY), number(0, _ANY), number(0, _ANY)))


def draw_sync(number: Number) -> Sync:
    """One sync; something is to happen in the middle of most of them: in one case of two the process dies."""
    scope = SCOPES[number(0, len(SCOPES) - 1)]
    pick = number(0, _ANY)
    during = []
    for _ in range(number(0, 3)):
        line, hit = number(0, _ANY), 1 + max(0, number(0, 7) - 4)
        during.append(Interruption(line, hit, draw_edit(number) if number(0, 1) else None))
    return Sync(scope, pick, tuple(during))
