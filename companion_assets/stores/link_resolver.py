"""Which file of the vault a link means, as Obsidian decides it.

A path from the vault's root wins, then the file in the linking note's own folder, then the file whose path ends in
what was written and whose path text is shortest. Case and Unicode composition do not matter, but where several
files differ only in those, the one spelled like the link wins. Lower case is Obsidian's, not Unicode case folding:
folding would take `Maße` for `Masse`. The known limit, as in Obsidian: the Turkish `IŞIK`, `Işık` and `ışık` stay
three names, since only a reader of Turkish knows that they are one.
"""

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from companion_assets.contracts.records import Link


class LinkResolver:
    """Looks links up in the names of all files of a vault, notes and attachments.

    Args:
        paths: NFC paths relative to the vault.
        aliases: Note path → its aliases, for `resolve_alias`.
    """

    def __init__(self, paths: Iterable[str], aliases: Mapping[str, Iterable[str]] | None = None) -> None:
        self._by_path: defaultdict[str, list[str]] = defaultdict(list)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(paths, key=lambda path: (len(path), path)):
            folded = _fold(path)
            name = folded.rpartition("/")[2]
            if "." in name:  # Obsidian knows no files without an ending; they would hide the note of that name
                self._by_path[folded].append(path)
                self._by_name[name].append(path)
        self._by_alias: defaultdict[str, set[str]] = defaultdict(set)
        for path, names in (aliases or {}).items():
            for name in names:
                self._by_alias[_fold(name)].add(path)

    def resolve(self, link: Link, source_path: str) -> str | None:
        """The path of the file that `link` means in the note `source_path`, or None.

        Aliases are not looked at, as in Obsidian.
        """
        if not link.target:
            return source_path
        return self._find(_compose(link.target), source_path.rpartition("/")[0])

    def resolve_alias(self, link: Link) -> str | None:
        """The only note that has the link's target as an alias; a weaker edge than a path."""
        notes = self._by_alias.get(_fold(link.target), set())
        return next(iter(notes)) if len(notes) == 1 else None

    def _find(self, target: str, folder: str) -> str | None:
        if target.startswith(("./", "../")):
            inside = posixpath.normpath(posixpath.join(folder, target))
            return self._at(inside)
        target = target.lstrip("/")
        return self._at(target) or self._at(posixpath.join(folder, target)) or self._ending_in(target)

    def _at(self, path: str) -> str | None:
        """The file at exactly this path, its ending `.md` optional."""
        for candidates in (self._by_path.get(_fold(spelled)) for spelled in (path, path + ".md")):
            if candidates:
                return next((found for found in candidates if found in (path, path + ".md")), candidates[0])
        return None

    def _ending_in(self, target: str) -> str | None:
        for spelled in (target, target + ".md"):
            candidates = self._by_name.get(_fold(spelled.rpartition("/")[2]), [])
            if "/" in target:
                ending = "/" + _fold(spelled)
                candidates = [path for path in candidates if _fold(path).endswith(ending)]
            if candidates:
                return next((path for path in candidates if path.endswith(spelled)), candidates[0])
        return None


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip().replace("\u00a0", " "))


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else _compose(text).lower()
