"""Turns, sources and passages as HTML. Everything that comes from a note, a model or a person is escaped here."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from companion_app.passages import PassageView
from companion_app.ui.safe_markdown import SafeMarkdown
from companion_assets.contracts.records import Citation, Turn

_STATES = {
    "same": "",
    "moved": "The note has changed since; the passage moved.",
    "changed": "The note has changed since. This is the passage as it was cited:",
}


class TurnRenderer:
    """Renders turns.

    Args:
        citations: Show sources and chips (`ui.web.features.citations`).
        preview: Sources and chips open the passage (`ui.web.features.source_preview`).
    """

    def __init__(self, *, citations: bool, preview: bool) -> None:
        self._markdown = SafeMarkdown(chips=citations and preview)
        self._citations = citations
        self._preview = preview

    def history(self, turns: Sequence[Turn]) -> str:
        """Finished turns."""
        return "".join(self.finished(turn) for turn in turns)

    def finished(self, turn: Turn) -> str:
        """One finished turn."""
        reply = self._markdown.render(turn.reply, turn.citations)
        ending = '<p class="aside">Stopped.</p>' if turn.stopped else ""
        return _turn(turn.question, reply + ending + self.sources(turn.citations))

    def live(self, question: str, reply: str, found: Sequence[Citation] | None, notice: str, doing: str) -> str:
        """The turn that is being written.

        Args:
            question: What was asked.
            reply: What has been written so far.
            found: Sources, as soon as they are known.
            notice: Something to know about this turn.
            doing: What is going on while there is no text; empty once there is.
        """
        body = self._markdown.render(reply, found or ()) if reply else ""
        if notice:
            body = f'<p class="aside warning">{escape(notice)}</p>{body}'
        if doing:
            body += f'<p class="doing" role="status">{escape(doing)}</p>'
        return _turn(question, body + self.sources(found or ()), live=True)

    def fault(self, question: str, error: str, hint: str) -> str:
        """A turn that broke off."""
        told = f'<p class="aside warning">{escape(error)}{". " + escape(hint) if hint else ""}</p>'
        return _turn(question, told)

    def sources(self, citations: Sequence[Citation]) -> str:
        """A row of source cards, one per passage, notes kept together."""
        if not (citations and self._citations):
            return ""
        cards = "".join(self._card(citation) for citation in citations)
        return f'<div class="sources" aria-label="Sources">{cards}</div>'

    def _card(self, citation: Citation) -> str:
        where = _where(citation.title, citation.section)
        section = f'<span class="where">{escape(where)}</span>' if where else ""
        text = f'<span class="n">{citation.number}</span><span class="what">{escape(citation.title)}</span>{section}'
        if not self._preview:
            return f'<span class="card">{text}</span>'
        passage = escape(citation.chunk_id, quote=True)
        return f'<button type="button" class="card" data-passage="{passage}">{text}</button>'


def passage_panel(view: PassageView) -> str:
    """The cited lines in their note."""
    state = _STATES[view.state]
    first, last = view.first_line, view.last_line
    lines = f"line {first}" if first == last else f"lines {first}–{last}"
    about = " · ".join(part for part in (view.date.isoformat() if view.date else "", lines, view.path) if part)
    notice = f'<p class="aside warning">{escape(state)}</p>' if state else ""
    if view.state == "changed":
        notice += f'<div class="quoted">{escape(view.text)}</div><p class="aside">The note there now:</p>'
    where = _where(view.title, view.section)
    section = f'<p class="section">{escape(where)}</p>' if where else ""
    runs = groupby(view.lines, key=lambda line: line.cited)
    body = "".join(_run("".join(_line(line.number, line.text) for line in run), cited) for cited, run in runs)
    return _panel(
        view.title,
        f'{section}<p class="about">{escape(about)}</p>{notice}<div class="note" tabindex="0">{body}</div>'
        f'<p class="open"><a href="{escape(view.obsidian_url, quote=True)}">Open in Obsidian</a></p>',
    )


def panel_fault(error: str, hint: str) -> str:
    """The panel when a passage cannot be shown."""
    return _panel(
        "Not there any more", f'<p class="aside warning">{escape(error)}</p><p class="aside">{escape(hint)}</p>'
    )


def _where(title: str, section: str) -> str:
    """The section without the note's own title, which stands beside it anyway."""
    return "" if section == title else section.removeprefix(f"{title} > ")


def _panel(title: str, body: str) -> str:
    return (
        '<aside class="passage" role="dialog" aria-label="Cited passage" tabindex="-1">'
        f"<header><h2>{escape(title)}</h2>"
        f'<button type="button" class="close" data-close aria-label="Close">×</button></header>{body}</aside>'
    )


def _turn(question: str, body: str, *, live: bool = False) -> str:
    kind = "turn live" if live else "turn"
    return (
        f'<article class="{kind}"><div class="asked">{escape(question)}</div><div class="reply">{body}</div></article>'
    )


def _run(lines: str, cited: bool) -> str:
    return f"<mark>{lines}</mark>" if cited else f"<div>{lines}</div>"


def _line(number: int, text: str) -> str:
    return f'<span class="line"><i>{number}</i><span>{escape(text) or " "}</span></span>'
