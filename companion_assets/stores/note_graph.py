"""Names and links of the vault, to be looked up: the reading side of `note_graph_rows`.

Read-only and cheap: one connection, opened at the first question, and no question reads more than it needs. A
missing or older catalog, or one that is damaged, knows no names; the search goes on without them.
"""

import datetime as dt
import json
import logging
import math
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from companion_assets.contracts.records import Link
from companion_assets.stores.link_resolver import LinkResolver
from companion_assets.stores.name_keys import file_name, name_key, unique
from companion_assets.stores.predicates import tag_key

_log = logging.getLogger(__name__)

_BUSY_SECONDS = 1.0  # readers never wait in WAL mode, but for the moment in which a log is taken over
_NAMESAKES = 200  # notes of one name that are looked at
_EDGES = 2_000  # links of one question that are looked at
_WELL_KNOWN = 64  # what more notes than this link to says little about any two of them
_SHARED_SHARE = 0.5  # of the weight of a link between two notes: both link to the same thing
_DAYS = "FROM notes WHERE NOT gone AND status != 'skipped' AND date IS NOT NULL"
_RANKS = {"title": 0, "alias": 1, "given": 2, "part": 2, "link": 3}


@dataclass(frozen=True, slots=True)
class NoteName:
    """Something that a key names.

    Attributes:
        name: As the vault spells it.
        path: The note; "" where links lead to the name and no note is there.
        kind: `given` and `part` are words of a person's name by which they are called alone, `given` the first.
    """

    key: str
    name: str
    path: str
    kind: Literal["title", "alias", "given", "part", "link"]
    person: bool

    @property
    def is_own(self) -> bool:
        """It stands for the note by itself."""
        return self.kind in ("title", "alias")


