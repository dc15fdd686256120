"""Which titles, aliases, link targets and people of the vault a question names.

Every run of a few words, or of signs in scripts without spaces, is looked up at once; the longest known run wins. A
name of one word is the hard case, since "Home", "Ideas" and "Will" are words too: it counts where capitals, quotes or
brackets say that a name is meant, and a person's name in small letters too unless it is also a word.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from companion_assets.contracts.searching import Named, SearchFilters
from companion_assets.stores.name_keys import Unit, file_key, joined, name_key, unique, units
from companion_assets.stores.note_graph import NoteGraph, NoteName

Span = tuple[int, int]

_MOST_UNITS = 300  # of a question; a longer one is a pasted text, and names stand in what is asked
_LONGEST_SPACED = 8  # words
_LONGEST_UNSPACED = 12  # signs
_NAMESAKES = 8  # notes of one name
_SMALL_TALK = 6  # letters; shorter runs of small words ("to do", "my day") are everywhere
_TITLE_CASE = 0.75  # share of words with a capital from which on capitals say nothing
_BRACKETED = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
_SENTENCE_END = re.compile(r"(?:^|[.?!:;…¿¡。？！\n])[\s\"'“”„«»‘’(\[*_-]*+\Z")
_APOSTROPHE = re.compile(r"['’ʼ]")
_TIGHT = " \u3000・=＝"
# Given names that are words: written small, or at the start of a sentence, they are taken for the word.
_NAMES_THAT_ARE_WORDS = """
    will may mark bill rose grace hope joy faith art jack frank rob sue pat drew chase april june august summer autumn
    dawn eve amber ruby pearl ivy lily daisy violet olive iris holly hazel robin jay christian earl dean grant miles
    chance reed cliff dale glen clay wade gene sandy penny ginger misty star sky melody harmony harper ray guy victor
    max basil rich josh carol bob nick charity patience prudence sage willow heather laurel jade crystal melody page
    ernst heide linde rosa sol luz dolores pilar cruz angel paz consuelo soledad alba nieves blanca clara reyes claire
    pierre marguerite gioia grazia luce stella franco bianca chiara vera viola graca victoria
"""
_WORDS_TOO = frozenset(_NAMES_THAT_ARE_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the question that may be a name; `loose` where an ending or a beginning was taken off."""

    key: str
    first: int
    last: int
    start: int
    end: int
    loose: bool = False


def names_in(
    question: str, graph: NoteGraph, *, quoted: Sequence[Span] = (), silent: Sequence[Span] = ()
) -> tuple[Named, ...]:
    """What a question names, in its order; several of one place where a name is several people's.

    Args:
        question: As written.
        graph: The names of the vault.
        quoted: Where its quoted phrases stand: they are meant.
        silent: Where no name is looked for.
    """
    bracketed = list(_in_brackets(question, graph))
    taken = [*silent, *(span for span, _ in bracketed)]
    words = [unit for unit in units(question, _MOST_UNITS) if not _touches((unit.start, unit.end), taken)]
    runs = list(_runs(question, words))
    known = graph.named(run.key for run in runs)
    sense = _Sense(question, words, quoted)
    found = [(run, known[run.key]) for run in runs if run.key in known]
    chosen = _longest([(run, names) for run, names in found if sense.is_meant(run, names)])
    pairs = [*bracketed, *(((run.start, run.end), names) for run, names in chosen)]
    return tuple(sorted(_as_named(pairs, graph), key=lambda named: (named.start, named.paths)))


def resolve_filters(filters: SearchFilters, graph: NoteGraph) -> tuple[SearchFilters, tuple[Named, ...]]:
    """The filters with the note's path as the vault has it, and their people with all names and notes of theirs.

    Both are for `predicates.where`. A person whom the vault does not know is looked for under the name given.
    """
    if filters.note is not None:
        filters = replace(filters, note=_path_of(filters.note, graph))
    return filters, tuple(_person(name, graph) for name in filters.people)


