"""The demo vault, the installed embedder and the installed answerer, in a server of its own, in a real browser."""

import os
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from companion_assets.backends.factory import open_embedder
from companion_assets.backends.weights import ANSWERERS, answerer_available
from companion_assets.contracts.paths import data_paths, model_cache_dir
from companion_assets.daemon.ports import free_port
from companion_assets.stores.settings_file import load_settings
from tests.app.small_app import index_vault
from tests.browser.conftest import Open, ask, screenshot

pytestmark = [pytest.mark.browser, pytest.mark.model, pytest.mark.timeout(600)]


def test_the_demo_is_asked_and_the_cited_lines_are_the_notes_own(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not any(answerer_available(name, model_cache_dir()) for name in ANSWERERS):
        pytest.skip("no embedded answerer is installed")
    vault = Path(str(files("companion_app.demo"))) / "vault"
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(vault))
    index_vault(data_paths(), lambda: open_embedder(load_settings().settings.rag.embedding))
    port = free_port()
    environment = {**os.environ, "COMPANION_API__PORT": str(port)}
    log = (tmp_path / "serve.log").open("wb")
    server = subprocess.Popen([sys.executable, "-m", "companion_app.serve"], env=environment, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for_the_model(address, server)
        page = open_page(address)
        expect(page.locator(".status")).to_contain_text("notes")
        ask(page, "Why did I change my mind about regraduating the cello's top?")
        page.wait_for_selector("#live .card, #history .card")
        expect(page.locator("#history .turn")).to_have_count(1, timeout=180_000)
        screenshot(page, "real-answer")
        page.locator("#history .chip").first.click()
        page.wait_for_selector("#panel mark")
        screenshot(page, "real-passage")
        path = page.locator("#panel .about").inner_text().rsplit(" · ", 1)[-1]
        written = (vault / path).read_text(encoding="utf-8").split("\n")
        for line in page.locator("#panel mark .line").all():
            number = int(line.locator("i").inner_text())
            assert line.locator("span").inner_text().strip() == written[number - 1].strip()
        page.close()  # before its server goes
    finally:
        server.terminate()
        server.wait(timeout=30)
        log.close()


def _wait_for_the_model(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert server.poll() is None, "the server ended"
        try:
            if httpx.get(f"{address}/api/health", trust_env=False).json()["model"]["state"] == "ready":
                return
        except httpx.TransportError:
            pass
        time.sleep(0.3)
    raise AssertionError("the model was not ready in time")
