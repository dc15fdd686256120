"""The lines of a file that are worth indexing, as one text whose every character knows its line in the file."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate


@dataclass(frozen=True)
class SourceText:
    """Lines with their numbers in the file. Numbers rise but may have gaps where noise was left out.

    Attributes:
        lines: The text of each line, without line end.
        numbers: For each line its 1-based number in the file.
    """

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    text: str = field(init=False)
    starts: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", "\n".join(self.lines))
        lengths = (len(line) + 1 for line in self.lines)
        object.__setattr__(self, "starts", tuple(accumulate(lengths, initial=0)))

    @classmethod
    def of(cls, numbered: Iterable[tuple[int, str]]) -> "SourceText":
        """A source of (number, line) pairs."""
        pairs = tuple(numbered)
        return cls(tuple(line for _, line in pairs), tuple(number for number, _ in pairs))

    @cached_property
    def index(self) -> dict[int, int]:
        """Position of a line in `lines` by its number in the file."""
        return {number: position for position, number in enumerate(self.numbers)}

    def position(self, offset: int) -> int:
        """Position in `lines` of the line that holds the character at `offset`."""
        return bisect_right(self.starts, offset) - 1

    def number(self, offset: int) -> int:
        """Number in the file of the line that holds the character at `offset`."""
        return self.numbers[self.position(offset)]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Character span of the lines at the positions `first` to `last`, both included."""
        return self.starts[first], self.starts[last] + len(self.lines[last])
