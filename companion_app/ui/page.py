"""The page's layout, and which handler answers which event."""

from typing import Any

import gradio as gr

from companion_app.desk import Desk
from companion_app.ui.handlers import PageHandlers

_REFRESH_SECONDS = 2.0

# A click on anything with `data-passage` opens that passage; inside the panel `data-close` closes it again.
_OPENS = """
element.addEventListener('click', (click) => {
  const source = click.target.closest('[data-passage]');
  if (source) trigger('open', {passage: source.dataset.passage});
  if (click.target.closest('[data-sync]')) trigger('sync');
  if (click.target.closest('[data-confirm]')) trigger('confirm');
});
"""
_PANEL = """
element.addEventListener('click', (click) => {
  if (!click.target.closest('[data-close]')) return;
  props.value = '';
  requestAnimationFrame(() => window.companion.panelChanged(element));
});
watch('value', () => window.companion.panelChanged(element));
"""


def build_page(desk: Desk) -> gr.Blocks:
    """The page over a desk."""
    name = desk.companion.settings.companion.name
    handlers = PageHandlers(desk)
    page = gr.Blocks(title=name, analytics_enabled=False, fill_width=True)
    with page:
        session = gr.BrowserState("", storage_key="companion-session", secret="companion")
        with gr.Row(elem_id="top", equal_height=True):
            gr.HTML(handlers.brand(), elem_id="brand", apply_default_css=False)
            status = gr.HTML(elem_id="status", apply_default_css=False)
            sync = gr.Button("Sync now", elem_id="sync", size="sm")
            new = gr.Button("New chat", elem_id="new", size="sm")
            gr.Button("Theme", elem_id="theme", size="sm").click(None, js="() => window.companion.toggleTheme()")
        notices = gr.HTML(elem_id="notices", js_on_load=_OPENS, apply_default_css=False)
        with gr.Row(elem_id="room"):
            with gr.Column(elem_id="talk"):
                welcome = gr.HTML(elem_id="welcome", js_on_load=_OPENS, apply_default_css=False)
                history = gr.HTML(elem_id="history", js_on_load=_OPENS, apply_default_css=False)
                live = gr.HTML(elem_id="live", js_on_load=_OPENS, apply_default_css=False)
            panel = gr.HTML(elem_id="panel", js_on_load=_PANEL, apply_default_css=False)
        with gr.Row(elem_id="composer"):
            question = gr.Textbox(
                elem_id="question",
                show_label=False,
                label="Your question",
                placeholder="Ask your notes …",
                lines=1,
                max_lines=6,
                max_length=8000,
                container=False,
                autofocus=True,
            )
            send = gr.Button("Ask", elem_id="send", variant="primary", size="sm")
            stop = gr.Button("Stop", elem_id="stop", size="sm", visible="hidden")
        quietly: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "concurrency_limit": None}
        told = [history, live, question, session, send, stop]
        gr.on([question.submit, send.click], handlers.ask, [question, session], told, **quietly)
        stop.click(handlers.stop, session, None, **quietly)
        new.click(handlers.new, session, [*told, panel], **quietly)
        page.load(handlers.resume, session, told, **quietly)
        for place in (welcome, history, live):
            place.open(handlers.open, session, panel, **quietly)
        looks = [status, notices, welcome]
        sync.click(handlers.sync, session, looks, **quietly)
        welcome.sync(handlers.sync, session, looks, **quietly)
        notices.confirm(handlers.confirm, session, looks, **quietly)
        gr.on([page.load, gr.Timer(_REFRESH_SECONDS).tick], handlers.look, session, looks, **quietly)
    page.queue(default_concurrency_limit=None, api_open=False)
    return page
