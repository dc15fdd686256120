"""The 40 questions of the demo vault, asked as a person would: are they answered, and is the citation right?

    python -m benchmarks.demo_questions [--out FILE] [--only q01,q02] [--verbose]

Uses the settings in force, a data root of its own and the real models. A question counts when the reply holds what it
must hold and cites a note that says so; an unanswerable one counts when nothing is answered.
"""

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from companion_app.bootstrap import Companion, open_companion
from companion_app.events import Final, Sources
from companion_app.phrases import is_abstention
from companion_assets.contracts.paths import HOME_VARIABLE, data_paths


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question went. Times in seconds."""

    row: dict[str, Any]
    reply: str
    found: bool
    answered: bool
    cited: bool
    right: bool
    sources_after: float
    first_token: float
    prefill: float
    uncached: int
    overhead: float


def main() -> None:
    """Index the demo vault, ask everything, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault(HOME_VARIABLE, home)
        os.environ["COMPANION_VAULT__PATH"] = str(files("companion_app.demo") / "vault")
        os.environ["COMPANION_COMPANION__CHAT__DEFAULT_TEMPERATURE"] = "0"
        index_demo()
        companion = open_companion()
        companion.generator()
        outcomes = [ask(companion, row) for row in questions(chosen.only)]
        table = report(outcomes, companion.model_state().model or "no model")
        companion.close()
    if chosen.verbose:
        for outcome in outcomes:
            print("ok  " if outcome.right else "FAIL", outcome.row["id"], outcome.row["question"])
            print("     ", " ".join(outcome.reply.split()), f"({outcome.first_token:.1f} s)")
    print(table)
    if chosen.out:
        chosen.out.write_text(table + "\n", encoding="utf-8")


def index_demo() -> None:
    """The real sync job on the demo vault."""
    from companion_assets.daemon.launching import run_sync
    from companion_assets.definitions import defs

    result = run_sync(data_paths(), defs, reason="benchmark")
    print(f"indexed in {result.seconds:.1f} s: {result.counts['embeddings']}")
    assert result.success, result.failure


def questions(only: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows of `questions.jsonl`."""
    text = (files("companion_app.demo") / "questions.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [row for row in rows if only is None or row["id"] in only]


def ask(companion: Companion, row: dict[str, Any]) -> Outcome:
    """One question in a conversation of its own."""
    sources: Sources | None = None
    final: Final | None = None
    for event in companion.session().reply(row["question"]):
        sources = event if isinstance(event, Sources) else sources
        final = event if isinstance(event, Final) else final
    assert sources is not None
    assert final is not None
    reply = final.turn.reply
    evidence = set(row["evidence"])
    folded = reply.casefold()
    answered = all(any(form.casefold() in folded for form in group) for group in row["expect"])
    cited = any(citation.path in evidence for citation in final.turn.citations)
    right = (answered and cited) if row["answerable"] else is_abstention(reply)
    timings = final.timings
    return Outcome(
        row=row,
        reply=reply,
        found=any(citation.path in evidence for citation in sources.citations),
        answered=answered,
        cited=cited,
        right=right,
        sources_after=sources.seconds,
        first_token=timings["first_token"],
        prefill=timings.get("prefill", 0.0),
        uncached=final.counts.get("prompt", 0) - final.counts.get("cached", 0),
        overhead=timings["plan"] if "plan" in timings else timings["first_token"],
    )


def report(outcomes: Sequence[Outcome], model: str) -> str:
    """A Markdown table by kind of question, and the times."""
    lines = ["| kind | questions | evidence found | answered | right and cited |", "| --- | --: | --: | --: | --: |"]
    kinds = sorted({outcome.row["category"] for outcome in outcomes})
    for kind in [*kinds, "all"]:
        group = [outcome for outcome in outcomes if kind in ("all", outcome.row["category"])]
        counts = (len(group), *(sum(getattr(o, name) for o in group) for name in ("found", "answered", "right")))
        lines.append(f"| {kind} | " + " | ".join(str(count) for count in counts) + " |")
    written = [outcome for outcome in outcomes if outcome.prefill]
    lines += ["", f"Model: {model}. {len(written)} replies written by it."]
    for name, values in (
        ("sources on screen", [o.sources_after for o in outcomes]),
        ("first token", [o.first_token for o in written]),
        ("before the model is asked", [o.overhead for o in outcomes]),
    ):
        if values:
            lines.append(f"{name}: median {statistics.median(values):.3f} s, worst {max(values):.3f} s.  ")
    if written:
        ratios = [o.first_token / o.prefill for o in written]
        tokens = statistics.median(o.uncached for o in written)
        lines.append(
            f"first token / the model's own prefill: median {statistics.median(ratios):.3f}; {tokens:.0f} tokens."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
