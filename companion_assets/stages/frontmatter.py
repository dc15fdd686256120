"""The properties at the top of a note. Never fails: YAML that cannot be read costs the properties, not the note.

Frontmatter starts with a line of exactly three dashes as the very first line and ends at the next such line. ruamel
parses it to nodes; the values are then built here by the YAML 1.2 core schema, for three reasons: dates, times,
`NO` and `1_000` stay as written (ruamel's own types follow YAML 1.1 in places and turn dates into objects), whatever
comes out can be written as JSON, and a bomb of aliases meets a limit instead of being unfolded.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from companion_assets.contracts.records import FrontmatterState

MAX_CHARACTERS = 128 * 1024  # about a second of parsing; no header written by a person comes near it
MAX_DEPTH = 40
MAX_VALUES = 5_000
MAX_SALVAGED = 200  # entries of a broken header that are tried one by one

_BLOCK = re.compile(r"---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"""(?P<key>"[^"\n]*"|'[^'\n]*'|[^\s#:\-?\[\]{},&*!|>%@`"'][^:\n]*):(?:[ \t]+(?P<value>.*))?""")
_LIST_ITEM = re.compile(r"\s*-\s+(.+)")

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"(true|True|TRUE)|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MAX_INT_DIGITS = 4_000  # Python itself refuses to read longer ones


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What stood at the top of a note.

    Attributes:
        source: The YAML text between the two lines of dashes.
        body: The rest of the note.
        body_line: 1-based line of the text on which `body` starts.
        reason: Why the header is invalid, with its line; "" otherwise.
    """

    state: FrontmatterState
    body: str
    body_line: int = 1
    source: str = ""
    properties: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


class _NotAMapping(ValueError):
    """The header is YAML, or nearly, that holds no properties."""


def read_frontmatter(text: str) -> Frontmatter:
    """Part `text` (line ends LF, no byte order mark) into properties and body."""
    block = _BLOCK.match(text)
    if block is None:
        return Frontmatter(FrontmatterState.NONE, text)
    source, body = block[1], text[block.end() :]
    body_line = source.count("\n") + 3
    try:
        properties = _load(source)
    except (YAMLError, ValueError, RecursionError) as fault:
        if not any(_KEY.fullmatch(line.strip()) or line.startswith("{") for line in source.split("\n")):
            # Prose between two rules. It is no header, and as part of the body it stays searchable.
            return Frontmatter(FrontmatterState.INVALID, text, reason="the header holds no properties")
        reason = _reason(fault)
        return Frontmatter(FrontmatterState.INVALID, body, body_line, source, _salvage(source), reason)
    state = FrontmatterState.EMPTY if properties is None else FrontmatterState.OK
    return Frontmatter(state, body, body_line, source, properties or {})


def _load(source: str) -> dict[str, Any] | None:
    if len(source) > MAX_CHARACTERS:
        raise _NotAMapping(f"longer than {MAX_CHARACTERS:,} characters")
    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = MAX_DEPTH
    yaml.composer.warn_double_anchors = False
    node = yaml.compose(source)
    if node is None or (isinstance(node, ScalarNode) and _scalar(node) is None):
        return None
    if not isinstance(node, MappingNode):
        raise _NotAMapping("no mapping of keys to values")
    values: dict[str, Any] = _value(node, iter(range(MAX_VALUES)))
    return values


def _value(node: Any, budget: Iterator[int], depth: int = 0) -> Any:
    """The node as text, number, bool, None, list or dict. `budget` ends after the values that are allowed."""
    if next(budget, None) is None or depth > MAX_DEPTH:
        raise _NotAMapping("too many or too deeply nested values")
    if isinstance(node, SequenceNode):
        return [_value(item, budget, depth + 1) for item in node.value]
    if isinstance(node, MappingNode):
        mapping: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, ScalarNode):
                raise _NotAMapping(f"line {key.start_mark.line + 2}: a key that is itself a list or mapping")
            value = _value(item, budget, depth + 1)
            # A key that comes twice: the last one that says something.
            if value is not None or key.value not in mapping:
                mapping[key.value] = value
        return mapping
    return _scalar(node)


def _scalar(node: ScalarNode) -> str | int | float | bool | None:
    text: str = node.value
    if node.style is not None or str(node.tag).endswith(":str"):  # quoted, a text block, or marked as text
        return text
    if _NULL.fullmatch(text):
        return None
    if truth := _BOOL.fullmatch(text):
        return bool(truth[1])
    return _number(text)


def _number(text: str) -> str | int | float:
    if _INT.fullmatch(text) and len(text) < _MAX_INT_DIGITS:
        return int(text)
    if _OCTAL_OR_HEX.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text  # infinities too: JSON has none


def _reason(fault: Exception) -> str:
    if isinstance(fault, MarkedYAMLError) and (mark := fault.problem_mark or fault.context_mark):
        return f"frontmatter is not valid YAML, line {mark.line + 2}: {fault.problem or fault.context}"
    if isinstance(fault, _NotAMapping):
        return f"frontmatter cannot be used: {fault}"
    return "frontmatter is not valid YAML"


def _salvage(source: str) -> dict[str, Any]:
    """Properties of a broken header whose own lines are fine, or plain enough to be taken as text."""
    found: dict[str, Any] = {}
    entries: list[list[str]] = []
    for line in source[:MAX_CHARACTERS].split("\n"):
        if _KEY.fullmatch(line):
            entries.append([line])
        elif entries and line.strip():
            entries[-1].append(line)
    for entry in entries[:MAX_SALVAGED]:
        try:
            found |= _load("\n".join(entry)) or {}
        except (YAMLError, ValueError, RecursionError):
            found |= _as_text(entry)
    return found


def _as_text(entry: list[str]) -> dict[str, Any]:
    head = _KEY.fullmatch(entry[0])
    if head is None:
        return {}
    key, value = head["key"].strip("\"' "), (head["value"] or "").strip()
    if value and len(entry) == 1:
        return {key: value}
    items = [item[1].strip("\"' ") for line in entry[1:] if (item := _LIST_ITEM.fullmatch(line))]
    return {key: items} if not value and len(items) == len(entry) - 1 else {}
