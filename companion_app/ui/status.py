"""The status line, what a person should know, and what stands on the page before the first question."""

from html import escape

from companion_app.desk import Standing
from companion_app.standing import ago, progress_words
from companion_assets.contracts.records import HeldRemovals
from companion_assets.stores.progress import Progress

_MODEL = {"loading": "model loading …", "none": "no model: answers are quotes", "failed": "model failed"}


def status_line(standing: Standing) -> str:
    """Notes, passages, last sync, watch, model; while a sync runs what it does, with a bar."""
    known, sync = standing.knowledge, standing.sync
    parts = [_index_words(standing)]
    if sync.running:
        parts.append(_progress_words(sync.progress))
    elif known.index:
        parts += [f"synced {ago(known.synced_at or known.index.published_at)}", known.watching.words]
    model = standing.model
    name = model.model if model.state == "ready" else _MODEL.get(model.state, model.state)
    words = " · ".join(escape(part) for part in parts if part)
    bar = _bar(sync.progress) if sync.running else ""
    trouble = f'<span class="trouble">{escape(sync.failure)}</span>' if sync.failure else ""
    detail = f' title="{escape(model.detail, quote=True)}"' if model.detail else ""
    return (
        f'<div class="status" role="status"><span>{words}</span>'
        f'<span class="model"{detail}><b class="dot {escape(model.state)}"></b><span>{escape(name)}</span></span>'
        f"{trouble}</div>{bar}"
    )


def notices(standing: Standing) -> str:
    """What a person should know, one line each; notes that are held can be let go with two clicks."""
    known = standing.knowledge
    lines = [f"<p>{escape(sentence)}</p>" for sentence in known.notices]
    if known.held and not known.vault_fault:
        lines.append(_held(known.held))
    return f'<div class="notices" role="status">{"".join(lines)}</div>' if lines else ""


def welcome(standing: Standing, name: str) -> str:
    """What an empty conversation shows."""
    known, sync = standing.knowledge, standing.sync
    if not known.vault:
        return _card("No vault yet", "Tell Companion where your notes are: companion init --vault PATH", "")
    if known.index is None and sync.running:
        return _card("Reading your notes", _progress_words(sync.progress), _bar(sync.progress))
    if known.index is None:
        button = '<button type="button" class="act" data-sync>Sync now</button>'
        return _card("Nothing is indexed yet", "Companion reads your notes once; they stay where they are.", button)
    return _card(
        "What would you like to know?",
        f"{name} answers from your notes and cites the lines. Open a number to read them in place.",
        "",
    )


def _held(held: HeldRemovals) -> str:
    """The first click opens the question, the second one answers it."""
    what = f"{held.vanished:,} {'note' if held.vanished == 1 else 'notes'}"
    examples = ", ".join(held.examples)
    return (
        f"<p>{held.vanished:,} of {held.known:,} notes vanished at once. "
        "They stay in the index, in case a disk is just not connected.</p>"
        f'<details><summary>Remove {what} from the index …</summary><p class="aside">Among them: {escape(examples)}</p>'
        f'<button type="button" class="act" data-confirm>Yes, remove {what}</button></details>'
    )


def _card(title: str, text: str, more: str) -> str:
    return f'<div class="welcome"><h2>{escape(title)}</h2><p>{escape(text)}</p>{more}</div>'


def _index_words(standing: Standing) -> str:
    index = standing.knowledge.index
    if index is None:
        return "" if standing.sync.running else "nothing indexed yet"
    return f"{index.notes:,} notes · {index.chunks:,} passages"


def _progress_words(progress: Progress | None) -> str:
    return progress_words(progress) if progress else "sync is starting …"


def _bar(progress: Progress | None) -> str:
    if progress is None or not progress.total:
        return '<progress class="bar" aria-label="Sync"></progress>'
    return f'<progress class="bar" aria-label="Sync" max="{progress.total}" value="{progress.done}"></progress>'
