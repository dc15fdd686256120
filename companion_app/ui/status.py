"""The status line and what stands on the page before the first question."""

import datetime as dt
from html import escape

from companion_app.desk import Standing
from companion_assets.stores.progress import Progress

_MODEL = {"loading": "model loading …", "none": "no model: answers are quotes", "failed": "model failed"}


def status_line(standing: Standing) -> str:
    """Notes, passages, last sync, model; while a sync runs what it does, with a bar."""
    parts = [_index_words(standing)]
    if standing.sync.running:
        parts.append(_progress_words(standing.sync.progress))
    elif standing.index:
        parts.append(f"synced {_ago(standing.index.published_at)}")
    model = standing.model
    name = model.model if model.state == "ready" else _MODEL.get(model.state, model.state)
    words = " · ".join(escape(part) for part in parts if part)
    bar = _bar(standing.sync.progress) if standing.sync.running else ""
    failure = standing.fault or standing.sync.failure
    trouble = f'<span class="trouble">{escape(failure)}</span>' if failure else ""
    detail = f' title="{escape(model.detail, quote=True)}"' if model.detail else ""
    return (
        f'<div class="status" role="status"><span>{words}</span>'
        f'<span class="model"{detail}><b class="dot {escape(model.state)}"></b><span>{escape(name)}</span></span>'
        f"{trouble}</div>{bar}"
    )


def welcome(standing: Standing, name: str) -> str:
    """What an empty conversation shows."""
    if not standing.vault:
        return _card("No vault yet", "Tell Companion where your notes are: companion init --vault PATH", "")
    if standing.index is None and standing.sync.running:
        return _card("Reading your notes", _progress_words(standing.sync.progress), _bar(standing.sync.progress))
    if standing.index is None:
        button = '<button type="button" class="act" data-sync>Sync now</button>'
        return _card("Nothing is indexed yet", "Companion reads your notes once; they stay where they are.", button)
    return _card(
        "What would you like to know?",
        f"{name} answers from your notes and cites the lines. Open a number to read them in place.",
        "",
    )


def _card(title: str, text: str, more: str) -> str:
    return f'<div class="welcome"><h2>{escape(title)}</h2><p>{escape(text)}</p>{more}</div>'


def _index_words(standing: Standing) -> str:
    if standing.index is None:
        return "" if standing.sync.running else "nothing indexed yet"
    return f"{standing.index.notes:,} notes · {standing.index.chunks:,} passages"


def _progress_words(progress: Progress | None) -> str:
    if progress is None:
        return "sync is starting …"
    count = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
    return f"{progress.phase} {progress.folder}{count}"


def _bar(progress: Progress | None) -> str:
    if progress is None or not progress.total:
        return '<progress class="bar" aria-label="Sync"></progress>'
    return f'<progress class="bar" aria-label="Sync" max="{progress.total}" value="{progress.done}"></progress>'


def _ago(moment: str) -> str:
    """How long ago an ISO time was: `5 minutes ago`."""
    try:
        then = dt.datetime.fromisoformat(moment)
    except ValueError:
        return moment
    then = then if then.tzinfo else then.replace(tzinfo=dt.UTC)
    seconds = (dt.datetime.now(dt.UTC) - then).total_seconds()
    if seconds < 90:
        return "just now"
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"
