"""A real Chromium on the real page. Nothing may leave this machine, and nothing may fail on the way."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, ViewportSize, sync_playwright

from companion_app.desk import Desk
from companion_assets.contracts.paths import data_paths
from tests.app.small_app import NOTES, SlowModel, index_vault, open_desk, running, write_vault

REPLY = "The top is **4.2 mm** now [1], as you wrote. The bass bar is spruce [1]. Nothing else was changed that day."
SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if _CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


Open = Callable[..., Page]


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Open]:
    """Opens an address in a new browser context, waits for the page, and watches everything it does."""
    contexts: list[BrowserContext] = []
    trouble: list[str] = []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: trouble.append(f"error on the page: {error}"))
        page.on("console", lambda said: trouble.append(f"console: {said.text}") if _complains(said) else None)
        page.on("request", lambda request: trouble.append(f"left: {request.url}") if _leaves(request) else None)
        page.on("response", lambda got: trouble.append(f"{got.status} {got.url}") if got.status >= 400 else None)
        page.on("requestfailed", lambda request: None if _closed(request) else trouble.append(f"failed: {request.url}"))

    def opens(address: str, width: int = 1440, height: int = 900, scheme: Literal["light", "dark"] = "light") -> Page:
        size = ViewportSize(width=width, height=height)
        context = chromium.new_context(viewport=size, color_scheme=scheme)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        page.goto(address)
        page.wait_for_selector("#question textarea")
        page.wait_for_selector(".status")
        return page

    yield opens
    for context in contexts:
        context.close()
    assert trouble == []


def _leaves(request: Request) -> bool:
    return not request.url.startswith(("http://127.0.0.1:", "data:", "blob:"))


def _complains(said: ConsoleMessage) -> bool:
    """An error; but a page that is reloaded in the middle of a reply says that its own stream was aborted."""
    return said.type == "error" and "abort" not in said.text.casefold() and "errored out" not in said.text


def _closed(request: Request) -> bool:
    """Gradio's client hangs up its event stream when nothing is awaited, and at a reload."""
    return "/gradio_api/queue/data" in request.url or "/gradio_api/heartbeat/" in request.url


@dataclass(frozen=True)
class ServedApp:
    address: str
    desk: Desk
    model: SlowModel
    vault: Path


Serve = Callable[..., ServedApp]


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serves the page over the small vault with a scripted model; `index=False` leaves the vault unread."""
    vault = write_vault(tmp_path / "My vault", NOTES)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(vault))
    monkeypatch.setenv("COMPANION_RAG__SEARCH__SIMILARITY_THRESHOLD", "0")
    with ExitStack() as stack:

        def serves(*, index: bool = True, reply: str = REPLY, pause: float = 0.05, prefill: float = 0.0) -> ServedApp:
            if index:
                index_vault(data_paths())
            model = SlowModel(reply, pause, prefill)
            desk = open_desk(model)
            return ServedApp(stack.enter_context(running(desk)), desk, model, vault)

        yield serves


def ask(page: Page, question: str) -> None:
    """Type a question and send it with Enter."""
    page.fill("#question textarea", question)
    page.press("#question textarea", "Enter")


def screenshot(page: Page, name: str) -> None:
    """Keep a picture for people to look at."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
