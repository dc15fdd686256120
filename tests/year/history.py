"""Lives a history: step after step, a look after every run, a check now and then."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from companion_assets.contracts.paths import DataPaths
from tests.year.household import Household
from tests.year.interruptions import Place
from tests.year.judge import Judge
from tests.year.steps import Change, Edit, Step, Sync
from tests.year.vault_disk import VaultDisk
from tests.year.vault_life import VaultLife


class Fault(AssertionError):
    """The product did something wrong."""


class History:
    """One vault's year.

    Args:
        room: An empty folder for vault and data root.
        notes: How many notes the vault begins with, and about how many it is held at.

    Attributes:
        lived: How often what happened, edits apart.
        deaths: Before which lines a process died.
        lines: Before which lines something happened.
        disturbed: How many syncs went on while the vault changed.
        steps: What was lived.
    """

    def __init__(self, room: Path, notes: int) -> None:
        self.house = Household(VaultLife(VaultDisk(room / "vault", room / "attic"), notes), DataPaths(room / "home"))
        self.judge = Judge(self.house)
        self.lived: Counter[str] = Counter()
        self.deaths: Counter[Place] = Counter()
        self.lines: Counter[Place] = Counter()
        self.disturbed = 0
        self.steps: list[Step] = []

    def live(self, steps: Iterable[Step]) -> None:
        """Live these steps.

        Raises:
            Fault: Readers saw something wrong.
        """
        for step in steps:
            self.steps.append(step)
            if isinstance(step, Edit):
                self.house.vault.live(step)
                self.judge.edited()
            elif isinstance(step, Change):
                self.lived[f"change of {step.kind}"] += 1
                self.house.change(step)
            else:
                self.lived[f"sync {step.scope}"] += 1
                self._sync(step)

    def check(self) -> None:
        """Bring all up to date and compare.

        Raises:
            Fault: It is not as a fresh build of the same vault.
        """
        self.lived["check"] += 1
        self._complain(list(self.judge.check()))

    def _sync(self, step: Sync) -> None:
        outcome = self.house.sync(step.scope, step.pick, step.during)
        self.lines.update(outcome.happened)
        if outcome.verdict is None:
            self.deaths[outcome.happened[-1]] += 1
        elif outcome.happened:
            self.disturbed += 1
        self._complain(list(self.judge.look(outcome)))

    def _complain(self, faults: list[str]) -> None:
        if faults:
            shown = "\n  ".join(faults[:8])
            raise Fault(f"{len(faults)} faults after {len(self.steps)} steps:\n  {shown}")
