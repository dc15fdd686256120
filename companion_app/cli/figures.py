"""Figures of an evaluation: as a table for a person, as a document for a program."""

from typing import Any

from rich.table import Table
from rich.text import Text

from companion_app.cli.console import out
from companion_assets.stages.evaluation import METRICS, Figures, Report

_DIGITS = 4
_WIDTH = 5  # of a figure
_BOUNDED = ("mrr", "recall@10", "full@10")
_TITLES = ("n", *(name.replace("recall", "r") for name in METRICS), "untold", "marked")


def document_of(report: Report) -> dict[str, Any]:
    """Plain values only; a figure without questions is null."""
    return {
        "all": _figures(report.whole),
        "by_category": {name: _figures(figures) for name, figures in report.by_category.items()},
        "by_language": {name: _figures(figures) for name, figures in report.by_language.items()},
        "milliseconds": {"p50": round(report.p50, 2), "p95": round(report.p95, 2)},
    }


def show_report(report: Report) -> None:
    """Print the table, and under it what a table cannot hold."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for title in _TITLES:
        table.add_column(title, justify="right", no_wrap=True, min_width=max(_WIDTH, len(title)))
    table.add_row("all questions", *_cells(report.whole), style="bold")
    for heading, slices in (("category", report.by_category), ("language", report.by_language)):
        if slices:
            table.add_row()
            table.add_row(heading, style="dim")
        for name, figures in slices.items():
            table.add_row(Text(name), *_cells(figures))
    out.print(table)
    out.print()
    whole = report.whole
    if whole.bounds:
        bounds = (f"{name} {low:.3f}–{high:.3f}" for name, (low, high) in whole.bounds.items() if name in _BOUNDED)
        out.say(f"95 % bounds: {', '.join(bounds)}", style="dim")
    for name, rightly, wrongly in (
        ("nothing relevant", whole.marked, whole.wrongly_marked),
        ("nothing, or only weak evidence", whole.doubted, whole.wrongly_doubted),
    ):
        shares = ((rightly, "questions without an answer"), (wrongly, "questions with one"))
        told = (f"{share:.0%} of the {which}" for share, which in shares if share is not None)
        out.say(f"{name} was found for {' and '.join(told)}", style="dim")
    out.say(f"a search took {report.p50:.1f} ms (p50), {report.p95:.1f} ms (p95)", style="dim")


def _cells(figures: Figures) -> list[str]:
    metrics = [f"{figures.metrics[name]:.3f}" if figures.metrics else "–" for name in METRICS]
    marked = "–" if figures.marked is None else f"{figures.marked:.0%}"
    return [f"{figures.answerable or '–'}", *metrics, f"{figures.unanswerable or '–'}", marked]


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "answerable": figures.answerable,
        **{name: round(figures.metrics[name], _DIGITS) if figures.metrics else None for name in METRICS},
        **{f"{name} 95%": [round(low, _DIGITS), round(high, _DIGITS)] for name, (low, high) in figures.bounds.items()},
        "unanswerable": figures.unanswerable,
        "marked": _rounded(figures.marked),
        "wrongly_marked": _rounded(figures.wrongly_marked),
        "doubted": _rounded(figures.doubted),
        "wrongly_doubted": _rounded(figures.wrongly_doubted),
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, _DIGITS)
