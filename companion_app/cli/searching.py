"""`search` in the terminal."""

import datetime as dt
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.text import Text

from companion_app.cli.console import err, out, print_json
from companion_app.cli.opening import checked, open_here
from companion_app.cli.replies import place_of
from companion_app.cli.waiting import Waiting
from companion_app.cli.wrapping import wrapped
from companion_app.passages import obsidian_url
from companion_app.retrieval import hit_document, understood_document
from companion_assets.contracts.searching import SearchFilters, SearchHit
from companion_assets.retrieval.understanding import in_one_line

_PREVIEW = 240  # characters
_PREVIEW_LINES = 3


def filters_of(
    after: dt.datetime | None,
    before: dt.datetime | None,
    tags: Sequence[str] | None,
    folder: str | None,
    people: Sequence[str] | None,
    note: str | None,
) -> SearchFilters:
    """Filters from command-line options."""
    return SearchFilters(
        after=after.date() if after else None,
        before=before.date() if before else None,
        tags=tuple(tag.removeprefix("#") for tag in tags or ()),
        folder=folder,
        note=note,
        people=tuple(people or ()),
    )


def show_hits(query: str, k: int | None, filters: SearchFilters, *, as_json: bool) -> None:
    """Print what a search finds."""
    asked = checked(query, "query", 'companion search "…"')
    with closing(open_here()) as companion:
        most = companion.settings.rag.search.max_top_k
        if k and k > most:
            err.print(f"{most} hits are the most (rag.search.max_top_k)", style="dim")
        with Waiting("looking through your notes"):
            found = companion.retriever.retrieve(asked, k=k, filters=filters, rerank=False)
        if found.notice:
            err.say(found.notice, style="yellow")
        if as_json:
            hits = [hit_document(hit) for hit in found.hits]
            print_json({"hits": hits, "understood": understood_document(found), "evidence": found.strength})
            return
        if line := in_one_line(found.understood) if found.understood else "":
            err.print(f"understood: {line}", style="dim", markup=False)
        if not found.hits:
            out.print("Nothing found.")
        elif not found.relevant:
            out.print("Nothing that clearly matches; the nearest passages:", style="dim")
        elif found.strength == "weak":
            out.print("These come near; they may be about something else:", style="dim")
        for rank, hit in enumerate(found.hits, 1):
            _show_hit(rank, hit, companion.settings.vault.path)


def _show_hit(rank: int, hit: SearchHit, vault: Path | None) -> None:
    place = place_of(hit.path, hit.first_line, hit.last_line)
    line = Text(f"{rank}. ", style="bold")
    line.append(hit.title, style=f"bold link {obsidian_url(vault, hit.path)}" if vault else "bold")
    line.append(f" {place} · {hit.score:.2f}", style="dim")
    out.print(line)
    preview = " ".join(hit.text.split())[:_PREVIEW]
    lines = wrapped(preview, out.width - 4)[:_PREVIEW_LINES] if out.lively else [preview]
    for text in lines:
        out.print(f"   {text}", markup=False)
