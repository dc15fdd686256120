"""One turn, start to finish: retrieve, plan the prompt, stream the reply, bind its citations, store it."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from collections.abc import Generator as Stream
from contextlib import closing
from dataclasses import dataclass, field

from companion_app.citations import CitationFilter, cited_numbers, settle_citations
from companion_app.context import Conversation, NumberedHit, Plan, Sent, plan_turn
from companion_app.excerpts import excerpt
from companion_app.intent import is_small_talk
from companion_app.phrases import say
from companion_app.retrieval import NOTHING, Retriever
from companion_assets.backends.protocols import Generator, TokenStream
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.prompt import ABSTENTION, Exchange, render_question, render_system
from companion_assets.contracts.records import Citation, SearchFilters, Turn
from companion_assets.contracts.settings import CompanionSettings
from companion_assets.stores.chat_log import ChatLog

_log = logging.getLogger(__name__)
_QUOTED_HITS = 3
_QUOTE_CHARACTERS = 320


@dataclass(frozen=True, slots=True)
class Sources:
    """What was found, before the first token."""

    citations: tuple[Citation, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know about this turn (the model failed, quoting instead)."""

    text: str


@dataclass(frozen=True, slots=True)
class Final:
    """The finished turn; `turn.reply` replaces what was streamed.

    Attributes:
        timings: Seconds by step: `retrieval`, `plan`, `first_token`, `total`, and `prefill` as the model reports it.
        counts: Tokens: `prompt`, `cached`, `uncached`, `budget`, `completion`.
    """

    turn: Turn
    timings: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


ReplyEvent = Sources | Delta | Notice | Final


