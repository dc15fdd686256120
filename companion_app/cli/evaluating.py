"""`eval retrieval`: the search that chat uses, asked questions whose evidence is known.

Each question is searched twice: as chat does, which gives the time it takes and whether anything is relevant, and with
nothing cut off, which gives the ranking. A vault that is not the person's own is indexed in a room of its own under the
cache, from which the next call goes on; the person's data root is never touched by it.
"""

import datetime as dt
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from companion_app.bootstrap import Companion
from companion_app.cli.console import err, print_json
from companion_app.cli.figures import document_of, show_report
from companion_app.cli.indexing import run_watched
from companion_app.cli.opening import open_here
from companion_app.cli.waiting import Waiting
from companion_app.retrieval import Retrieval, Retriever
from companion_assets.contracts.errors import CompanionError, VaultError
from companion_assets.contracts.paths import CONFIG_VARIABLE, HOME_VARIABLE, cache_dir, data_paths
from companion_assets.contracts.settings import SearchSettings
from companion_assets.stages.evaluation import PASSAGES, Outcome, ask, evaluate, score
from companion_assets.stages.questions import Question, note_path, read_questions
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.settings_file import load_settings

_EXAMPLE = 'one JSON object a line: {"question": "…", "evidence": ["Folder/Note.md"]}'
_SHOWN = 20


def evaluate_retrieval(
    questions: Path, vault: Path | None, *, k: int, today: dt.date | None, mode: str, run: Path | None, as_json: bool
) -> None:
    """Ask every question of a file and print the figures.

    Args:
        questions: JSON lines, see `stages.questions`.
        vault: Its index is made or brought up to date first; None asks the installed index.
        k: Notes ranked for each question.
        today: The day of asking where a row names none; None is today.
        mode: `auto` is as the settings say; `words` and `meaning` are one half of the search alone.
        run: Written with what was found, a JSON object a line.
        as_json: Print the figures for another program.

    Raises:
        CompanionError: No question can be asked, or nothing is indexed.
    """
    file = read_questions(questions)
    if not file.questions:
        _say(questions, {"faults": file.faults})
        raise CompanionError(f"{questions} holds no question that can be asked", _EXAMPLE)
    if vault is not None:
        _move_into_room_of(vault, visible=not as_json or err.lively)
    with closing(open_here()) as companion:
        outcomes, notices = _ask_all(companion, file.questions, k, today, mode)
        manifest = companion.engines.index().manifest
    remarks = {
        "faults": [*file.faults, *(f"{each.question.key}: {each.fault}" for each in outcomes if each.fault)],
        "notices": sorted(notices),
        "evidence_not_indexed": _absent(file.questions),
    }
    report = evaluate(outcomes)
    if run is not None:
        run.write_text("".join(map(_run_line, outcomes)), encoding="utf-8")
    _say(questions, remarks)
    if as_json:
        index = {"passages": manifest.chunks, "embedder": manifest.embedder.model}
        print_json({"mode": mode, "index": index, **document_of(report), **remarks})
    else:
        show_report(report)


def _move_into_room_of(vault: Path, *, visible: bool) -> None:
    """Point this process at a data root kept for that vault, under the person's settings, and sync it.

    Raises:
        VaultError: It is no folder.
        CompanionError: It cannot be indexed.
    """
    folder = vault.expanduser().resolve()
    if not folder.is_dir():
        raise VaultError(f"{vault} is not a folder", "companion eval retrieval --vault PATH")
    settings = load_settings().path
    if settings is not None:
        os.environ[CONFIG_VARIABLE] = str(settings)
    key = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    room = cache_dir() / "evaluation" / f"{re.sub(r'[^A-Za-z0-9]+', '-', folder.name).strip('-')}-{key}"
    os.environ[HOME_VARIABLE] = str(room)
    os.environ["COMPANION_VAULT__PATH"] = str(folder)
    try:
        prepare_data_root(data_paths(), folder)
    except CompanionError as fault:
        raise VaultError(
            fault.message, f"set XDG_CACHE_HOME to a folder that can be written, outside {folder}"
        ) from fault
    # The folder is as it is: what is gone from it is not waited for.
    result = run_watched(data_paths(), visible=visible, reason="companion eval", confirm_removals=True)
    if not result.success:
        raise CompanionError(f"{folder} could not be indexed: {result.failure}", f"rm -r {room}, then try again")