def _person(name: str, graph: NoteGraph) -> Named:
    key = name_key(name)
    known = graph.named([key]).get(key, ())
    known = tuple(one for one in known if one.person) or known
    found = list(_as_named([((0, 0), known)], graph)) if known else []
    keys = [one for one in unique([key, *(key for each in found for key in each.keys)]) if len(one) > 1]
    return Named(name, tuple(keys), unique(path for one in found for path in one.paths), "person", 0, 0)


def _path_of(note: str, graph: NoteGraph) -> str:
    """The path that a person means who gives a path, with or without its ending, or a name."""
    key = file_key(note)
    paths = [name.path for name in graph.named([key]).get(key, ()) if name.is_own and name.path]
    return next((path for path in paths if _ends_in(path, note)), next(iter(paths), note) if "/" not in note else note)


def _ends_in(path: str, target: str) -> bool:
    ending = "/" + target.strip().strip("/").lower()
    return f"/{path}".lower().endswith((ending, ending + ".md"))


def _in_brackets(question: str, graph: NoteGraph) -> Iterator[tuple[Span, tuple[NoteName, ...]]]:
    for match in _BRACKETED.finditer(question):
        target = re.split(r"[|#]", match[1], maxsplit=1)[0].strip()
        if key := file_key(target):
            names = graph.named([key]).get(key, ())
            meant = tuple(name for name in names if "/" in target and _ends_in(name.path, target)) or names
            yield match.span(), meant or (NoteName(key, target, "", "link", person=False),)


def _runs(question: str, words: Sequence[Unit]) -> Iterator[_Run]:
    """All runs that may be a name, also without a genitive or an elided article ("Anna's", "Annas", "d'Anna")."""
    for first, word in enumerate(words):
        spaced = 0
        for last in range(first, min(len(words), first + _LONGEST_UNSPACED)):
            spaced += words[last].spaced
            if spaced > _LONGEST_SPACED or (last > first and not _belong(question, words[last - 1], words[last])):
                break
            run = words[first : last + 1]
            yield _Run(joined(run), first, last, word.start, words[last].end)
            for changed in _loosened(question, run):
                yield _Run(joined(changed), first, last, changed[0].start, changed[-1].end, loose=True)


def _loosened(question: str, run: Sequence[Unit]) -> Iterator[list[Unit]]:
    head, tail = run[0], run[-1]
    if tail.spaced:
        marks = list(_APOSTROPHE.finditer(question, tail.start, tail.end))
        if marks:
            yield [*run[:-1], Unit(tail.start, marks[0].start(), tail.text.partition("'")[0], spaced=True)]
        elif tail.text.endswith("s") and len(tail.text) > 3:
            yield [*run[:-1], Unit(tail.start, tail.end - 1, tail.text[:-1], spaced=True)]
    if head.spaced and (mark := _APOSTROPHE.search(question, head.start, head.end)):
        yield [Unit(mark.end(), head.end, head.text.partition("'")[2], spaced=True), *run[1:]]


def _belong(question: str, before: Unit, after: Unit) -> bool:
    gap = question[before.end : after.start]
    if not before.spaced and not after.spaced:
        return not gap.strip(_TIGHT)
    return len(gap) <= 4 and not set(gap) & set("?!？！。\n")


def _longest(found: Sequence[tuple[_Run, tuple[NoteName, ...]]]) -> list[tuple[_Run, tuple[NoteName, ...]]]:
    kept: list[tuple[_Run, tuple[NoteName, ...]]] = []
    free: set[int] = set()
    for run, names in sorted(found, key=lambda pair: (pair[0].first - pair[0].last, pair[0].loose, pair[0].first)):
        places = set(range(run.first, run.last + 1))
        if not places & free:
            free |= places
            kept.append((run, names))
    return kept


