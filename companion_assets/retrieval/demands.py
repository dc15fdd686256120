"""What a question demands, and which tags and folders it mentions.

A demand is a hard filter: only `tag:x`, `in:x`, `after:`, `before:` and "only in …" make one. A mention is a hint.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from companion_assets.contracts.searching import SearchFilters
from companion_assets.retrieval import operator_words as words
from companion_assets.retrieval.quotes import Quote, Span, tag_at, within
from companion_assets.stores.name_keys import joined, units
from companion_assets.stores.note_graph import NoteGraph

_FIELD = re.compile(r"(?<!\S)(?P<key>tag|in|folder|after|before):(?P<value>[^\s\"“„«「]\S*)?", re.IGNORECASE)
_DAY = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")
_SMALL_WORDS = rf"{words.IN}|{words.THE}|{words.FOLDER}|{words.TAG}|{words.CALLED}"
_SMALL = rf"(?:(?:{_SMALL_WORDS})(?:\s+|(?=[\"“„«]))|\bl['’]|dell['’]|nell['’])"
_ONLY = re.compile(
    rf"(?<!\w)(?P<not>(?:{words.NOT})\s+)?(?:(?:{words.ONLY})\s+(?P<small>{_SMALL}*)|(?P<unspaced>{words.ONLY_UNSPACED})(?:我的)?)",
    re.IGNORECASE,
)
_ONLY_AFTER = re.compile(rf"(?:タグ)?(?:の中|に|から|で)?(?:{words.ONLY_UNSPACED_AFTER})(?:で|に|から)?")
_INSIDE = re.compile(r"(?:里|裡|裏|中|内)?的?")
_FOLDER = re.compile(rf"(?<!\w)(?:{words.FOLDER})(?!\w)|{words.FOLDER_UNSPACED}", re.IGNORECASE)
_TAG = re.compile(rf"(?<![\w#])(?:{words.TAG})(?!\w)", re.IGNORECASE)
_CALLED = re.compile(rf"\s*(?:(?:{words.CALLED})\s+)?[\"“„«「#]?", re.IGNORECASE)
_MENTIONED = re.compile(r"(?<![\w&#/])#(?=\S)")
_EDGES = ".,;:?!。，、？！)）"
_INSIDE_OF = re.compile(
    rf"(?<!\w)(?:{words.IN})\s+(?:(?:{words.THE})\s+){{0,2}}(?=[^\W\d_])|(?P<unspaced>在)(?:我的)?", re.IGNORECASE
)
_MOST_MENTIONS = 20  # each is looked up
_LONGEST_TAG = 60  # signs, where other signs follow without a space
_LONGEST_FOLDER = 6  # words, or signs of scripts without spaces


@dataclass(slots=True)
class Demands:
    """What has been read of a question so far.

    Attributes:
        taken: Spans that leave the question.
        mentions: Spans that stay in it.
    """

    question: str
    graph: NoteGraph
    quotes: Sequence[Quote]
    filters: SearchFilters = field(default_factory=SearchFilters)
    tags: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    taken: list[Span] = field(default_factory=list)
    mentions: list[Span] = field(default_factory=list)

    def read_fields(self) -> None:
        """Read `tag:x`, `in:x`, `folder:x`, `after:2024-03`, `before:2024`; a month or year counts wholly."""
        for match in _FIELD.finditer(self.question):
            value, end = self._value(match)
            if value and not self.is_quoted(match.start()) and self._demand(match["key"].lower(), value):
                self.taken.append((match.start(), end))

    def _value(self, match: re.Match[str]) -> tuple[str, int]:
        if match["value"]:
            value = match["value"].rstrip(_EDGES)
            return value, match.start("value") + len(value)
        quote = next((quote for quote in self.quotes if quote.start == match.end()), None)
        return (quote.text, quote.end) if quote else ("", match.end())

    def _demand(self, key: str, value: str) -> bool:
        """Take up a demand; False if there is nothing that it could mean."""
        if key == "tag":
            return self._demand_tag(value)
        if key in ("in", "folder"):
            folder = value if "*" in value else self._folder(value)
            return bool(folder) and self._demand_folder(folder)
        stretch = _stretch(value)
        if stretch is None:
            return False
        after, before = (stretch[0], self.filters.before) if key == "after" else (self.filters.after, stretch[1])
        self.filters = replace(self.filters, after=after, before=before)
        return True

    def _demand_tag(self, tag: str) -> bool:
        self.filters = replace(self.filters, tags=tuple(dict.fromkeys((*self.filters.tags, tag.lstrip("#")))))
        return True

    def _demand_folder(self, folder: str) -> bool:
        if self.filters.folder is None:
            self.filters = replace(self.filters, folder=folder)
        return self.filters.folder == folder

    def read_demands(self) -> None:
        """Read "only in …" and its like."""
        for match in _ONLY.finditer(self.question):
            if not match["not"] and not self.is_quoted(match.start()) and (end := self._demanded_at(match)):
                inside = _INSIDE.match(self.question, end) if match["unspaced"] else None
                self.taken.append((match.start(), inside.end() if inside else end))
        for start, end in self._tags_written():
            after = _ONLY_AFTER.match(self.question, end)
            if after and not self.is_taken(start) and self._demand_tag(self.question[start + 1 : end]):
                self.taken.append((start, after.end()))
        for match in islice(_FOLDER.finditer(self.question), _MOST_MENTIONS):
            after, found = _ONLY_AFTER.match(self.question, match.end()), self._folder_before(match.start())
            if after and found and not self.is_taken(match.start()) and self._demand_folder(found[0]):
                self.taken.append((found[1][0], after.end()))

    def _demanded_at(self, match: re.Match[str]) -> int | None:
        """Where the demand ends that follows "only"; None if it is none."""
        small, at = match["small"] or "", match.end()
        if tag := self._tag_at(at):
            self._demand_tag(self.question[at + 1 : tag])
            return tag
        if small and _TAG.search(small) and (tag := self._known_tag_at(at)):
            self._demand_tag(self.question[at:tag])
            return tag
        found = self._folder_after(at)
        if found is None or not (small or match["unspaced"]):
            return None
        folder, (_, end) = found
        named = _FOLDER.match(self.question, end + bool(re.match(r"[\s\"”“»」-]", self.question[end : end + 1])))
        spelled = self.question[at:end].strip('"“”„«»「」') == folder.rpartition("/")[2]
        if not (named or _FOLDER.search(small) or spelled) or not self._demand_folder(folder):
            return None
        return named.end() if named else end

    def read_folders(self) -> None:
        """Read "in my Journal folder", "in folder X"."""
        for match in islice(_FOLDER.finditer(self.question), _MOST_MENTIONS):
            if self.is_taken(match.start()) or self.is_quoted(match.start()):
                continue
            called = _CALLED.match(self.question, match.end())
            found = self._folder_before(match.start()) or self._folder_after(called.end() if called else match.end())
            if found:
                folder, (start, end) = found
                self.folders.append(folder)
                self.mentions.append((min(start, match.start()), max(end, match.end())))

        for match in islice(_INSIDE_OF.finditer(self.question), _MOST_MENTIONS):
            found = None if self.is_taken(match.start()) else self._folder_after(match.end())
            if found and self._is_spelled(found, unspaced=bool(match["unspaced"])):
                self.folders.append(found[0])  # names are looked for there too

    def _is_spelled(self, found: tuple[str, Span], *, unspaced: bool) -> bool:
        """Whether a folder without the word "folder" is written as the vault has it: "in my Journal", "在日记里"."""
        folder, (start, end) = found
        if self.question[start:end] not in (folder, folder.rpartition("/")[2]):
            return False
        inside = _INSIDE.match(self.question, end) if unspaced else None
        return bool(inside and inside[0]) or (not unspaced and self.question[start].isupper())

    def read_tags(self) -> None:
        """Read `#tag`, "tagged x"."""
        for start, end in self._tags_written():
            if not self.is_taken(start) and self.graph.has_tag(self.question[start + 1 : end]):
                self.tags.append(self.question[start + 1 : end])
                self.mentions.append((start, end))
        for match in islice(_TAG.finditer(self.question), _MOST_MENTIONS):
            called = _CALLED.match(self.question, match.end())
            known = self._known_tag_at(called.end()) if called and not self.is_taken(match.start()) else None
            if called and known:
                self.tags.append(self.question[called.end() : known])
                self.mentions.append((match.start(), known))

    def _tags_written(self) -> Iterator[Span]:
        for match in _MENTIONED.finditer(self.question):
            if not self.is_quoted(match.start()) and (end := self._tag_at(match.start())):
                yield match.start(), end

    def _tag_at(self, at: int) -> int | None:
        """End of the `#tag` that begins here: of one that the vault has, where other signs follow without a space."""
        end = tag_at(self.question, at)
        if end is None:
            return None
        longest = min(end - 1, at + 1 + _LONGEST_TAG)
        shorter = (end, *(cut for cut in range(longest, at + 1, -1) if not self.question[cut].isascii()))
        return next((cut for cut in shorter if self.graph.has_tag(self.question[at + 1 : cut])), end)

    def _known_tag_at(self, at: int) -> int | None:
        """End of the word here, with or without `#`, if it is a tag of the vault."""
        end = tag_at(self.question, at - 1, marked=False)
        return end if end and self.graph.has_tag(self.question[at:end]) else None

    # --- folders

    def _folder(self, value: str) -> str:
        """The folder that is meant by a path or a name; "" if there is none."""
        if self.graph.has_folder(value):
            return value.strip("/")
        ending = f"/{value.strip('/')}".casefold()
        known = self.graph.folders([value.strip("/").rpartition("/")[2]])
        return next((path for paths in known.values() for path in paths if f"/{path}".casefold().endswith(ending)), "")

    def _folder_before(self, end: int) -> tuple[str, Span] | None:
        base = max(0, end - 80)
        before = units(self.question[base:end])[-_LONGEST_FOLDER:]
        if not before or end - base - before[-1].end > 2:
            return None
        runs = [before[at:] for at in range(len(before))]
        return self._longest_folder((joined(run), (base + run[0].start, base + run[-1].end)) for run in runs)

    def _folder_after(self, start: int) -> tuple[str, Span] | None:
        after = units(self.question[start : start + 80], _LONGEST_FOLDER)
        if not after or after[0].start > 1:
            return None
        runs = [after[:count] for count in range(len(after), 0, -1)]
        return self._longest_folder((joined(run), (start, start + run[-1].end)) for run in runs)

    def _longest_folder(self, runs: Iterable[tuple[str, Span]]) -> tuple[str, Span] | None:
        """The first of these runs that is a folder's name."""
        listed = list(runs)
        known = self.graph.folders(key for key, _ in listed)
        for key, (start, end) in listed:
            text = self.question[start:end]
            folder = self._folder(text) if "/" in text else known.get(key, ("",))[0]
            if folder:
                return folder, (start, end)
        return None

    def is_quoted(self, at: int) -> bool:
        """Whether a place lies in a quoted phrase."""
        return within(at, [(quote.start, quote.end) for quote in self.quotes])

    def is_taken(self, at: int) -> bool:
        """Whether a place belongs to something that was read already."""
        return within(at, self.taken)


def _stretch(value: str) -> tuple[dt.date, dt.date] | None:
    """First and last day of a year, a month or a day."""
    match = _DAY.fullmatch(value)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    try:
        first = dt.date(year or 0, month or 1, day or 1)
        if day:
            return first, first
        after = (first.replace(day=28) + dt.timedelta(4)).replace(day=1) if month else dt.date(first.year + 1, 1, 1)
    except (ValueError, OverflowError):
        return None
    return first, after - dt.timedelta(1)