def _ask_all(
    companion: Companion, questions: Sequence[Question], k: int, today: dt.date | None, mode: str
) -> tuple[list[Outcome], set[str]]:
    """What became of the questions, and what the search had to say while they were asked.

    Raises:
        CompanionError: None of them could be searched.
    """
    settings = _settings_for(mode, companion.settings.rag.search)
    retriever = companion.open_retriever(settings)
    notices: set[str] = set()
    with Waiting("opening the index") as waiting:
        retriever.retrieve(companion.settings.companion.name)  # the first search would pay for opening everything
        outcomes = []
        for number, question in enumerate(questions, 1):
            waiting.now(f"asking {number:,} of {len(questions):,}")
            outcomes.append(_ask(retriever, question, k, question.today or today, notices))
    if all(each.fault for each in outcomes):
        raise CompanionError(f"no question could be searched: {outcomes[0].fault}", "companion doctor")
    return outcomes, notices - {""}


def _settings_for(mode: str, settings: SearchSettings) -> SearchSettings:
    """The settings in force, with one half of the search alone if only that is wanted: then without a reranker."""
    halves: dict[str, dict[str, object]] = {
        "auto": {},
        "words": {"enabled": True, "keyword_weight": 1.0, "semantic_weight": 0.0},
        "meaning": {"enabled": False},
    }
    hybrid = settings.hybrid_search.model_copy(update=halves[mode])
    reranker = settings.reranker if mode == "auto" else "none"
    return settings.model_copy(update={"hybrid_search": hybrid, "reranker": reranker})


def _ask(retriever: Retriever, question: Question, k: int, today: dt.date | None, notices: set[str]) -> Outcome:
    def look(everything: bool) -> Retrieval:
        wanted = k * PASSAGES if everything else None
        found = retriever.retrieve(question.text, k=wanted, today=today, everything=everything)
        notices.add(found.notice)
        return found

    return ask(question, look, k)


def _absent(questions: Iterable[Question]) -> list[str]:
    """Evidence that is no note of the index: no search could find it."""
    view = CatalogView(data_paths().catalog_db)
    try:
        known = set(map(note_path, view.paths()))
    finally:
        view.close()
    return sorted({note for question in questions for note in question.evidence} - known)


def _run_line(outcome: Outcome) -> str:
    question = outcome.question
    row = {
        "id": question.key,
        "question": question.text,
        "paths": outcome.notes,
        "relevant": outcome.relevant,
        "strong": outcome.strong,
        "score": round(outcome.best, 4),
        "seconds": round(outcome.seconds, 5),
        **({"fault": outcome.fault} if outcome.fault else {}),
        **(score(question, outcome.notes) if question.answerable else {}),
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


def _say(file: Path, remarks: Mapping[str, Sequence[str]]) -> None:
    """Tell what was left out, and what may have lowered the figures."""
    faults, absent = remarks["faults"], remarks.get("evidence_not_indexed", ())
    for fault in faults[:_SHOWN]:
        err.say(f"error: {file.name}, {fault}", style="yellow")
    if len(faults) > _SHOWN:
        err.say(f"and {len(faults) - _SHOWN:,} more like that", style="yellow")
    for notice in remarks.get("notices", ()):
        err.say(notice, style="yellow")
    if absent:
        more = f" and {len(absent) - _SHOWN:,} more" if len(absent) > _SHOWN else ""
        err.say(f"not in the index, though named as evidence: {', '.join(absent[:_SHOWN])}{more}", style="yellow")
