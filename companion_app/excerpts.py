"""The part of a passage that speaks to the question, for prompts and quotes that must stay short."""

import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise, zip_longest

_WORD = re.compile(r"\d+(?:[.,:/-]\d+)+|[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_MARKUP = (
    (re.compile(r"!\[\[[^\]\n]*\]\]|!\[[^\]\n]*\]\([^)\n]*\)"), ""),  # embeds
    (re.compile(r"\[\[(?:[^\]|\n]*\\?\|)?([^\]|\n]+)\]\]"), r"\1"),  # wikilinks
    (re.compile(r"(?<!\w)(\*\*|__|~~|==)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?m)[ \t]\^[A-Za-z0-9-]+$"), ""),  # block ids
    (re.compile(r"(?m)^(?:>[ \t]?)+(?:\[![\w-]+\][+-]?[ \t]*)?"), ""),  # quotes and callouts
    (re.compile(r"\n{2,}"), "\n"),
)
_TABLE_RULE = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_LONG_LINE = 240
_BORDER = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def terms(text: str) -> dict[str, float]:
    """Words of a text with their weight: longer words and numbers say more.

    Scripts without spaces (Chinese, Japanese, Thai, Lao) give overlapping pairs of characters.
    """
    found: dict[str, float] = {}
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = match.group()
        if word[0].isdigit():
            # 1988-11-02 is also the year 1988, however a reply writes that date, and 3,540 is 3540.
            forms = [word, *re.findall(r"\d{3,}", word), re.sub(r"(?<=\d)[.,](?=\d{3}\b)", "", word)]
            found.update(dict.fromkeys(forms, 4.0))
        elif runs := _UNSPACED.findall(word):
            for run in runs:
                found.update({run[i : i + 2]: 2.0 for i in range(max(1, len(run) - 1))})
        else:
            found[_stem(word)] = min(len(word), 8) / 2 - 0.5
    return found


def sentences(text: str) -> Iterator[str]:
    """Sentences and lines of a text, in order, each with the space that follows it; together they are the text."""
    start = 0
    for border in _BORDER.finditer(text):
        if text[start : border.end()].strip():
            yield text[start : border.end()]
            start = border.end()
    if start < len(text):
        yield text[start:]


def excerpt(text: str, question: str, limit: int) -> str:
    """At most about `limit` characters of `text`: whole lines, or sentences of long lines, that share most with it.

    Words that stand in few of the pieces weigh more, and a piece gains from good neighbours: an answer often stands
    beside the words it was asked with. A list item stays whole, with the date it begins with. Left-out stretches are
    marked with "…".

    Args:
        text: The passage.
        question: What was asked.
        limit: Characters; a single longer sentence is cut at a space.
    """
    if len(text) <= limit:
        return text
    pieces = [piece for line in text.splitlines(keepends=True) for piece in _pieces(line)]
    scores = _scores(pieces, terms(question))
    chosen: set[int] = set()
    left = limit
    for position in sorted(range(len(pieces)), key=lambda at: (-scores[at], at)):
        if len(pieces[position]) + 3 <= left:
            chosen.add(position)
            left -= len(pieces[position]) + 3
    if not chosen:
        best = pieces[max(range(len(pieces)), key=scores.__getitem__)]
        return best[: limit - 2].rsplit(" ", 1)[0] + " …"
    return _joined(pieces, sorted(chosen))


def plain(text: str) -> str:
    """A passage without the marks of its markup, for a model to read.

    Of links stays what they show; emphasis, block ids and quote marks go; each row of a table names its columns, since
    small models lose track of a header that stands some rows above.
    """
    for pattern, shown in _MARKUP:
        text = pattern.sub(shown, text)
    return "\n".join(_told_rows(text.split("\n"))).strip("\n")


def _told_rows(lines: list[str]) -> Iterator[str]:
    header: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        cells = _cells(line)
        if cells and _TABLE_RULE.fullmatch(following):
            header = cells
        elif not cells:
            header = []
            yield line
        elif header and not _TABLE_RULE.fullmatch(line):
            named = [f"{name}: {cell}" if name else cell for name, cell in zip_longest(header, cells, fillvalue="")]
            yield "; ".join(part for part, cell in zip(named, cells, strict=False) if cell)
        elif not header:
            yield line


def _cells(line: str) -> list[str]:
    """The cells of a table row; none if the line is no row."""
    row = line.strip()
    if len(row) < 3 or not (row.startswith("|") and row.endswith("|")):
        return []
    return [cell.replace("\\|", "|").strip() for cell in _CELL_BORDER.split(row[1:-1])]


def _pieces(line: str) -> Iterator[str]:
    """A line as it is, or its sentences if it is long."""
    return sentences(line) if len(line) > _LONG_LINE else iter([line] if line.strip() else [])


def _scores(pieces: list[str], wanted: dict[str, float]) -> list[float]:
    """Overlap with the question by rarity of its words, with half a share from each neighbour."""
    words = [terms(piece) for piece in pieces]
    rarity = {term: math.log(1 + len(pieces) / (1 + sum(term in found for found in words))) for term in wanted}
    own = [sum(weight * rarity[term] for term, weight in wanted.items() if term in found) for found in words]
    padded = [0.0, *own, 0.0]
    return [score + 0.5 * max(padded[at], padded[at + 2]) for at, score in enumerate(own)]


def _joined(pieces: list[str], chosen: list[int]) -> str:
    parts = [pieces[chosen[0]]]
    for before, position in pairwise(chosen):
        gap = "" if position == before + 1 else "… "
        parts.append(gap + pieces[position])
    return "".join(parts).strip()


def _stem(word: str) -> str:
    """A crude common stem: enough to join plural, tense and case endings of the same word."""
    return word[: max(4, len(word) - 2)]
