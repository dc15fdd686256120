"""Contents of notes: new ones, and what a person or a tool makes of an old one.

Every paragraph that is written holds a mark, a word that no other paragraph of the year has, so that one can tell by
the words which writing of a note the index holds.
"""

import random
import re
from collections.abc import Callable, Sequence

WORDS = (
    "harbour", "varnish", "sardine", "cello", "fog", "letter", "winter", "bridge", "台北", "Frühstück", "cocina",
    "bicycle", "invoice", "whale", "lighthouse", "bread", "Zug", "garden", "lecture", "rain",
)  # fmt: skip
HEADINGS = ("", "## Plans", "## Said", "### Later", "#DayInShort", "#work", "#Relations")
_MARK = re.compile(r"m[0-9]{7}x")
_BOM = b"\xef\xbb\xbf"


class Marks:
    """Gives out marks."""

    def __init__(self) -> None:
        self._given = 0

    def new(self) -> str:
        """A word that was never used."""
        self._given += 1
        return f"m{self._given:07}x"


def marks_in(text: str) -> frozenset[str]:
    """The marks that stand in a text."""
    return frozenset(_MARK.findall(text))


def new_note(marks: Marks, pick: int) -> bytes:
    """A note of one to five short paragraphs, some with headings, some with properties."""
    source = random.Random(pick)
    lines = []
    if source.random() < 0.4:
        lines += ["---", f"tags: [{source.choice(WORDS)}]", f"rating: {source.randrange(9)}", "---"]
    for _ in range(source.choice((1, 1, 2, 3, 5))):
        lines += [line for line in (source.choice(HEADINGS), _paragraph(marks, source), "") if line]
        lines.append("")
    return "\n".join(lines).encode()


def _paragraph(marks: Marks, source: random.Random) -> str:
    words = source.choices(WORDS, k=source.randrange(4, 28))
    words.insert(source.randrange(len(words)), marks.new())
    return " ".join(words) + "."


def _append(text: str, marks: Marks, source: random.Random) -> str:
    return f"{text.rstrip()}\n\n{_paragraph(marks, source)}\n"


def _prepend(text: str, marks: Marks, source: random.Random) -> str:
    properties, body = _split(text)
    return f"{properties}{_paragraph(marks, source)}\n\n{body}"


def _change_a_paragraph(text: str, marks: Marks, source: random.Random) -> str:
    properties, body = _split(text)
    paragraphs = body.split("\n\n")
    paragraphs[source.randrange(len(paragraphs))] = _paragraph(marks, source)
    return properties + "\n\n".join(paragraphs)


def _change_properties(text: str, marks: Marks, source: random.Random) -> str:
    _, body = _split(text)
    kind = source.choice(("tags", "aliases", "status", "broken", "none"))
    head = {
        "tags": f"tags: [{', '.join(source.sample(WORDS, 2))}]\n",
        "aliases": f"aliases:\n  - {source.choice(WORDS)} {source.randrange(99)}\n",
        "status": f"status: {source.choice(WORDS)}\ndate: 2024-0{source.randrange(1, 10)}-11\n",
        "broken": "title: [unclosed\n",
        "none": "",
    }[kind]
    return f"---\n{head}---\n{body}" if head else body


def _line_ends(text: str, marks: Marks, source: random.Random) -> str:
    plain = text.replace("\r\n", "\n")
    return plain if plain != text else plain.replace("\n", "\r\n")


def _split(text: str) -> tuple[str, str]:
    """Properties with their delimiters, and the rest."""
    found = re.match(r"---\n.*?^---\n", text, re.DOTALL | re.MULTILINE)
    return (text[: found.end()], text[found.end() :]) if found else ("", text)


_CHANGES: dict[str, Callable[[str, Marks, random.Random], str]] = {
    "append": _append,
    "prepend": _prepend,
    "change a paragraph": _change_a_paragraph,
    "change properties": _change_properties,
    "line ends": _line_ends,
}
TEXT_EDITS: Sequence[str] = (*_CHANGES, "byte order mark", "bad bytes", "empty")


def edited(raw: bytes, kind: str, marks: Marks, pick: int) -> bytes:
    """The bytes of a note after one of `TEXT_EDITS`."""
    source = random.Random(pick)
    if kind == "empty":
        return b""
    if kind == "byte order mark":
        return raw.removeprefix(_BOM) if raw.startswith(_BOM) else _BOM + raw
    if kind == "bad bytes":
        return raw + (b"\nBr\xfccke\n" if pick % 2 else "\nBrücke ".encode() + b"\xff\xfe words\n")
    text = raw.decode("utf-8", "surrogateescape")
    return _CHANGES[kind](text, marks, source).encode("utf-8", "surrogateescape")