class _Sense:
    """Whether a run of a question is meant as the name that it is."""

    def __init__(self, question: str, words: Sequence[Unit], quoted: Sequence[Span]) -> None:
        self._question = question
        self._words = words
        self._quoted = quoted
        inside = [question[word.start] for word in words[1:] if word.spaced and word.end - word.start > 2]
        cased = [letter for letter in inside if letter.lower() != letter.upper()]
        capitals = sum(letter.isupper() for letter in cased)
        self._capitals_tell = len(cased) < 3 or capitals < _TITLE_CASE * len(cased)

    def is_meant(self, run: _Run, names: Sequence[NoteName]) -> bool:
        if any(start <= run.start <= start + 2 and end - 2 <= run.end <= end for start, end in self._quoted):
            return True
        words = self._words[run.first : run.last + 1]
        if not any(word.spaced for word in words):
            return self._is_long_enough(run)
        if len(words) == 1:
            return self._is_one_word_meant(run, names)
        text = self._question[run.start : run.end]
        telling = str.isupper if self._capitals_tell else str.isdigit
        return len(run.key.replace(" ", "")) >= _SMALL_TALK or any(telling(sign) or sign.isdigit() for sign in text)

    def _is_long_enough(self, run: _Run) -> bool:
        """Two signs of Chinese or Korean are a name; of hiragana and of Thai it takes three."""
        signs = run.last - run.first + 1
        light = all("\u3041" <= sign <= "\u309f" or "\u0e00" <= sign <= "\u17ff" for sign in run.key)
        return signs >= (3 if light else 2)

    def _is_one_word_meant(self, run: _Run, names: Sequence[NoteName]) -> bool:
        word, best = self._question[run.start : run.end], names[0]
        if len(run.key) < 2 or not any(sign.isalpha() for sign in word):
            return False
        if word.lower() == word.upper():  # a script without capitals
            return len(run.key) > 2
        opens = _SENTENCE_END.search(self._question, 0, run.start) is not None
        if word[0].isupper() and not opens and self._capitals_tell:
            return True
        if best.person and best.kind != "part":
            return word[0].isupper() if run.loose else run.key not in _WORDS_TOO
        # As no word is spelled: GitHub, Q3.
        own = best.name if best.is_own and not best.name.isupper() else ""
        return any(sign.isdigit() or sign.isupper() for sign in own[1:])


def _as_named(pairs: Sequence[tuple[Span, tuple[NoteName, ...]]], graph: NoteGraph) -> Iterator[Named]:
    """Places with what stands there. Notes of one title are one thing; people of one name are several."""
    groups: list[tuple[Span, list[NoteName]]] = []
    for span, known in pairs:
        best = [name for name in known if _weight(name) == _weight(known[0])][:_NAMESAKES]
        groups += [(span, best)] if known[0].kind == "title" else [(span, [name]) for name in best]
    own = graph.names_of(name.path for _, names in groups for name in names if name.path)
    called = _unmistakable(own, graph)
    for (start, end), names in groups:
        paths = unique(name.path for name in names)
        all_names = [one for path in paths for one in own.get(path, ())]
        keys = [one.key for one in all_names if one.is_own or one.key in called]
        keys += [one.key for one in names if not one.path]
        title = next((one.name for one in all_names if one.kind == "title"), names[0].name)
        kind: Literal["person", "note"] = "person" if any(name.person for name in names) else "note"
        yield Named(title, unique(keys), paths, kind, start, end)


def _weight(name: NoteName) -> str:
    return "called" if name.kind in ("given", "part") else name.kind


def _unmistakable(own: dict[str, tuple[NoteName, ...]], graph: NoteGraph) -> set[str]:
    """Given names, among all those of some notes, that only one note of the vault answers to."""
    given = [name.key for names in own.values() for name in names if name.kind == "given"]
    answering: defaultdict[str, set[str]] = defaultdict(set)
    for key, names in (graph.named(given) if given else {}).items():
        answering[key] |= {name.path for name in names}
    return {key for key, paths in answering.items() if len(paths) == 1}


def _touches(span: Span, others: Iterable[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)
