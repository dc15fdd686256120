import datetime as dt

import pytest

from companion_app.passages import Line, PassageView
from companion_app.ui.render import TurnRenderer, passage_panel
from companion_app.ui.safe_markdown import SafeMarkdown
from companion_assets.contracts.records import Citation, Turn

CITATION = Citation(1, 'c"1', "Cello.md", "Cello <b>", "Cello <b> > Top", 3, 5, "4.2 mm")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![pixel](https://example.com/p.png)",
        "[press](javascript:alert(1))",
        "[press](https://example.com)",
        "<https://example.com>",
        "[x]: https://example.com\n\n[x]",
        '[[<img src=x onerror="alert(1)">]]',
        "`<script>`\n\n```html\n<script>alert(1)</script>\n```",
        "| a |\n|---|\n| <script>alert(1)</script> |",
    ],
)
def test_nothing_in_a_reply_becomes_active(text: str) -> None:
    html = SafeMarkdown(chips=True).render(text, [CITATION])
    for active in ("<script", "<img", "<a ", "<iframe", "href=", "src=x o"):
        assert active not in html.replace("&lt;img src=x o", "")


def test_numbers_become_chips_only_where_a_citation_stands_behind_them() -> None:
    html = SafeMarkdown(chips=True).render("Yes [1], no [2], and `[1]`.", [CITATION])
    assert html.count('class="chip"') == 1
    assert 'data-passage="c&quot;1"' in html
    assert "[2]" in html
    assert "<code>[1]</code>" in html


def test_with_citations_off_numbers_stay_numbers() -> None:
    html = TurnRenderer(citations=False, preview=True).finished(Turn("q", "Yes [1].", (CITATION,)))
    assert "[1]" in html
    assert "data-passage" not in html


def test_with_the_preview_off_sources_are_named_and_open_nothing() -> None:
    html = TurnRenderer(citations=True, preview=False).finished(Turn("q", "Yes [1].", (CITATION,)))
    assert "data-passage" not in html
    assert "Cello &lt;b&gt;" in html


def test_questions_and_titles_are_text() -> None:
    html = TurnRenderer(citations=True, preview=True).finished(Turn("<script>x</script>", "Yes [1].", (CITATION,)))
    assert "<script" not in html
    assert "<b>" not in html
    assert '<span class="where">Top</span>' in html


def test_a_stopped_turn_says_so() -> None:
    assert "Stopped" in TurnRenderer(citations=True, preview=True).finished(Turn("q", "half", (), stopped=True))


def test_the_panel_marks_the_cited_lines_and_nothing_else() -> None:
    lines = (
        Line(2, "before", False),
        Line(3, "<i>cited</i> ![x](https://example.com/x.png)", True),
        Line(4, "", False),
    )
    view = PassageView(
        "Cello.md",
        "Cello",
        "Top",
        dt.date(2026, 3, 1),
        3,
        3,
        lines,
        "cited",
        "same",
        "obsidian://open?vault=V&file=Cello",
    )
    html = passage_panel(view)
    marked = html.partition("<mark>")[2].partition("</mark>")[0]
    assert "&lt;i&gt;cited&lt;/i&gt;" in marked
    assert "before" not in marked
    assert html.count("<mark>") == 1
    assert 'href="obsidian://open?vault=V&amp;file=Cello"' in html
    assert "2026-03-01 · line 3 · Cello.md" in html
    assert "<img" not in html
