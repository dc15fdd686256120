"""Links as written: the parts of a wikilink and of a Markdown link.

The order inside a wikilink is target, fragment, display; the fragment starts at the first `#` and may chain
headings (`#H1#H2`) or name a block (`#^id`). In an embed the last display part may be a size. Which file a link
means is decided later, by `stores.link_resolver`, since it takes the whole vault to know.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from companion_assets.contracts.records import Link

# Group "wiki" is the text between the brackets. It may hold a lone bracket, never a pair and never a line end.
WIKILINK_PATTERN = r"(?P<embed>!?)\[\[(?P<wiki>(?!\[)(?:(?!\[\[|\]\])[^\n])++)\]\]"
# Destination and optional title of a Markdown link, from its "(" on; one level of inner parentheses.
_DESTINATION = re.compile(
    r"""\(\s*+
    (?: <(?P<angled>(?:[^<>\n\\]|\\.)*+)> | (?P<bare>(?!<)(?:[^\s()\\]|\\\S|\((?:[^\s()\\]|\\\S)*+\))*+) )
    (?: \s++ (?: "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' | \((?:[^()\\]|\\.)*+\) ) )?+
    \s*+\)""",
    re.VERBOSE | re.DOTALL,
)
_WIKILINK = re.compile(WIKILINK_PATTERN)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SIZE = re.compile(r"\d+(?:x\d+)?")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")  # one letter before the colon is a drive, not a scheme


def wikilink(inner: str, *, embed: bool = False, line: int = 0) -> Link | None:
    """The link of `[[inner]]`, or None when it names nothing."""
    address, *displays = re.split(r"\\?\|", inner)
    target, heading, block = _fragment(address)
    if not (target or heading or block):
        return None
    size, display = _size_and_display(displays, embed)
    display = display or _shown(target, heading, block)
    return Link(target, heading, block, display, size, embed, "wiki", line)


def markdown_link(text: str, destination: str, *, embed: bool = False, line: int = 0) -> Link | None:
    """The link of `[text](destination)`, or None when it leads out of the vault or nowhere."""
    address = _ESCAPE.sub(r"\1", destination).strip()
    if not address or _ELSEWHERE.match(address):
        return None
    target, heading, block = (unquote(part) if part else part for part in _fragment(address))
    size, display = _size_and_display(text.split("|"), embed)
    return Link(target or "", heading, block, display, size, embed, "markdown", line)


def link_destination(text: str, start: int) -> tuple[str, int] | None:
    """The destination whose "(" is at `start` and the position after its ")", or None when it is no link."""
    found = _DESTINATION.match(text, start)
    if found is None:
        return None
    return found["angled"] if found["bare"] is None else found["bare"], found.end()


def property_links(properties: Mapping[str, Any], source: str) -> list[Link]:
    """The wikilinks inside property values, in order.

    Args:
        properties: The values read from `source`.
        source: The YAML text, whose first line is line 2 of the file; it tells the line of each link.
    """
    found = []
    position = 0
    for match in (match for text in _texts(properties) for match in _WIKILINK.finditer(text)):
        at = source.find(match[0], position)
        position = at + 1 if at >= 0 else position
        line = source.count("\n", 0, position) + 2
        if link := wikilink(match["wiki"], embed=bool(match["embed"]), line=line):
            found.append(replace(link, kind="property"))
    return found


def _fragment(address: str) -> tuple[str, str | None, str | None]:
    target, _, fragment = address.partition("#")
    fragment = fragment.strip()
    if fragment.startswith("^"):
        return target.strip(), None, fragment[1:] or None
    return target.strip(), fragment or None, None


def _shown(target: str, heading: str | None, block: str | None) -> str | None:
    """What Obsidian shows for a link with a fragment and no display text; a plain link shows its target."""
    parts = [target, *(heading.split("#") if heading else []), *([f"^{block}"] if block else [])]
    return " > ".join(part for part in parts if part) if len(parts) > 1 else None


def _size_and_display(parts: list[str], embed: bool) -> tuple[str | None, str | None]:
    size = None
    if embed and parts and _SIZE.fullmatch(parts[-1].strip()):
        size = parts[-1].strip()
        parts = parts[:-1]
    return size, "|".join(parts).strip() or None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