class NoteGraph:
    """Names and links in `catalog.db`; may be shared by threads, and read while others write.

    Args:
        catalog: The file; it need not be there.
    """

    def __init__(self, catalog: Path) -> None:
        self._file = catalog
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None

    # --- names

    def named(self, keys: Iterable[str]) -> dict[str, tuple[NoteName, ...]]:
        """What is known under these keys (see `name_keys`), the best first: titles, aliases, parts; shortest path.

        A name to which links lead without a note counts where no note has it.
        """
        query = (
            "SELECT DISTINCT w.value FROM json_each(?) w WHERE EXISTS (SELECT 1 FROM note_names WHERE key = w.value)"
            " OR EXISTS (SELECT 1 FROM note_links WHERE key = w.value)"
        )
        return {key: self._known_as(key) for (key,) in self._ask(query, _json(unique(keys)))}

    def names_of(self, paths: Iterable[str]) -> dict[str, tuple[NoteName, ...]]:
        """Path → all names of the note, title first."""
        query = (
            "SELECT n.path, n.key, n.name, n.kind, n.person FROM json_each(?) w"
            " CROSS JOIN note_names n ON n.path = w.value"
        )
        found: defaultdict[str, list[NoteName]] = defaultdict(list)
        for path, key, name, kind, person in self._ask(query, _json(unique(paths))):
            found[path].append(NoteName(key, name, path, kind, bool(person)))
        return {path: tuple(sorted(names, key=_rank)) for path, names in found.items()}

    def _known_as(self, key: str) -> tuple[NoteName, ...]:
        listed = bool(self._ask("SELECT 1 FROM note_links WHERE key = ? AND person = 1 LIMIT 1", key))
        query = f"SELECT path, name, kind, person FROM note_names WHERE key = ? LIMIT {_NAMESAKES}"
        names = [
            NoteName(key, name, path, kind, bool(person) or (listed and kind == "title"))
            for path, name, kind, person in self._ask(query, key)
        ]
        if names:
            return tuple(sorted(names, key=_rank))
        query = "SELECT target FROM note_links WHERE key = ? ORDER BY person DESC LIMIT 1"
        return tuple(NoteName(key, file_name(target), "", "link", listed) for (target,) in self._ask(query, key))

    # --- links

    def neighbours(self, paths: Sequence[str], limit: int) -> dict[str, float]:
        """The notes next to these: linked from them, linking to them, or linking to the same names; best first.

        Args:
            paths: Notes, none of which is returned.
            limit: Most notes to return.

        Returns:
            Path → nearness, above 0 and at most 1: the sum of what connects them, cut off at 1. A link from a note
            with few links weighs more than one from a list of everything, and a shared name more if few notes share it.
        """
        inside = set(paths)
        outgoing, incoming = self._out_of(paths), self._into(paths)
        incoming = [(source, path) for source, path in incoming if path in inside and source not in inside]
        degrees = self._count("path", {source for source, _ in [*outgoing, *incoming]})
        weights: defaultdict[str, float] = defaultdict(float)
        for source, path in outgoing:
            weights[path] += _rarity(degrees[source])
        for source, _ in incoming:
            weights[source] += _rarity(degrees[source])
        for path, weight in self._sharing(paths):
            weights[path] += weight
        outside = [(path, weight) for path, weight in weights.items() if path not in inside]
        best = sorted(outside, key=lambda pair: (-pair[1], pair[0]))[:limit]
        return {path: min(weight, 1.0) for path, weight in best}

    def _out_of(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        query = (
            "SELECT l.path, l.key, l.target FROM json_each(?) w"
            f" CROSS JOIN note_links l ON l.path = w.value LIMIT {_EDGES}"
        )
        return self._resolved(self._ask(query, _json(paths)))

    def _into(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        keys = unique(name.key for names in self.names_of(paths).values() for name in names if name.is_own)
        query = (
            "SELECT l.path, l.key, l.target FROM json_each(?) w"
            f" CROSS JOIN note_links l ON l.key = w.value LIMIT {_EDGES}"
        )
        return self._resolved(self._ask(query, _json(keys)))

    def _sharing(self, paths: Sequence[str]) -> list[tuple[str, float]]:
        """Notes that link to a name to which these link too, with what that is worth."""
        query = "SELECT DISTINCT l.key FROM json_each(?) w CROSS JOIN note_links l ON l.path = w.value"
        counts = self._count("key", [key for (key,) in self._ask(query, _json(paths))])
        rare = {key: count for key, count in counts.items() if 1 < count <= _WELL_KNOWN}
        query = "SELECT DISTINCT l.path, l.key FROM json_each(?) w CROSS JOIN note_links l ON l.key = w.value"
        return [(path, _SHARED_SHARE * _rarity(rare[key])) for path, key in self._ask(query, _json(rare))]

    def _count(self, column: Literal["path", "key"], values: Iterable[str]) -> dict[str, int]:
        """Value → how many links have it, counted no further than is of interest."""
        most = _EDGES if column == "path" else _WELL_KNOWN + 1
        few = f"SELECT 1 FROM note_links WHERE {column} = w.value LIMIT {most}"
        query = f"SELECT w.value, (SELECT count(*) FROM ({few})) FROM json_each(?) w"
        return dict(self._ask(query, _json(sorted(values))))

    def _resolved(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, str]]:
        """Of links (path, key, target) to notes: source and the note meant, which has the name in question."""
        query = (
            "SELECT n.path, n.name, n.kind FROM json_each(?) w CROSS JOIN note_names n ON n.key = w.value"
            f" WHERE n.kind IN ('title', 'alias') LIMIT {10 * _EDGES}"
        )
        known = self._ask(query, _json(unique(row[1] for row in rows)))
        aliases: defaultdict[str, list[str]] = defaultdict(list)
        for path, name, kind in known:
            if kind == "alias":
                aliases[path].append(name)
        resolver = LinkResolver({path for path, _, kind in known if kind == "title"}, aliases)
        found = []
        for source, _, target in rows:
            link = Link(target)
            if path := resolver.resolve(link, source) or resolver.resolve_alias(link):
                found.append((source, path))
        return found

    # --- tags, folders, days

    def has_tag(self, tag: str) -> bool:
        """Whether a note carries the tag or one nested in it."""
        return bool(self._ask("SELECT 1 FROM note_tags WHERE key = ? LIMIT 1", _plain(tag_key(tag))))

    def folders(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Key → the folders of that name, the shortest path first; keys of no folder are left out."""
        query = "SELECT f.key, f.folder FROM json_each(?) w CROSS JOIN note_folders f ON f.key = w.value"
        found: defaultdict[str, list[str]] = defaultdict(list)
        for key, folder in self._ask(query, _json(unique(map(name_key, names)))):
            found[key].append(folder)
        return {key: tuple(sorted(paths, key=lambda path: (len(path), path))) for key, paths in found.items()}

    def has_folder(self, path: str) -> bool:
        """Whether notes lie in this folder or below it, the path spelled as it is."""
        return bool(self._ask("SELECT 1 FROM note_folders WHERE folder = ?", _plain(path.strip("/"))))

    @property
    def first_day(self) -> dt.date | None:
        """The earliest day that a note is about."""
        return _day(self._ask(f"SELECT min(date) {_DAYS}"))

    @property
    def last_day(self) -> dt.date | None:
        """The latest day that a note is about."""
        return _day(self._ask(f"SELECT max(date) {_DAYS}"))

    def latest_day(self, until: dt.date) -> dt.date | None:
        """The latest day that a note is about, of those up to `until`."""
        return _day(self._ask(f"SELECT max(date) {_DAYS} AND date <= ?", until.isoformat()))

    def close(self) -> None:
        """Close the file; safe to call twice, and a later question opens it again."""
        with self._lock:
            self._close()

    # --- the file

    def _ask(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """All rows of an answer; none if the catalog cannot tell."""
        with self._lock:
            try:
                connection = self._connected()
                return connection.execute(query, values).fetchall() if connection else []
            except (sqlite3.Error, OSError) as fault:
                _log.debug("names and links cannot be looked up: %s", fault)
                self._close()
                return []

    def _connected(self) -> sqlite3.Connection | None:
        """The connection, to the file that is there now: a damaged catalog is moved away and made anew."""
        try:
            status = self._file.stat()
        except FileNotFoundError:
            self._close()
            return None
        identity = (status.st_dev, status.st_ino)
        if self._connection is None or self._opened != identity:
            self._close()
            address = f"{self._file.absolute().as_uri()}?mode=rw"  # never creates it
            self._connection = sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False)
            self._connection.execute("PRAGMA query_only = ON")
            self._opened = identity
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._opened = None


def _rank(name: NoteName) -> tuple[int, int, str, str]:
    return _RANKS[name.kind], len(name.path), name.path, name.key


def _rarity(count: int) -> float:
    return 1 / math.log2(1 + max(1, count))


def _day(rows: Sequence[tuple[Any, ...]]) -> dt.date | None:
    return dt.date.fromisoformat(rows[0][0]) if rows and rows[0][0] else None


def _json(values: Iterable[str]) -> str:
    return json.dumps([_plain(value) for value in values])


def _plain(text: str) -> str:
    """Without what SQLite's text cannot hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
