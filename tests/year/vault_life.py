"""What people and sync tools do to a vault: one function for each kind of edit."""

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from tests.year.steps import Edit
from tests.year.texts import TEXT_EDITS, edited, new_note
from tests.year.vault_disk import TOP, VaultDisk, choose, nfc, nfd

NAMES = ("Note", "Café", "Übung", "2024-05-14", "李梅", "São Miguel", "a (b) [c]", "List #1", "Tag's end", "Long walk")
CONFLICTS = (
    "{}.sync-conflict-20240102-030405-ABCDEFG",
    "{} (Ana's conflicted copy 2024-01-02)",
    "{}_conflict-20240102",
)
MANY = 60  # more than the guard against mass loss lets go of at once

Act = Callable[[VaultDisk, int, int, int], None]


class VaultLife:
    """A vault that lives.

    Args:
        disk: The vault, without notes.
        size: How many notes it begins with, and about how many it is held at.

    Attributes:
        lived: How often each kind of edit happened.
    """

    def __init__(self, disk: VaultDisk, size: int) -> None:
        self.disk = disk
        self.lived: Counter[str] = Counter()
        self._size = size
        self._before: defaultdict[Path, list[bytes]] = defaultdict(list)
        for number in range(size):
            _create(disk, number, number * 7, number)
        disk.pass_time()

    def live(self, edit: Edit) -> None:
        """Let an edit happen. One that finds nothing to happen to does nothing."""
        kind, (first, second, third) = self._possible(edit), edit.picks
        self.lived[kind] += 1
        if kind in TEXT_EDITS:
            self._edit_text(kind, first, second)
        elif kind == "undo":
            self._undo(first)
        else:
            _ACTS[kind](self.disk, first, second, third)
        self.disk.pass_time()

    def _possible(self, edit: Edit) -> str:
        """The kind of edit, or its opposite if the vault has too many or too few notes for it."""
        crowd = len(self.disk.files())
        if crowd > 1.5 * self._size and edit.kind in ("create", "duplicate", "import many"):
            return "delete many" if crowd > 2.5 * self._size else "delete"
        if crowd < 0.5 * self._size and edit.kind in ("create", "delete", "delete folder", "delete many"):
            return "import many" if edit.picks[0] % 3 == 0 else "restore"
        return edit.kind

    def _edit_text(self, kind: str, first: int, second: int) -> None:
        if path := choose(self.disk.files(), first):
            raw = self.disk.read(path)
            self._before[path].append(raw)
            self.disk.write(path, edited(raw, kind, self.disk.marks, second), beside=bool(second % 3))

    def _undo(self, first: int) -> None:
        if path := choose([path for path in self.disk.files() if self._before[path]], first):
            self.disk.write(path, self._before[path].pop())


# --- one note


def _create(disk: VaultDisk, first: int, second: int, third: int) -> None:
    name = f"{choose(NAMES, second)}.md"
    disk.write(disk.free(choose(disk.homes(), first) or TOP, name), new_note(disk.marks, third))


