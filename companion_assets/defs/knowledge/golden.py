"""A check that nobody waits for: does the index that is live find what a file of questions knows to be there?

It runs when somebody asks for it in Dagster's page, never in a sync.
"""

import datetime as dt
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import dagster as dg

from companion_assets.contracts.settings_knowledge import EvaluationSettings, FloorSettings
from companion_assets.defs.knowledge.assets import vault_index
from companion_assets.defs.resources import evaluation_settings, open_search
from companion_assets.stages.evaluation import DEPTH, PASSAGES, Figures, Outcome, Report, evaluate
from companion_assets.stages.questions import Question, QuestionFile, read_questions

if TYPE_CHECKING:
    from companion_assets.retrieval.search import Search


@dg.asset_check(
    asset=vault_index,
    description="The search finds what the questions of rag.evaluation are known to be answered by.",
)
def retrieval_golden() -> dg.AssetCheckResult:
    """Ask every question of the file; pass where all floors are reached."""
    settings = evaluation_settings()
    if settings.questions is None:
        return dg.AssetCheckResult(passed=True, description="Skipped: rag.evaluation.questions names no file.")
    file = read_questions(settings.questions)
    if not file.questions:
        return dg.AssetCheckResult(passed=False, description=f"{settings.questions} holds no question to be asked.")
    with open_search() as search:
        report = evaluate([_asked(search, question) for question in file.questions])
    missed = list(_missed(report.whole, settings.floors))
    return dg.AssetCheckResult(
        passed=not missed,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(missed) or "Every floor is reached.",
        metadata=_metadata(report, file, settings),
    )


def _asked(search: "Search", question: Question) -> Outcome:
    """What the search makes of one question: as chat asks it, and ranked as a whole."""
    today = question.today or dt.date.today()  # noqa: DTZ011 (the person's own day)
    started = time.perf_counter()
    seen = search.find(question.text, k=search.settings.default_top_k, today=today)
    seconds = time.perf_counter() - started
    ranked = search.find(question.text, k=DEPTH * PASSAGES, today=today, everything=True)
    notes = tuple(hit.path for hit in ranked.hits)
    return Outcome(question, notes, seen.relevant, seen.strength == "strong", seconds)


def _missed(figures: Figures, floors: FloorSettings) -> Iterator[str]:
    """A few words for each floor that is not reached."""
    reached = {**figures.metrics, "marked": 1.0 if figures.marked is None else figures.marked}
    for name, floor in floors.model_dump().items():
        metric = name.replace("_at_", "@")
        if reached.get(metric, 1.0) < floor:
            yield f"{metric} is {reached[metric]:.3f}, the floor is {floor:g}"


def _metadata(report: Report, file: QuestionFile, settings: EvaluationSettings) -> dict[str, dg.MetadataValue]:
    slices = {"all": report.whole, **report.by_category, **report.by_language}
    names = list(report.whole.metrics)
    columns = [dg.TableColumn("slice", "string"), *(dg.TableColumn(name, "float") for name in names)]
    records = [
        dg.TableRecord({"slice": name, **{metric: round(figures.metrics[metric], 4) for metric in names}})
        for name, figures in slices.items()
        if figures.metrics
    ]
    marked = report.whole.marked
    return {
        "questions": dg.MetadataValue.path(str(settings.questions)),
        "asked": dg.MetadataValue.int(len(file.questions)),
        "left_out": dg.MetadataValue.int(len(file.faults)),
        "figures": dg.MetadataValue.table(records, dg.TableSchema(columns)),
        "milliseconds_p50": dg.MetadataValue.float(round(report.p50, 2)),
        "milliseconds_p95": dg.MetadataValue.float(round(report.p95, 2)),
        **({"marked": dg.MetadataValue.float(round(marked, 4))} if marked is not None else {}),
    }
