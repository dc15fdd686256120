"""Settings text → plain values, with the line of every key. The only module here that knows YAML.

JSON is read by the same parser (YAML contains it). Anchors and aliases are refused: settings do not need them,
and a few nested ones can stand for gigabytes. Numbers, `true`, `false` and `null` follow YAML 1.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Place = tuple[str | int, ...]

TOO_DEEP = "is nested far too deeply"
MAX_DEPTH = 20  # the deepest setting has 6 parts

_PREFIX = "tag:yaml.org,2002:"
_AS_TEXT = ("str", "timestamp", "value", "merge")  # dates stay text; "=" and "<<" mean nothing here
_KINDS = (*_AS_TEXT, "null", "bool", "int", "float", "map", "seq")


@dataclass(frozen=True, slots=True)
class TextFault:
    """Something the text itself has wrong. `line` is 1-based; 0 where none is known."""

    line: int
    message: str
    place: Place = ()


@dataclass(slots=True)
class ReadText:
    """Values, the line of every key and list item, and the faults met on the way."""

    tree: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    faults: list[TextFault] = field(default_factory=list)


def read_text(text: str) -> ReadText:
    """Parse one YAML or JSON document.

    Returns:
        The values as dicts, lists and scalars. Text that is no YAML at all has `tree` None and one fault;
        doubled keys and aliases are left out and reported together.
    """
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as fault:
        return ReadText(faults=[_syntax_fault(fault, text)])
    except YAMLError as fault:  # characters that YAML does not allow at all
        return ReadText(faults=[TextFault(0, f"is not valid YAML: {' '.join(str(fault).split())[:200]}")])
    except RecursionError:
        return ReadText(faults=[TextFault(0, TOO_DEEP)])
    read = ReadText()
    if root is not None:
        _Walk(read, set()).assign(root, ())
    return read


def read_value(text: str) -> Any:
    """One value as in the file: `true`, `8`, `[a, b]`; text that is no YAML stays text."""
    read = read_text(text)
    return text if read.faults else read.tree


@dataclass(frozen=True, slots=True)
class _Walk:
    read: ReadText
    seen: set[int]

    def assign(self, root: Node, place: Place) -> None:
        self.read.tree = self._value(root, place)

    def _value(self, node: Node, place: Place) -> Any:
        if id(node) in self.seen:
            self._fault(node, "anchors and aliases (& and *) are not used in settings; write the value out", place)
            return None
        self.seen.add(id(node))
        if len(place) > MAX_DEPTH:
            self._fault(node, TOO_DEEP, place[:1])
            return None
        if str(node.tag).removeprefix(_PREFIX) not in _KINDS:
            self._fault(node, f"has a type of its own ({node.tag}), which settings do not use", place)
            return None
        if isinstance(node, MappingNode):
            return dict(self._pairs(node, place))
        if isinstance(node, SequenceNode):
            return [self._item(item, (*place, at)) for at, item in enumerate(node.value)]
        return self._scalar(node, place)

    def _item(self, node: Node, place: Place) -> Any:
        self.read.lines[place] = _line(node)
        return self._value(node, place)

    def _pairs(self, node: MappingNode, place: Place) -> Iterator[tuple[str, Any]]:
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._fault(key_node, "a key must be plain text", place)
                continue
            inner = (*place, str(key_node.value))
            if inner in self.read.lines:
                self._fault(key_node, f"is set twice; first in line {self.read.lines[inner]}", inner)
                continue
            self.read.lines[inner] = _line(key_node)
            yield str(key_node.value), self._value(value_node, inner)

    def _scalar(self, node: Node, place: Place) -> Any:
        if str(node.tag).removeprefix(_PREFIX) in _AS_TEXT:
            return _whole_characters(str(node.value))
        try:
            return YAML(typ="safe", pure=True).constructor.construct_object(node)
        except (ValueError, KeyError) as fault:  # a number of thousands of digits, or a tag that the text contradicts
            self._fault(node, f"cannot be read as its type: {fault}", place)
            return None

    def _fault(self, node: Node, message: str, place: Place) -> None:
        self.read.faults.append(TextFault(_line(node), message, place))


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _whole_characters(text: str) -> str:
    """JSON writes characters beyond U+FFFF as two escapes; join them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _syntax_fault(fault: MarkedYAMLError, text: str) -> TextFault:
    mark = fault.problem_mark or fault.context_mark
    line = int(mark.line) + 1 if mark else 0
    lines = text.splitlines()
    at_fault = lines[line - 1] if 0 < line <= len(lines) else ""
    indent = at_fault[: len(at_fault) - len(at_fault.lstrip())]
    if "\t" in indent:
        return TextFault(line, "a tab is used to indent; YAML takes spaces only")
    said = " ".join(str(part) for part in (fault.context, fault.problem) if part)
    return TextFault(line, f"is not valid YAML: {said}")
