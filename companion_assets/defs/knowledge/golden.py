"""A check that nobody waits for: does the index that is live find what a file of questions knows to be there?

It runs when somebody asks for it in Dagster's page, never in a sync.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from companion_assets.contracts.settings_knowledge import EvaluationSettings, FloorSettings
from companion_assets.defs.knowledge.assets import vault_index
from companion_assets.defs.resources import evaluation_settings, open_search
from companion_assets.stages.evaluation import DEPTH, PASSAGES, Figures, Outcome, Report, ask, evaluate
from companion_assets.stages.questions import Question, QuestionFile, read_questions

if TYPE_CHECKING:
    from companion_assets.retrieval.search import Found, Search


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
        outcomes = [_asked(search, question) for question in file.questions]
    failed = [f"{each.question.key}: {each.fault}" for each in outcomes if each.fault]
    if len(failed) == len(outcomes):
        return dg.AssetCheckResult(passed=False, description=f"No question could be searched: {outcomes[0].fault}")
    report = evaluate(outcomes)
    missed = list(_missed(report.whole, settings.floors))
    if failed:
        missed.append(f"{len(failed)} could not be searched, the first is {failed[0]}")
    return dg.AssetCheckResult(
        passed=not missed,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(missed) or "Every floor is reached.",
        metadata=_metadata(report, file, settings, failed),
    )


def _asked(search: "Search", question: Question) -> Outcome:
    today = question.today or dt.date.today()  # noqa: DTZ011 (the person's own day)

    def look(everything: bool) -> "Found":
        k = DEPTH * PASSAGES if everything else search.settings.default_top_k
        return search.find(question.text, k=k, today=today, everything=everything)

    return ask(question, look)


def _missed(figures: Figures, floors: FloorSettings) -> Iterator[str]:
    """A few words for each floor that is not reached; a floor for which there is no figure is not."""
    reached = {**figures.metrics, **({} if figures.marked is None else {"marked": figures.marked})}
    for name, floor in floors.model_dump().items():
        metric = name.replace("_at_", "@")
        if metric not in reached and floor > 0:
            yield f"no question tells {metric}, the floor is {floor:g}"
        elif metric in reached and reached[metric] < floor:
            yield f"{metric} is {reached[metric]:.3f}, the floor is {floor:g}"


def _metadata(
    report: Report, file: QuestionFile, settings: EvaluationSettings, failed: Sequence[str]
) -> dict[str, dg.MetadataValue]:
    slices = [
        ("", "all", report.whole),
        *(("category", *one) for one in report.by_category.items()),
        *(("language", *one) for one in report.by_language.items()),
    ]
    names = list(report.whole.metrics)
    texts = [dg.TableColumn(name, "string") for name in ("by", "slice")]
    columns = [*texts, *(dg.TableColumn(name, "float") for name in names)]
    records = [
        dg.TableRecord({"by": by, "slice": name, **{metric: round(figures.metrics[metric], 4) for metric in names}})
        for by, name, figures in slices
        if figures.metrics
    ]
    marked = report.whole.marked
    return {
        "questions": dg.MetadataValue.path(str(settings.questions)),
        "asked": dg.MetadataValue.int(len(file.questions)),
        "left_out": dg.MetadataValue.int(len(file.faults)),
        "failed": dg.MetadataValue.json(list(failed)),
        "figures": dg.MetadataValue.table(records, dg.TableSchema(columns)),
        "milliseconds_p50": dg.MetadataValue.float(round(report.p50, 2)),
        "milliseconds_p95": dg.MetadataValue.float(round(report.p95, 2)),
        **({"marked": dg.MetadataValue.float(round(marked, 4))} if marked is not None else {}),
    }
