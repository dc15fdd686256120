"""One reply while it is written: streamed, checked, asked for once more where it must be, and bound to its sources."""

import time
import uuid
from collections.abc import Iterator
from contextlib import closing

from companion_app.citations import CitationFilter, cited_numbers, settle_citations
from companion_app.context import NumberedHit, Plan
from companion_app.events import Delta, Stop
from companion_app.phrases import say
from companion_app.second_look import abstains, is_undecided, second_look
from companion_assets.backends.protocols import Generator, Token
from companion_assets.contracts.prompt import render_again
from companion_assets.contracts.records import Citation, Message, Turn


class Writer:
    """Collects one reply while it streams."""

    def __init__(
        self,
        question: str,
        hits: list[NumberedHit],
        known: dict[int, NumberedHit],
        timings: dict[str, float],
        started: float,
        stop: Stop,
    ) -> None:
        self.question = question
        self.known = known
        self.stop = stop
        self.hits = hits
        self.timings = timings
        self.counts: dict[str, int] = {}
        self.plan: Plan | None = None
        self.model = ""
        self.stopped = False
        self._text = ""
        self._shown = False
        self._started = started

    @property
    def has_shown(self) -> bool:
        """Some of the model's reply is on the screen."""
        return self._shown

    def mark(self, step: str) -> None:
        """Note the time since the question for `step`."""
        self.timings[step] = time.perf_counter() - self._started

    def fixed(self, text: str) -> Iterator[Delta]:
        """A reply that needs no model."""
        self._text = text
        self.mark("first_token")
        yield Delta(text)

    def stream(self, generator: Generator, temperature: float) -> Iterator[Delta]:
        """The model's reply, with only valid citations in it; asked for once more where `second_look` says so."""
        plan = self.plan
        assert plan is not None
        self.model = generator.model
        self.counts = {"budget": plan.budget, "uncached": plan.uncached}
        yield from self._attempt(generator, plan, plan.messages, temperature, may_repeat=True)
        evidence = {number: self.known[number].evidence for number in plan.shown}
        if not self._shown and not self.stopped and (look := second_look(self._text, self.question, evidence)):
            first, self._text = self._text, ""
            again = Message("user", render_again(self.question, look))
            messages = [*plan.messages, Message("assistant", first), again]
            yield from self._attempt(generator, plan, messages, temperature, may_repeat=False)
        if not self._shown and self._text:
            yield self._show(self._text)

    def _attempt(
        self, generator: Generator, plan: Plan, messages: list[Message], temperature: float, *, may_repeat: bool
    ) -> Iterator[Delta]:
        """One run of the model. Nothing is shown while the reply may still have to be repeated."""
        citations = CitationFilter(plan.shown)
        ended = False
        with closing(generator.generate(messages, max_tokens=plan.max_tokens, temperature=temperature)) as tokens:
            self.stop.watch(tokens)
            for token in tokens:
                if "first_token" not in self.timings and token.text:
                    self.mark("first_token")
                if token.finish_reason:
                    ended = token.finish_reason != "cancelled"
                    self._count(token)
                if not (ready := citations.feed(token.text)):
                    continue
                self._text += ready
                if self._shown:
                    yield Delta(ready)
                elif not may_repeat or not is_undecided(self._text):
                    if may_repeat and second_look(self._text, self.question, {}):
                        return
                    yield self._show(self._text)
        self.stopped = not ended
        if rest := citations.flush():
            self._text += rest
            if self._shown:
                yield Delta(rest)

    def _show(self, text: str) -> Delta:
        self._shown = True
        return Delta(text)

    def _count(self, token: Token) -> None:
        self.timings.setdefault("prefill", token.prefill_seconds)
        self.counts.setdefault("prompt", token.prompt_tokens)
        self.counts.setdefault("cached", token.cached_tokens)
        self.counts["completion"] = token.completion_tokens

    def turn(self) -> Turn:
        """The finished turn, citations settled and bound to their chunks."""
        numbers = self.plan.shown if self.plan else [hit.number for hit in self.hits]
        shown = {number: self.known[number] for number in numbers}
        reply = self._text.strip()
        if self.plan is not None and abstains(reply):
            reply = say("nothing_found", self.question)
        elif self.plan is not None and not self.stopped:
            evidence = {number: hit.evidence for number, hit in shown.items()}
            reply = settle_citations(reply, evidence, self.question) or say("nothing_found", self.question)
        citations = tuple(citation_of(shown[number]) for number in cited_numbers(reply) if number in shown)
        return Turn(self.question, reply, citations, uuid.uuid4().hex, self.model, self.stopped)


def citation_of(numbered: NumberedHit) -> Citation:
    """A hit as a citation."""
    hit = numbered.hit
    return Citation(
        numbered.number, hit.chunk_id, hit.path, hit.title, hit.section, hit.first_line, hit.last_line, hit.text
    )
