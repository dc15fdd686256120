import re

import pytest
from playwright.sync_api import Page, expect

from companion_assets.contracts.paths import data_paths
from tests.app.small_app import index_vault
from tests.browser.conftest import REPLY, Open, Serve, ask, screenshot

pytestmark = pytest.mark.browser
QUESTION = "How thick is the top of the cello?"
SPOKEN = re.sub(r"[*]| ?\[1\]", "", REPLY)


def finished(page: Page, count: int = 1) -> None:
    expect(page.locator("#history .turn")).to_have_count(count, timeout=30_000)
    expect(page.locator("#live .turn")).to_have_count(0)


def test_a_question_is_answered_in_pieces_with_its_sources_first(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(prefill=1.0).address)
    ask(page, QUESTION)
    page.wait_for_selector("#live .card")
    assert page.locator("#live .reply p:not(.doing)").count() == 0
    lengths: list[int] = []
    while page.locator("#history .turn").count() == 0:
        text = page.evaluate("document.querySelector('#live .reply p:not(.doing)')?.innerText ?? ''")
        lengths.append(len(text))
        page.wait_for_timeout(60)
    grown = sorted({length for length in lengths if length})
    assert len(grown) >= 4, "the reply came in one piece"
    finished(page)
    assert page.locator("#history .asked").inner_text() == QUESTION
    assert "4.2 mm" in page.locator("#history .reply strong").inner_text()


def test_a_citation_opens_its_lines_in_the_note(serve: Serve, open_page: Open) -> None:
    app = serve(pause=0.0)
    page = open_page(app.address)
    ask(page, QUESTION)
    finished(page)
    page.locator("#history .chip").first.click()
    panel = page.locator("#panel aside")
    expect(panel.locator("h2")).to_have_text("Cello")
    expect(panel.locator(".about")).to_contain_text("2026-03-01")
    written = (app.vault / "Cello.md").read_text().split("\n")
    for line in panel.locator("mark .line").all():
        number, text = line.locator("i").inner_text(), line.locator("span").inner_text()
        assert text.strip() == written[int(number) - 1].strip()
    expect(panel.locator("mark")).to_contain_text("Regraduated the top of the cello to 4.2 mm.")
    assert panel.locator("mark").inner_text().count("date:") == 0
    assert panel.locator("a").get_attribute("href") == "obsidian://open?vault=My%20vault&file=Cello"
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def test_stop_ends_the_model_and_keeps_what_was_written(serve: Serve, open_page: Open) -> None:
    app = serve(pause=0.15)
    page = open_page(app.address)
    ask(page, QUESTION)
    page.wait_for_selector("#live .reply p:not(.doing)")
    page.click("#stop")
    finished(page)
    shown = page.locator("#history .reply p").first.inner_text()
    expect(page.locator("#history .aside")).to_have_text("Stopped.")
    (turn,) = app.desk.companion.chat_log.turns(app.desk.companion.chat_log.sessions()[0].session_id)
    assert turn.stopped
    assert app.model.ended == "cancelled"
    assert SPOKEN.startswith(re.sub(r" ?\d*$", "", shown)[:8])
    expect(page.locator("#send")).to_be_visible()
    app.model.pause = 0.0
    ask(page, "And the bass bar?")
    finished(page, 2)


def test_stop_works_while_the_model_still_reads(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(prefill=600).address)
    ask(page, QUESTION)
    page.wait_for_selector("#live .card")
    page.click("#stop")
    finished(page)
    expect(page.locator("#history .aside")).to_have_text("Stopped.")


def test_a_reload_keeps_the_conversation_and_a_new_chat_leaves_it(serve: Serve, open_page: Open) -> None:
    app = serve(pause=0.0)
    page = open_page(app.address)
    ask(page, QUESTION)
    finished(page)
    page.reload()
    expect(page.locator("#history .asked")).to_have_text(QUESTION)
    ask(page, "And the bass bar?")
    finished(page, 2)
    assert any(QUESTION in message.content for message in app.model.prompts[-1])
    page.click("#new")
    expect(page.locator("#history .turn")).to_have_count(0)
    expect(page.locator(".welcome h2")).to_be_visible()
    ask(page, "Anything about varnish?")
    finished(page)
    assert not any(QUESTION in message.content for message in app.model.prompts[-1])
    assert len(app.desk.companion.chat_log.sessions()) == 2


