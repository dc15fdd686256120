"""Pictures for materialisations."""

import base64
import datetime as dt
import io
import time
from collections.abc import Mapping
from typing import Any


def plot_counts(history: Mapping[float, tuple[int, int]], present: tuple[int, int]) -> str:
    """Notes and chunks over time.

    Args:
        history: Unix time → (notes, chunks), oldest first.
        present: The counts now.

    Returns:
        A PNG, base64.
    """
    # Imported here: half a second that only a run which changed something should pay.
    from matplotlib.figure import Figure

    points = {**history, time.time(): present}
    days: Any = [dt.datetime.fromtimestamp(moment, dt.UTC) for moment in points]
    figure = Figure(figsize=(6, 2.4), layout="constrained")
    axes = figure.subplots()
    for position, label in enumerate(("notes", "chunks")):
        axes.plot(days, [counts[position] for counts in points.values()], marker=".", label=label)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, loc="upper left")
    axes.tick_params(axis="x", labelrotation=20, labelsize=7)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90)
    return base64.b64encode(buffer.getvalue()).decode()
