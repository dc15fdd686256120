"""`search`, `ask` and `chat` in the terminal."""

import datetime as dt
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from rich.markup import escape
from rich.text import Text

from companion_app.bootstrap import Companion, open_companion
from companion_app.cli.console import err, interactive, out
from companion_app.session import ChatSession, Delta, Final, Notice, ReplyEvent, Sources
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.records import Citation, SearchFilters, SearchHit

_PREVIEW = 240


def filters_of(
    after: dt.datetime | None, before: dt.datetime | None, tags: Sequence[str] | None, folder: str | None
) -> SearchFilters:
    """Filters from command-line options."""
    return SearchFilters(
        after=after.date() if after else None,
        before=before.date() if before else None,
        tags=tuple(tag.removeprefix("#") for tag in tags or ()),
        folder=folder,
    )


def show_hits(query: str, k: int | None, filters: SearchFilters, *, as_json: bool) -> None:
    """Print what a search finds."""
    companion = open_companion()
    try:
        found = companion.retriever.retrieve(query, k=k, filters=filters)
        if as_json:
            hits = [hit_json(hit) for hit in found.hits]
            out.print_json(json.dumps({"hits": hits, "understood": {}}, ensure_ascii=False))
            return
        if not found.hits:
            out.print("Nothing found.")
        elif not found.relevant:
            out.print("Nothing that clearly matches; the nearest passages:", style="dim")
        for rank, hit in enumerate(found.hits, 1):
            place = place_of(hit.path, hit.first_line, hit.last_line)
            out.print(f"[bold]{rank}. {escape(hit.title)}[/] [dim]{escape(place)} · {hit.score:.2f}[/]")
            out.print(Text("   " + " ".join(hit.text.split())[:_PREVIEW]))
    finally:
        companion.close()


def hit_json(hit: SearchHit) -> dict[str, Any]:
    """A hit in the stable form of `companion search --json`."""
    return {
        "path": hit.path,
        "heading": hit.section,
        "lines": [hit.first_line, hit.last_line],
        "date": hit.date.isoformat() if hit.date else None,
        "score": round(hit.score, 4),
        "matched_by": list(hit.matched_by),
        "text": hit.text,
    }


def answer_once(question: str, filters: SearchFilters, *, as_json: bool) -> None:
    """Answer one question and print the sources it cites."""
    asked = sys.stdin.read().strip() if question == "-" else question.strip()
    if not asked:
        raise CompanionError("no question was given", 'companion ask "When did I …?"')
    companion = open_companion()
    try:
        companion.load_generator()
        final = _print_events(companion, companion.session().reply(asked, filters=filters), quiet=as_json)
        if as_json:
            document = {**asdict(final.turn), "timings": final.timings, "counts": final.counts}
            out.print_json(json.dumps(document, ensure_ascii=False))
    finally:
        companion.close()


def converse(session_id: str | None) -> None:
    """A conversation, until `/exit` or the end of input."""
    companion = open_companion()
    try:
        companion.load_generator()
        session = companion.session(session_id)
        if interactive():
            out.print(
                f"[bold]{escape(companion.settings.companion.name)}[/] [dim]· /exit ends, Ctrl-C stops a reply[/]"
            )
        while (line := _read_line()) is not None:
            if line in ("/exit", "/quit"):
                break
            if line.startswith("/"):
                out.print(f"There is no command {line.split()[0]}; /exit ends.", markup=False)
            elif line:
                _one_turn(companion, session, line)
    finally:
        companion.close()


def _one_turn(companion: Companion, session: ChatSession, question: str) -> None:
    events = session.reply(question)
    try:
        _print_events(companion, events)
    except KeyboardInterrupt:
        events.close()
        out.print("\n[dim]stopped[/]")
    except CompanionError as fault:
        err.print(f"error: {fault.message}\nhint:  {fault.hint}", markup=False)


def _read_line() -> str | None:
    try:
        return input("\n› " if interactive() else "").strip()
    except EOFError:
        return None


def _print_events(companion: Companion, events: Iterator[ReplyEvent], *, quiet: bool = False) -> Final:
    """Stream a reply to the terminal; returns its end."""
    streamed = ""
    for event in events:
        match event:
            case Sources(citations) if citations and not quiet:
                titles = list(dict.fromkeys(citation.title for citation in citations))
                out.print(f"[dim]reading {escape(', '.join(titles[:4]))}{' …' if len(titles) > 4 else ''}[/]")
            case Notice(text):
                err.print(text, style="yellow", markup=False)
            case Delta(text) if not quiet:
                streamed += text
                out.print(text, end="", markup=False)
            case Final(turn):
                if not quiet:
                    out.print()
                    if turn.reply != streamed.strip():
                        # Citations were settled after streaming: show the reply that is kept.
                        out.print(f"\n{turn.reply}", markup=False)
                    _print_sources(companion, turn.citations)
                return event
    raise CompanionError("the reply broke off", "ask again")


def _print_sources(companion: Companion, citations: Sequence[Citation]) -> None:
    vault = companion.settings.vault.path
    for citation in citations:
        place = place_of(citation.path, citation.first_line, citation.last_line)
        link = f"obsidian://open?path={quote(str(vault / citation.path))}" if vault else ""
        line = Text(f"[{citation.number}] ", style="bold")
        line.append(place, style=f"link {link}" if link else "")
        line.append(f" · {citation.section}" if citation.section else "", style="dim")
        out.print(line)


def place_of(path: str, first: int, last: int) -> str:
    """`Journal/2026-03-01.md:12-14`."""
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
