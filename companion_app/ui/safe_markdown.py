"""Markdown of a reply to HTML that can do nothing: no scripts, no images, no links, only text and our own chips.

The reply is untrusted; it may quote a note that somebody else wrote. Raw HTML is escaped, links and images stay the
text they were written as, so that nothing is ever fetched or followed because a note says so.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from companion_assets.contracts.records import Citation

_MARK = re.compile(r"\[(\d{1,4})\]")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]+\|)?([^\[\]|]+)\]\]")


class SafeMarkdown:
    """Renders replies.

    Args:
        chips: Citations become buttons that open the passage; else they stay numbers.
    """

    def __init__(self, *, chips: bool) -> None:
        self._chips = chips
        self._parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
        self._parser.enable(["table", "strikethrough"])
        self._parser.disable(["html_block", "html_inline", "image", "link", "autolink", "reference"])
        self._parser.add_render_rule("text", self._text)

    def render(self, text: str, citations: Sequence[Citation]) -> str:
        """HTML of a reply; numbers that stand for a citation become chips."""
        known = {citation.number: citation for citation in citations} if self._chips else {}
        html: str = self._parser.render(text, {"citations": known})
        return html

    @staticmethod
    def _text(
        _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, env: Mapping[str, Any]
    ) -> str:
        known: Mapping[int, Citation] = env["citations"]

        def chip_or_text(match: re.Match[str]) -> str:
            citation = known.get(int(match.group(1)))
            return chip(citation) if citation else match.group()

        quiet = _WIKILINK.sub(r'<span class="wikilink">\1</span>', escape(tokens[index].content))
        return _MARK.sub(chip_or_text, quiet)


def chip(citation: Citation) -> str:
    """The button of a citation."""
    place = f"{citation.title} › {citation.section}" if citation.section else citation.title
    told = escape(f"Source {citation.number}: {place}", quote=True)
    return (
        f'<button type="button" class="chip" data-passage="{escape(citation.chunk_id, quote=True)}" '
        f'aria-label="{told}" title="{escape(place, quote=True)}">{citation.number}</button>'
    )
