"""Every command of `companion`, its arguments and its help. What they do stands in the modules beside this one."""

import datetime as dt
import io
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from companion_app.cli.console import speaks_plainly

if TYPE_CHECKING:
    from companion_app.cli.waiting import Waiting

app = typer.Typer(
    name="companion",
    help="A private AI companion over your Obsidian vault. Everything stays on this machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

evaluation = typer.Typer(
    help="Measure how well things work, against questions whose answers are known.", no_args_is_help=True
)
app.add_typer(evaluation, name="eval")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]
Day = Annotated[dt.datetime | None, typer.Option(formats=["%Y-%m-%d"], metavar="YYYY-MM-DD")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="Only notes with this tag (nested tags too); repeatable.")
]
Folder = Annotated[str | None, typer.Option(help="Only notes whose path matches this folder or glob.")]
People = Annotated[
    list[str] | None,
    typer.Option("--person", metavar="NAME", help="Only passages that name this person, aliases too; repeatable."),
]
NotePath = Annotated[str | None, typer.Option("--note", metavar="PATH", help="Only this note.")]
Confirm = Annotated[
    bool,
    typer.Option(
        "--confirm-removals", help="Many notes vanished at once and are really gone: let the index drop them."
    ),
]
Mode = Literal["auto", "words", "meaning"]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port of the page, 0 for a free one; the setting api.port otherwise."),
]


@app.command()
@speaks_plainly
def up(port: Port = None) -> None:
    """Start everything: page, API, Dagster, and the sync of your vault. Ctrl-C ends it."""
    from companion_app.cli.services import serve

    raise typer.Exit(serve(port))


@app.command()
@speaks_plainly
def demo(
    question: Annotated[str | None, typer.Option("--ask", help="Ask this instead of the first question.")] = None,
    serve: Annotated[
        bool | None, typer.Option("--serve/--no-serve", help="Stay and serve the page afterwards.")
    ] = None,
    port: Port = None,
) -> None:
    """Try Companion on a vault of an invented person: index, ask, then serve the page (on a terminal)."""
    from companion_app.cli.services import run_demo

    raise typer.Exit(run_demo(question, serve, port))


@app.command()
@speaks_plainly
def init(vault: Annotated[Path, typer.Option(help="Folder of your Obsidian vault.")]) -> None:
    """Write a commented settings file for your vault. Never overwrites one."""
    from companion_app.cli.setup import initialise

    initialise(vault)


@app.command()
@speaks_plainly
def doctor(as_json: Json = False) -> None:
    """Show what is in force, where it comes from, and what is missing with the exact remedy."""
    from companion_app.cli.setup import examine

    raise typer.Exit(examine(as_json))


@app.command()
@speaks_plainly
def index(as_json: Json = False, confirm_removals: Confirm = False) -> None:
    """Index the vault: read, cut and embed whatever is new. The first time this is everything."""
    from companion_app.cli.indexing import sync_vault

    raise typer.Exit(sync_vault(as_json=as_json, reason="companion index", confirm_removals=confirm_removals))


@app.command()
@speaks_plainly
def sync(as_json: Json = False, confirm_removals: Confirm = False) -> None:
    """Bring the index up to date with the vault now."""
    from companion_app.cli.indexing import sync_vault

    raise typer.Exit(sync_vault(as_json=as_json, reason="companion sync", confirm_removals=confirm_removals))


@app.command()
@speaks_plainly
def reindex(as_json: Json = False) -> None:
    """Read and cut every note again. Vectors of unchanged text are kept; search goes on meanwhile."""
    from companion_app.cli.indexing import sync_vault

    raise typer.Exit(sync_vault(as_json=as_json, reason="companion reindex", rebuild=True))


@app.command()
@speaks_plainly
def status(
    note: Annotated[str | None, typer.Option(help="Why is this note (not) found? A path or a name.")] = None,
    as_json: Json = False,
) -> None:
    """What is indexed, since when, and what was left out and why."""
    if note is not None:
        from companion_app.cli.note_status import show_note

        show_note(note, as_json=as_json)
        return
    from companion_app.cli.status import show_status

    show_status(as_json=as_json)


@app.command()
@speaks_plainly
def search(
    query: str,
    k: Annotated[int | None, typer.Option("-k", min=1, help="How many hits.")] = None,
    after: Day = None,
    before: Day = None,
    tag: Tags = None,
    folder: Folder = None,
    person: People = None,
    note: NotePath = None,
    as_json: Json = False,
) -> None:
    """Find passages in your notes."""
    with _shown_at_once():
        from companion_app.cli.searching import filters_of, show_hits

    show_hits(query, k, filters_of(after, before, tag, folder, person, note), as_json=as_json)


@app.command()
@speaks_plainly
def ask(
    question: Annotated[str | None, typer.Argument(help="Your question; '-' reads it from standard input.")] = None,
    after: Day = None,
    before: Day = None,
    tag: Tags = None,
    folder: Folder = None,
    person: People = None,
    note: NotePath = None,
    as_json: Json = False,
) -> None:
    """Answer one question from your notes, with the lines it stands on."""
    with _shown_at_once():
        from companion_app.cli.asking import answer_once
        from companion_app.cli.searching import filters_of

    raise typer.Exit(answer_once(question, filters_of(after, before, tag, folder, person, note), as_json=as_json))


@app.command()
@speaks_plainly
def chat(
    session: Annotated[str | None, typer.Option(help="Carry on this conversation.")] = None,
) -> None:
    """Talk with Companion in the terminal."""
    with _shown_at_once():
        from companion_app.cli.asking import converse

    raise typer.Exit(converse(session))


@evaluation.command("retrieval")
@speaks_plainly
def eval_retrieval(
    questions: Annotated[
        Path, typer.Option(metavar="FILE.jsonl", help='A row a line: {"question": …, "evidence": ["Folder/Note.md"]}.')
    ],
    vault: Annotated[
        Path | None, typer.Option(help="Ask this folder of notes, indexed apart from your own; else your own index.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=10, help="Notes ranked for each question.")] = 50,
    today: Annotated[
        dt.datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="The day of asking, where a row names none."),
    ] = None,
    mode: Annotated[Mode, typer.Option(help="auto: as your settings say; or one half of the search alone.")] = "auto",
    run: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Write what was found for each question.")
    ] = None,
    as_json: Json = False,
) -> None:
    """How much of the known evidence does the search find, how early, and how fast?"""
    from companion_app.cli.evaluating import evaluate_retrieval

    day = today.date() if today else None
    evaluate_retrieval(questions, vault, k=k, today=day, mode=mode, run=run, as_json=as_json)


def _shown_at_once() -> "Waiting":
    """What a person sees while the command's own modules load, which takes half a second."""
    from companion_app.cli.waiting import OPENING, Waiting

    return Waiting(OPENING)


def main() -> None:
    """Entry point of the `companion` script."""
    _restart_in_utf8()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # file names and pasted text may be no text at all
    logging.getLogger("companion_app").addHandler(logging.NullHandler())  # warnings are for the log, not the terminal
    logging.getLogger("companion_assets").addHandler(logging.NullHandler())
    app()


def _restart_in_utf8() -> None:
    """Begin anew in Python's UTF-8 mode where the locale is another: its file names would not be those of the vault."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"  # for the processes that we start, too
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