def test_a_reload_in_the_middle_of_a_reply_goes_on_with_it(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(pause=0.15).address)
    ask(page, QUESTION)
    page.wait_for_selector("#live .reply p:not(.doing)")
    page.reload()
    expect(page.locator("#live .asked")).to_have_text(QUESTION)
    expect(page.locator("#stop")).to_be_visible()
    finished(page)
    assert "that day" in page.locator("#history .reply").inner_text()


def test_two_tabs_talk_at_once_without_mixing(serve: Serve, open_page: Open) -> None:
    app = serve(pause=0.05)
    one, two = open_page(app.address), open_page(app.address)
    ask(one, "What about the cello?")
    ask(two, "What about the varnish?")
    finished(one)
    finished(two)
    assert one.locator("#history .asked").all_inner_texts() == ["What about the cello?"]
    assert two.locator("#history .asked").all_inner_texts() == ["What about the varnish?"]


def test_notes_and_replies_cannot_act_on_the_page(serve: Serve, open_page: Open) -> None:
    hostile = (
        "<script>window.hit=1</script> <img src=x onerror='window.hit=1'> ![p](https://example.com/p.png) kale [1]"
    )
    page = open_page(serve(reply=hostile, pause=0.0).address)
    ask(page, "What is in the caldo verde with kale and potatoes?")
    finished(page)
    assert page.locator("#history .reply img, #history .reply script, #history .reply a").count() == 0
    page.locator("#history .card").first.click()
    expect(page.locator("#panel .note")).to_contain_text("<script>alert(1)</script>")
    expect(page.locator("#panel .note")).to_contain_text("![remote](https://example.com/pixel.png)")
    assert page.locator("#panel .note img, #panel .note script").count() == 0
    assert page.evaluate("window.hit") is None


def test_before_the_first_sync_the_page_offers_one_and_shows_it(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(index=False).address)
    expect(page.locator(".welcome h2")).to_have_text("Nothing is indexed yet")
    screenshot(page, "first-run")
    page.click(".welcome [data-sync]")
    expect(page.locator("progress.bar").first).to_be_visible()
    expect(page.locator(".welcome h2")).to_have_text("What would you like to know?", timeout=120_000)
    expect(page.locator(".status")).to_contain_text("3 notes")


def test_notes_that_vanished_at_once_leave_the_index_only_after_two_clicks(serve: Serve, open_page: Open) -> None:
    app = serve()
    for note in app.vault.rglob("*.md"):
        note.unlink()
    (app.vault / "Cello.png").write_bytes(b"x")
    index_vault(data_paths())
    page = open_page(app.address)
    notices = page.locator(".notices")
    expect(notices).to_contain_text("3 of 3 notes vanished at once. They stay in the index")
    expect(page.locator(".status")).to_contain_text("3 notes")
    confirm = page.locator("[data-confirm]")
    expect(confirm).to_be_hidden()
    page.click("text=Remove 3 notes from the index")
    expect(notices).to_contain_text("Cello.md")
    page.wait_for_timeout(5000)  # the page looks again and again meanwhile; what is open stays open
    screenshot(page, "held-removals")
    expect(confirm).to_have_text("Yes, remove 3 notes")
    confirm.click()
    expect(page.locator(".status")).to_contain_text("0 notes", timeout=120_000)
    expect(notices).to_have_count(0)


def test_asking_before_the_first_sync_says_what_is_missing(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(index=False).address)
    ask(page, QUESTION)
    expect(page.locator("#live .warning")).to_contain_text("indexed")
    expect(page.locator("#send")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_fits_and_keeps_its_colours(serve: Serve, open_page: Open, width: int, scheme: str) -> None:
    page = open_page(serve(pause=0.0).address, width, 844, scheme)
    screenshot(page, f"welcome-{width}-{scheme}")
    ask(page, QUESTION)
    finished(page)
    screenshot(page, f"answer-{width}-{scheme}")
    page.locator("#history .chip").first.click()
    page.wait_for_selector("#panel mark")
    page.wait_for_timeout(300)
    screenshot(page, f"passage-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.body.classList.contains('dark')") is (scheme == "dark")
    page.keyboard.press("Escape")
    page.click("#theme")
    assert page.evaluate("document.body.classList.contains('dark')") is (scheme != "dark")


def test_everything_can_be_done_with_the_keyboard(serve: Serve, open_page: Open) -> None:
    page = open_page(serve(pause=0.0).address)
    page.focus("#question textarea")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    finished(page)
    page.locator("#history .chip").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel mark")
    assert page.evaluate("document.activeElement.closest('#panel') !== null")
    page.keyboard.press("Escape")
    expect(page.locator("#panel aside")).to_have_count(0)
    page.wait_for_function("document.activeElement.className === 'chip'")