class Stop:
    """Ends one reply from any thread, also while the model still reads the prompt. What was written is kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stream: TokenStream | None = None
        self.asked = False

    def __call__(self) -> None:
        """Stop the reply; no effect on one that has ended."""
        with self._lock:
            self.asked = True
            stream = self._stream
        if stream is not None:
            stream.close()

    def watch(self, stream: TokenStream) -> None:
        """The stream to close; closed at once if the stop came before it."""
        with self._lock:
            self._stream = stream
            asked = self.asked
        if asked:
            stream.close()


class ChatSession:
    """A conversation. Not for use by two threads at once.

    Args:
        session_id: Key in the chat log; earlier turns of it are carried on.
        retriever: Finds passages.
        generator: Gives the model, or None where there is none; called once a turn, so a new model is picked up
            between turns.
        chat_log: Where finished turns go.
        settings: Name, persona, memory and chat.
    """

    def __init__(
        self,
        session_id: str,
        retriever: Retriever,
        generator: Callable[[], Generator | None],
        chat_log: ChatLog,
        settings: CompanionSettings,
    ) -> None:
        self.session_id = session_id
        self._retriever = retriever
        self._generator = generator
        self._chat_log = chat_log
        self._settings = settings
        self._system = self.system_of(settings)
        turns = chat_log.turns(session_id, settings.memory.session_turns)
        self._questions = [turn.question for turn in turns]
        said = [turn for turn in turns if turn.reply]  # one that was stopped at once has none
        self._conversation = Conversation([Sent(Exchange(render_question(t.question, []), t.reply)) for t in said])

    @staticmethod
    def system_of(settings: CompanionSettings) -> str:
        """The system message of every prompt under these settings."""
        persona = settings.persona
        return render_system(settings.name, persona.role, persona.tone, persona.style, persona.boundaries)

    def reply(
        self,
        question: str,
        *,
        filters: SearchFilters | None = None,
        temperature: float | None = None,
        stop: Stop | None = None,
    ) -> Stream[ReplyEvent, None, None]:
        """Answer one question. Closing the iterator stops the model; the turn is stored with what was written.

        Args:
            question: As the person wrote it.
            filters: Hard filters of the search.
            temperature: Overrides the setting, where the settings allow that.
            stop: Ends the reply from another thread; the iterator then ends with the turn as far as it came.

        Raises:
            IndexMissing: Nothing has been indexed.
            BackendUnavailable: The embedder failed. (A failing model is no error: passages are quoted instead.)
        """
        started = time.perf_counter()
        small_talk = is_small_talk(question)
        found = NOTHING if small_talk else self._retriever.retrieve(question, before=self._questions, filters=filters)
        hits = self._conversation.number(found.hits if found.relevant else ())
        timings = {"retrieval": time.perf_counter() - started}
        yield Sources(tuple(_citation(hit) for hit in hits), timings["retrieval"])
        writer = _Writer(question, hits, self._conversation.known, timings, started, stop or Stop())
        try:
            if found.relevant:
                yield from self._written(writer, temperature)
            else:
                yield from writer.fixed(say("greeting" if small_talk else "nothing_found", question))
        except GeneratorExit:
            writer.stopped = True
            raise
        finally:
            final = self._finish(writer)
        yield final

    def _written(self, writer: "_Writer", temperature: float | None) -> Iterator[ReplyEvent]:
        generator = self._generator()
        if generator is None:
            yield from writer.fixed(_quoted(writer.question, writer.hits))
            return
        if writer.stop.asked:
            writer.stopped = True
            return
        chat = self._settings.chat
        warmth = chat.default_temperature
        if temperature is not None and chat.allow_temperature_override:
            warmth = temperature
        try:
            writer.plan = plan_turn(
                generator,
                self._system,
                self._conversation,
                writer.question,
                writer.hits,
                target_seconds=chat.target_first_token_seconds,
                max_response_tokens=chat.max_response_tokens,
            )
            writer.mark("plan")
            yield from writer.stream(generator, warmth)
        except BackendUnavailable as fault:
            _log.warning("the model failed, quoting instead: %s", fault.message)
            yield Notice(f"{fault.message}. {fault.hint}".strip())
            yield from writer.fixed(_quoted(writer.question, writer.hits))

    def _finish(self, writer: "_Writer") -> Final:
        turn = writer.turn()
        if writer.plan is not None and turn.reply:
            self._conversation.record(writer.plan, turn.reply, self._settings.memory.session_turns)
        self._questions.append(writer.question)
        self._chat_log.append_turn(self.session_id, turn)
        writer.mark("total")
        return Final(turn, writer.timings, writer.counts)


class _Writer:
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
        self._started = started

    def mark(self, step: str) -> None:
        """Note the time since the question for `step`."""
        self.timings[step] = time.perf_counter() - self._started

    def fixed(self, text: str) -> Iterator[Delta]:
        """A reply that needs no model."""
        self._text = text
        self.mark("first_token")
        yield Delta(text)

    def stream(self, generator: Generator, temperature: float) -> Iterator[Delta]:
        """The model's reply, with only valid citations in it."""
        plan = self.plan
        assert plan is not None
        self.model = generator.model
        self.counts = {"budget": plan.budget, "uncached": plan.uncached}
        citations = CitationFilter(plan.shown)
        ended = False
        with closing(generator.generate(plan.messages, max_tokens=plan.max_tokens, temperature=temperature)) as tokens:
            self.stop.watch(tokens)
            for token in tokens:
                if "first_token" not in self.timings and token.text:
                    self.mark("first_token")
                if ready := citations.feed(token.text):
                    self._text += ready
                    yield Delta(ready)
                if token.finish_reason:
                    ended = token.finish_reason != "cancelled"
                    self.timings["prefill"] = token.prefill_seconds
                    self.counts |= {"prompt": token.prompt_tokens, "cached": token.cached_tokens}
                    self.counts["completion"] = token.completion_tokens
        self.stopped = not ended
        if rest := citations.flush():
            self._text += rest
            yield Delta(rest)

    def turn(self) -> Turn:
        """The finished turn, citations settled and bound to their chunks."""
        numbers = self.plan.shown if self.plan else [hit.number for hit in self.hits]
        shown = {number: self.known[number] for number in numbers}
        reply = self._text.strip()
        if reply == ABSTENTION:
            reply = say("nothing_found", self.question)
        elif self.plan is not None and not self.stopped:
            evidence = {number: hit.evidence for number, hit in shown.items()}
            reply = settle_citations(reply, evidence, self.question) or say("nothing_found", self.question)
        citations = tuple(_citation(shown[number]) for number in cited_numbers(reply) if number in shown)
        return Turn(self.question, reply, citations, uuid.uuid4().hex, self.model, self.stopped)


def _citation(numbered: NumberedHit) -> Citation:
    hit = numbered.hit
    return Citation(
        numbered.number, hit.chunk_id, hit.path, hit.title, hit.section, hit.first_line, hit.last_line, hit.text
    )


def _quoted(question: str, hits: list[NumberedHit]) -> str:
    """An answer without a model: the best passages, quoted and cited."""
    quotes = [
        "\n".join(f"> {line}" for line in excerpt(hit.hit.text, question, _QUOTE_CHARACTERS).splitlines())
        + f" [{hit.number}]"
        for hit in hits[:_QUOTED_HITS]
    ]
    return "\n\n".join([say("quoted", question), *quotes])
