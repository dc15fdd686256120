"""How much of the known evidence the search finds: as it is, and each half alone, with the spread over five folds.

    python -m benchmarks.retrieval [--set NAME FILE.jsonl VAULT]…

Without `--set` the golden questions on the demo vault. Runs `companion eval retrieval`, whose figures are explained in
`companion_assets/stages/evaluation.py`. A fold is every fifth question: how far the folds lie apart says how little a
small difference means. Writes `benchmarks/results/retrieval.md`.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.made_vault import DEMO, write_results

FOLDS = 5
MODES = ("auto", "words", "meaning")
FIGURES = ("mrr", "hit@1", "recall@8", "recall@10", "full@10")
GOLDEN = ("golden", "tests/golden/demo_vault.jsonl", str(DEMO))


def ask(file: str, vault: str, mode: str) -> list[dict[str, Any]]:
    """What was found for each question of a file, with the question's own row beside it."""
    with tempfile.TemporaryDirectory() as room:
        run = Path(room) / "run.jsonl"
        command = [sys.executable, "-m", "companion_app", "eval", "retrieval", "--questions", file, "--vault", vault]
        subprocess.run([*command, "--mode", mode, "--run", str(run), "--json"], check=True, stdout=subprocess.DEVNULL)
        found = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
    asked = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines() if line.strip()]
    return [{**row, **hits} for row, hits in zip(asked, found, strict=True)]


def figures(rows: list[dict[str, Any]]) -> list[str]:
    """The means over the questions that have an answer."""
    answered = [row for row in rows if "mrr" in row]
    return [f"{statistics.fmean(row[name] for row in answered):.3f}" for name in FIGURES]


def spread(rows: list[dict[str, Any]]) -> list[str]:
    """The lowest and the highest of the folds' means."""
    answered = [row for row in rows if "mrr" in row]
    folds = [answered[start::FOLDS] for start in range(FOLDS)]
    means = [[statistics.fmean(row[name] for row in fold) for fold in folds] for name in FIGURES]
    return [f"{min(each):.3f}–{max(each):.3f}" for each in means]


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def tables(name: str, file: str, vault: str) -> list[str]:
    """The tables of one set."""
    runs = {mode: ask(file, vault, mode) for mode in MODES}
    rows = runs["auto"]
    count = sum("mrr" in row for row in rows)
    heads = ["", *FIGURES]
    lines = [f"## {name}: {count} questions with an answer, {len(rows) - count} without", ""]
    lines += [line(heads), line(["---", *["---:"] * len(FIGURES)])]
    lines += [line([mode, *figures(runs[mode])]) for mode in MODES]
    lines += [line([f"auto, {FOLDS} folds", *spread(rows)])]
    for key in ("category", "language"):
        slices = defaultdict(list)
        for row in rows:
            if "mrr" in row:
                slices[row.get(key) or ""].append(row)
        if len(slices) > 1:
            lines += ["", line([key, *FIGURES]), line(["---", *["---:"] * len(FIGURES)])]
            lines += [line([f"{value} ({len(part)})", *figures(part)]) for value, part in sorted(slices.items())]
    seconds = sorted(row["seconds"] for row in rows)
    lines += ["", f"A search took {statistics.median(seconds) * 1000:.0f} ms (median)."]
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs=3, action="append", metavar=("NAME", "FILE", "VAULT"), default=[])
    options = parser.parse_args()
    write_results("retrieval", "\n".join(part for each in [GOLDEN, *options.set] for part in tables(*each)))


if __name__ == "__main__":
    main()
