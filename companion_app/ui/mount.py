"""Puts the page on the API's application."""

from importlib.resources import files

import gradio as gr
from fastapi import FastAPI

from companion_app.desk import Desk
from companion_app.ui.page import build_page
from companion_app.ui.theme import obsidian_theme

_HEAD = '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'

_SECONDS_BETWEEN_LOOKS = 0.03


def mount_page(app: FastAPI, desk: Desk) -> None:
    """Mount the page at `/`."""
    room = files("companion_app.ui")
    script = (room / "page.js").read_text(encoding="utf-8")
    # In the head and not in `css`, where Gradio would confine every rule to the inside of its own container.
    style = (room / "page.css").read_text(encoding="utf-8")
    page = build_page(desk)
    # Gradio looks a thousand times a second whether somebody has clicked: 3 % of a core for nothing.
    page._queue.sleep_when_free = _SECONDS_BETWEEN_LOOKS
    gr.mount_gradio_app(
        app,
        page,
        path="/",
        theme=obsidian_theme(),
        head=f"{_HEAD}<style>{style}</style><script>{script}</script>",
        footer_links=[],
        run_history=False,
        show_error=False,
        max_file_size="1mb",
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        enable_monitoring=False,
    )