def _touch(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        disk.touch(path)


def _delete(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        disk.remove(path)


def _restore(disk: VaultDisk, first: int, second: int, third: int) -> None:
    disk.restore(first)


def _rename(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        disk.move(path, disk.free(path.parent, f"{choose(NAMES, second)}.md"))


def _move(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        disk.move(path, disk.free(choose(disk.homes(), second) or TOP, path.name))


def _letter_case(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        disk.move(path, path.with_name(path.stem.swapcase() + ".md"))


def _accents(disk: VaultDisk, first: int, second: int, third: int) -> None:
    """The same name with its accents composed or apart; now and then as a second file beside the first."""
    if path := choose([path for path in disk.files() if nfd(str(path)) != nfc(str(path))], first):
        other = Path(next(name for name in (nfd(str(path)), nfc(str(path))) if name != str(path)))
        if third % 4:
            disk.move(path, other)
        else:
            disk.write(other, new_note(disk.marks, third))


def _duplicate(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        disk.write(disk.free(choose(disk.homes(), second) or TOP, path.name), disk.read(path))


def _overwrite(disk: VaultDisk, first: int, second: int, third: int) -> None:
    """A note takes the place of another one."""
    path, other = choose(disk.files(), first), choose(disk.files(), second)
    if path and other and path != other:
        disk.move(path, other)


def _swap_contents(disk: VaultDisk, first: int, second: int, third: int) -> None:
    path, other = choose(disk.files(), first), choose(disk.files(), second)
    if path and other:
        ours, theirs = disk.read(path), disk.read(other)
        disk.write(path, theirs)
        disk.write(other, ours)


def _swap_names(disk: VaultDisk, first: int, second: int, third: int) -> None:
    path, other = choose(disk.files(), first), choose(disk.files(), second)
    if path and other and path != other:
        aside = Path(".aside")
        disk.move(path, aside)
        disk.move(other, path)
        disk.move(aside, other)


def _recreate_same(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        raw = disk.read(path)
        disk.remove(path)
        disk.write(path, raw)


def _recreate_other(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        disk.remove(path)
        disk.write(path, new_note(disk.marks, third))


def _hide(disk: VaultDisk, first: int, second: int, third: int) -> None:
    """A note goes where no note is read: under a hidden name, or into a folder on the deny list."""
    if path := choose(disk.files(), first):
        hidden = (path.with_name(f".{path.name}"), Path(".trash", path.name), Path("zzz-Archive", path.name))
        disk.move(path, hidden[second % len(hidden)])


def _conflict_copy(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if path := choose(disk.files(), first):
        name = CONFLICTS[second % len(CONFLICTS)].format(path.stem)
        disk.write(path.with_name(f"{name}.md"), new_note(disk.marks, third))


def _link(disk: VaultDisk, first: int, second: int, third: int) -> None:
    """A link to a note, to a folder, to nowhere, or out of the vault. None of them adds a note."""
    targets = (choose(disk.files(), first), choose(disk.folders(), first), Path("nowhere.md"), Path(".."))
    place = disk.root / (choose(disk.homes(), second) or TOP) / f"link {third}.md"
    if (target := targets[third % len(targets)]) and not place.is_symlink():
        place.symlink_to(disk.root / target)


def _attachment(disk: VaultDisk, first: int, second: int, third: int) -> None:
    (disk.root / (choose(disk.homes(), first) or TOP) / f"picture {third}.png").write_bytes(b"\x89PNG")


# --- folders and crowds


def _rename_folder(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if folder := choose(disk.folders(), first):
        disk.move(folder, disk.free(folder.parent, f"{choose(NAMES, second)} {third % 10}"))


def _move_folder(disk: VaultDisk, first: int, second: int, third: int) -> None:
    """A folder goes into another one, or to the top."""
    if folder := choose(disk.folders(), first):
        homes = [home for home in disk.homes() if not home.is_relative_to(folder)]
        disk.move(folder, disk.free(choose(homes, second) or TOP, folder.name))


def _case_of_folder(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if folder := choose(disk.folders(), first):
        disk.move(folder, disk.free(folder.parent, folder.name.swapcase()))


def _delete_folder(disk: VaultDisk, first: int, second: int, third: int) -> None:
    if folder := choose(disk.folders(), first):
        disk.remove(folder)


def _import_many(disk: VaultDisk, first: int, second: int, third: int) -> None:
    for number in range(MANY):
        _create(disk, first, second, third + number)


def _delete_many(disk: VaultDisk, first: int, second: int, third: int) -> None:
    """More notes go at once than the guard lets go."""
    paths = disk.files()
    for path in paths[first % 7 :][: max(MANY, len(paths) // 5)]:
        disk.remove(path)


_ACTS: dict[str, Act] = {
    "create": _create,
    "touch": _touch,
    "delete": _delete,
    "restore": _restore,
    "rename": _rename,
    "move": _move,
    "letter case": _letter_case,
    "accents": _accents,
    "duplicate": _duplicate,
    "overwrite": _overwrite,
    "swap contents": _swap_contents,
    "swap names": _swap_names,
    "recreate same": _recreate_same,
    "recreate other": _recreate_other,
    "hide": _hide,
    "conflict copy": _conflict_copy,
    "link": _link,
    "attachment": _attachment,
    "rename folder": _rename_folder,
    "move folder": _move_folder,
    "case of folder": _case_of_folder,
    "delete folder": _delete_folder,
    "import many": _import_many,
    "delete many": _delete_many,
}
