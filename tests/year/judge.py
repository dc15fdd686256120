"""Looks at what readers see, and says what is wrong with it. Each fault is one sentence; no fault, nothing said."""

from collections import defaultdict
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice

from companion_assets.backends.fakes import HashEmbedder
from companion_assets.contracts.errors import IndexMissing
from companion_assets.stages.drift import measure_drift
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_table import read_manifest
from tests.crash.compare import published, same_as_fresh
from tests.year.household import Household, Outcome
from tests.year.texts import marks_in
from tests.year.vault_disk import NoteOnDisk

# The guard against mass loss, as the product promises it.
MOST_REMOVALS = 50
MOST_REMOVALS_SHARE = 0.1
_SEARCHES_A_LOOK = 3

OnDisk = dict[str, NoteOnDisk]


@dataclass(frozen=True, slots=True)
class _Steady:
    """A note that readers found at the last look, and under which paths."""

    marks: frozenset[str]
    paths: frozenset[str]


class Judge:
    """Watches one household.

    Args:
        house: Whom.
    """

    def __init__(self, house: Household) -> None:
        self._house = house
        self._served: dict[str, frozenset[str]] = {}
        self._known: dict[str, str] = {}
        self._steady: dict[str, _Steady] = {}
        self._reader: ChunkIndex | None = None

    # --- at every moment

    def edited(self) -> None:
        """The vault changed: what is no longer there as it was may leave the index."""
        there = {note.sha for note in self._house.vault.disk.readable().values()}
        self._steady = {sha: steady for sha, steady in self._steady.items() if sha in there}

    def look(self, outcome: Outcome) -> Iterator[str]:
        """What readers see after a run, whether it ended well or died."""
        self.edited()
        before, self._served = self._served, self._look()
        on_disk = self._house.vault.disk.readable()
        yield from self._lost(outcome, on_disk)
        if not outcome.happened:
            yield from self._served_twice(before, on_disk)
        yield from self._searched(on_disk)
        self._remember(on_disk)
        again, self._house.ledger.again = self._house.ledger.again, []
        yield from (f"embedded once more: {text!r}" for text in again)

    def _look(self) -> dict[str, frozenset[str]]:
        """Path → marks of what is served, to a reader that has been there for long and to a new one."""
        try:
            new = ChunkIndex.open(self._house.paths)
        except IndexMissing:
            return {}
        if self._reader is None or self._reader.superseded:
            self._reader = new
        assert self._reader.manifest == new.manifest, "an old reader follows what is published"
        found: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
        for row in published(self._house.paths).values():
            found[row["source_file"]] |= marks_in(row["text"])
        assert set(found) == set(self._reader.health().chunks_by_note), "an old reader sees what is published"
        return dict(found)

    def _lost(self, outcome: Outcome, on_disk: OnDisk) -> Iterator[str]:
        """Notes that were there all the time, moved or not, and that readers no longer find."""
        served = set(self._served.values())
        for sha, steady in self._steady.items():
            if steady.marks in served:
                continue
            stayed = [path for path in steady.paths if path in on_disk]
            if any(on_disk[path].sha == sha for path in stayed):
                yield f"unmoved note {stayed} is not found"
            # Where another note took the old place, a run that covers only that place cannot know better.
            elif not stayed or outcome.scope in ("all", "dirty"):
                yield f"moved note, once {sorted(steady.paths)}, is not found"

    def _served_twice(self, before: dict[str, frozenset[str]], on_disk: OnDisk) -> Iterator[str]:
        """Notes that are new under one path and still under another, which is gone."""
        leftovers = defaultdict(list)
        for path in self._served.keys() & self._known.keys() - on_disk.keys():
            leftovers[self._known[path]].append(path)
        for path in self._served.keys() & on_disk.keys():
            came = before.get(path) != self._served[path] == on_disk[path].marks
            if came and (old := leftovers.get(on_disk[path].sha)):
                yield f"moved note is served under {path!r} and still under {old}"

    def _searched(self, on_disk: OnDisk) -> Iterator[str]:
        """Some notes that moved, asked for by a word of theirs as a person would."""
        moved = (steady for steady in self._steady.values() if not steady.paths & on_disk.keys())
        for steady in islice(moved, _SEARCHES_A_LOOK):
            if steady.marks in self._served.values() and self._reader is not None:
                word = min(steady.marks)
                if not self._reader.text_leg(word, 10):
                    yield f"{word} is served, and the search does not find it"

    def _remember(self, on_disk: OnDisk) -> None:
        """What is served of what is on disk, and known to the catalog as it is there."""
        where = defaultdict(set)
        for path, marks in self._served.items():
            where[marks].add(path)
        self._known = self._house.known()
        known = set(self._known.values())
        notes = (note for note in on_disk.values() if note.marks and note.marks in where and note.sha in known)
        self._steady = {note.sha: _Steady(note.marks, frozenset(where[note.marks])) for note in notes}

    # --- at a check

    def check(self) -> Iterator[str]:
        """Bring everything up to date, and compare with a data root that was made afresh."""
        house = self._house
        outcome = yield from self._guarded()
        if outcome.verdict is None or not outcome.verdict.published:
            yield f"not published: {outcome.verdict and outcome.verdict.faults}"
        yield from self._at_rest()
        try:
            same_as_fresh(house.paths.root, house.vault.disk.root, embedder=HashEmbedder(house.dimensions))
        except AssertionError as fault:
            yield str(fault)
        yield from self._is_the_vault()

    def _guarded(self) -> Generator[str, None, Outcome]:
        """A sync of everything removes all that is gone; if that is too much, nothing before it is confirmed."""
        house = self._house
        known, on_disk = house.known(), house.vault.disk.readable()
        there = {note.sha for note in on_disk.values()}
        vanished = known.keys() - on_disk.keys()
        lost = {path for path in vanished if known[path] not in there}
        served, limit = self._served, max(MOST_REMOVALS, MOST_REMOVALS_SHARE * len(known))
        outcome = house.sync()
        yield from self.look(outcome)
        work = house.workspace()
        held = work.catalog.held_removals()
        work.close()
        if len(lost) > limit and held is None:
            yield f"{len(lost)} notes of {len(known)} vanished, and the guard let them go"
        elif len(vanished) <= limit and held is not None:
            yield f"{len(vanished)} notes of {len(known)} vanished, and the guard holds them: {held}"
        elif held is not None and not len(lost) <= held.vanished <= len(vanished):
            yield f"{len(lost)} to {len(vanished)} notes vanished, not {held.vanished}"
        if held is not None and (removed := (lost & served.keys()) - self._served.keys()):
            yield f"the guard held, and yet these are gone: {sorted(removed)}"
        if held is not None:
            outcome = house.sync(confirm_removals=True)
            yield from self.look(outcome)
        return outcome

    def _at_rest(self) -> Iterator[str]:
        """Nothing differs, and a sync does nothing."""
        house = self._house
        work = house.workspace()
        drift = measure_drift(work)
        work.close()
        if drift.dirty or drift.held:
            yield f"after a sync of everything: {sorted(drift.dirty)} differ, held {drift.held}"
        calls, manifest = house.ledger.calls, read_manifest(house.paths)
        outcome = house.sync()
        version = outcome.verdict and outcome.verdict.version
        if house.ledger.calls != calls:
            yield f"{house.ledger.calls - calls} calls of the embedder although nothing changed"
        if read_manifest(house.paths) != manifest or version != manifest.version:
            yield f"version {version} of the index, {manifest.version} before, although nothing changed"

    def _is_the_vault(self) -> Iterator[str]:
        """The catalog knows exactly the notes on disk."""
        known, there = self._house.known().keys(), self._house.vault.disk.readable().keys()
        if known != there:
            yield f"in the catalog, not on disk: {sorted(known - there)}; the other way: {sorted(there - known)}"
