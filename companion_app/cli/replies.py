"""One turn on the screen: what is being read, the reply as it is written, and the lines it stands on.

A person sees the reply grow, broken at words; where citations are settled afterwards, the lines that differ are
drawn again in place. Anything else that reads standard output gets the settled reply once, at its end.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.control import Control
from rich.segment import ControlType
from rich.style import Style
from rich.text import Text

from companion_app.cli.console import err, out
from companion_app.cli.waiting import OPENING, Waiting
from companion_app.cli.wrapping import Wrapping, wrapped
from companion_app.events import Delta, Final, Notice, ReplyEvent, Sources
from companion_app.passages import obsidian_url
from companion_assets.contracts.records import Citation, Turn

_CITATION = re.compile(r"\[(\d+)\]")
_TITLES = 3


class ReplyView:
    """Shows the events of one turn.

    Args:
        vault: The vault's folder, for links that open a note in Obsidian.
        streaming: Show the reply while it is written (to a person).
    """

    def __init__(self, vault: Path | None, *, streaming: bool) -> None:
        self._vault = vault
        self._streaming = streaming and out.lively
        self._waiting = Waiting(OPENING)
        self._found: dict[int, Citation] = {}
        self._kept = ""  # what stood there before a notice
        self._begin()

    def __enter__(self) -> Self:
        self._waiting.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._waiting.stop()
        if self._shown:  # broken off in the middle of a line
            self._end_line()

    def looking(self) -> None:
        """The question is being searched."""
        self._waiting.now("looking through your notes")

    def show(self, event: ReplyEvent) -> None:
        """Show what has happened."""
        match event:
            case Sources(citations):
                self._sources(citations)
            case Delta(text) if self._streaming:
                self._waiting.stop()
                self._write(text)
            case Notice(text):
                self._notice(text)
            case Final(turn):
                self._waiting.stop()
                self._finish(turn)
            case _:
                pass

    def _begin(self) -> None:
        self._width = out.width - 1
        self._wrapping = Wrapping(self._width)
        self._shown = ""

    def _sources(self, citations: Sequence[Citation]) -> None:
        self._found = {citation.number: citation for citation in citations}
        self._waiting.now("thinking")
        titles = list(dict.fromkeys(citation.title for citation in citations))
        if titles and err.lively:
            more = f" and {len(titles) - _TITLES} more" if len(titles) > _TITLES else ""
            line = Text(f"reading {', '.join(titles[:_TITLES])}{more}", style="dim")
            line.truncate(err.width - 1, overflow="ellipsis")
            err.print(line)

    def _notice(self, text: str) -> None:
        """What was shown so far stays; if the reply begins anew, it does so below."""
        self._waiting.stop()
        self._end_line()
        err.print(text, style="yellow", markup=False)

    def _write(self, text: str) -> None:
        text = text if self._shown else text.lstrip()
        self._shown += text
        self._print(self._wrapping.feed(text))

    def _finish(self, turn: Turn) -> None:
        if self._shown:
            self._print(self._wrapping.flush())
            self._settle(turn.reply)
            out.print()
            self._shown = ""
        elif turn.reply and turn.reply != self._kept:
            self._print("\n".join(wrapped(turn.reply, self._width)) if out.lively else turn.reply)
            out.print()
        if turn.stopped:
            err.print("stopped", style="dim")
        if turn.citations:
            out.print()
        for citation in turn.citations:
            self._print_source(citation)

    def _settle(self, reply: str) -> None:
        """Draw again what differs from what was streamed, if it is still on the screen."""
        old, new = wrapped(self._shown, self._width), wrapped(reply, self._width)
        pairs = zip(old, new, strict=False)
        same = next((at for at, (was, now) in enumerate(pairs) if was != now), min(len(old), len(new)))
        outdated = len(old) - same
        if self._shown.strip() == reply or outdated > out.height - 1 or out.width - 1 != self._width:
            return
        if outdated:
            above = [(ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)] * (outdated - 1)
            out.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2), *above))
        else:
            out.print()
        self._print("\n".join(new[same:]))

    def _end_line(self) -> None:
        if self._shown:
            self._print(self._wrapping.flush())
            out.print()
        self._kept = self._shown.strip()
        self._begin()

    def _print(self, text: str) -> None:
        line = Text(text)
        for match in _CITATION.finditer(text):
            if citation := self._found.get(int(match[1])):
                line.stylize(Style(color="cyan") + self._link(citation), match.start(), match.end())
        out.print(line, end="")

    def _print_source(self, citation: Citation) -> None:
        line = Text(f"[{citation.number}] ", style="cyan")
        line.append(place_of(citation.path, citation.first_line, citation.last_line), style=self._link(citation))
        line.append(f" · {citation.section}" if citation.section else "", style="dim")
        if out.lively:
            line.truncate(out.width - 1, overflow="ellipsis")
        out.print(line)

    def _link(self, citation: Citation) -> Style:
        return Style(link=obsidian_url(self._vault, citation.path)) if self._vault else Style()


def place_of(path: str, first: int, last: int) -> str:
    """`Journal/2026-03-01.md:12-14`."""
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
