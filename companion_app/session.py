"""One turn, start to finish: retrieve, plan the prompt, stream the reply, bind its citations, store it."""

import logging
import time
from collections.abc import Callable, Iterator
from collections.abc import Generator as Stream

from companion_app.context import Conversation, NumberedHit, Sent, plan_turn
from companion_app.events import Final, Notice, ReplyEvent, Sources, Stop
from companion_app.excerpts import excerpt
from companion_app.intent import is_small_talk
from companion_app.phrases import say
from companion_app.retrieval import NOTHING, Retriever
from companion_app.writing import Writer, citation_of
from companion_assets.backends.protocols import Generator
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.prompt import Exchange, render_question, render_system
from companion_assets.contracts.searching import SearchFilters
from companion_assets.contracts.settings import CompanionSettings
from companion_assets.stores.chat_log import ChatLog

_log = logging.getLogger(__name__)
_QUOTED_HITS = 3
_QUOTE_CHARACTERS = 320


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
            StoreError: The index is damaged. (A failing engine is no error: words are searched, passages quoted.)
        """
        started = time.perf_counter()
        small_talk = is_small_talk(question)
        found = NOTHING if small_talk else self._retriever.retrieve(question, before=self._questions, filters=filters)
        hits = self._conversation.number(found.hits if found.relevant else ())
        timings = {"retrieval": time.perf_counter() - started}
        yield Sources(tuple(citation_of(hit) for hit in hits), timings["retrieval"])
        if found.notice:
            yield Notice(found.notice)
        writer = Writer(question, hits, self._conversation.known, timings, started, stop or Stop())
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

    def _written(self, writer: Writer, temperature: float | None) -> Iterator[ReplyEvent]:
        """The model's reply; without a model, or where it fails before its first word, quoted passages."""
        try:
            generator = self._generator()
            if generator is not None:
                yield from self._generated(writer, generator, temperature)
                return
        except BackendUnavailable as fault:
            _log.warning("the model failed: %s", fault.message)
            yield Notice(f"{fault.message}. {fault.hint}".strip())
            if writer.has_shown:
                writer.stopped = True  # what was written stays; the person sees that it broke off
                return
            writer.plan, writer.model = None, ""
        yield from writer.fixed(_quoted(writer.question, writer.hits))

    def _generated(self, writer: Writer, generator: Generator, temperature: float | None) -> Iterator[ReplyEvent]:
        if writer.stop.asked:
            writer.stopped = True
            return
        chat = self._settings.chat
        warmth = chat.default_temperature
        if temperature is not None and chat.allow_temperature_override:
            warmth = temperature
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

    def _finish(self, writer: Writer) -> Final:
        turn = writer.turn()
        if writer.plan is not None and turn.reply:
            self._conversation.record(writer.plan, turn.reply, self._settings.memory.session_turns)
        self._questions.append(writer.question)
        self._chat_log.append_turn(self.session_id, turn)
        writer.mark("total")
        return Final(turn, writer.timings, writer.counts)


def _quoted(question: str, hits: list[NumberedHit]) -> str:
    """An answer without a model: the best passages, quoted and cited."""
    quotes = [
        "\n".join(f"> {line}" for line in excerpt(hit.hit.text, question, _QUOTE_CHARACTERS).splitlines())
        + f" [{hit.number}]"
        for hit in hits[:_QUOTED_HITS]
    ]
    return "\n\n".join([say("quoted", question), *quotes])
