"""What goes into the prompt of a turn, so that the first token comes in time.

The cost of a prompt is the tokens that are not in the model's cache. Two shapes are tried:

* **continued**: every turn exactly as it was sent, then the new question with only those passages that were not
  shown yet. Nearly everything is cached; a follow-up on the same notes costs only its own words.
* **fresh**: the latest questions and replies without their passages, then all passages. Used when the conversation
  no longer fits the context, or after a restart.

Passages fill what the target time to the first token leaves, at the prefill speed measured on this machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from companion_app.excerpts import excerpt, plain
from companion_app.phrases import language_name
from companion_assets.backends.protocols import Generator
from companion_assets.contracts.prompt import Exchange, Passage, render_messages, render_passage, render_question
from companion_assets.contracts.records import Message
from companion_assets.contracts.searching import SearchHit

_LEAST_NOTES = 300  # tokens of notes that are worth waiting for on any machine
# Notes take at most this part of the context: of seven hard demo questions, the embedded model (4,096 tokens) answers
# two from 680 tokens of notes on which it abstains with 900.
_WINDOW_SHARE = 6
_LEAST_PASSAGE = 60
_WHOLE_PASSAGE = 160  # shorter passages are never cut for the sake of the others
_LONGEST_SHARE = 0.4  # of the notes' tokens, for one passage
_HISTORY_SHARE = 0.35  # of the budget, for a fresh prompt


@dataclass(frozen=True, slots=True)
class NumberedHit:
    """A hit and the number it has in this conversation."""

    number: int
    hit: SearchHit

    @property
    def evidence(self) -> str:
        """Everything the passage tells, its label included."""
        return f"{self.label}\n{self.hit.text}"

    @property
    def label(self) -> str:
        """Date, title and section, as shown to the model."""
        hit = self.hit
        names = [hit.title, *hit.section.removeprefix(hit.title).strip(" >").split(" > ")]
        place = " > ".join(name for name in names if name)
        dated = hit.date and hit.date.isoformat() not in hit.title
        return f"{hit.date.isoformat()}, {place}" if dated and hit.date else place


@dataclass(frozen=True, slots=True)
class Plan:
    """A prompt ready to send.

    Attributes:
        shown: Number → passage text the model can see in this prompt, earlier turns included.
        budget: Tokens the target time allows; `uncached` is what the prompt costs.
    """

    messages: list[Message]
    history: list[Exchange]
    sent: str
    shown: dict[int, str]
    max_tokens: int
    budget: int
    uncached: int
    continued: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """A turn as the model has seen it, and the passages that came with it."""

    exchange: Exchange
    passages: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Conversation:
    """The turns of one session as the model has seen them, and the numbers its passages have."""

    turns: list[Sent] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    known: dict[int, NumberedHit] = field(default_factory=dict)

    @property
    def exchanges(self) -> list[Exchange]:
        """The turns as they were sent."""
        return [turn.exchange for turn in self.turns]

    @property
    def visible(self) -> dict[int, str]:
        """Number → text of the passages that stand in those turns."""
        return {number: text for turn in self.turns for number, text in turn.passages.items()}

    def number(self, hits: Sequence[SearchHit]) -> list[NumberedHit]:
        """Give every hit its number: the one it has already, or the next."""
        numbered = [NumberedHit(self.numbers.setdefault(hit.chunk_id, len(self.numbers) + 1), hit) for hit in hits]
        self.known |= {each.number: each for each in numbered}
        return numbered

    def record(self, plan: Plan, reply: str, turns: int) -> None:
        """Remember a finished turn; at most the last `turns` are kept."""
        kept = self.turns if plan.continued else [Sent(exchange) for exchange in plan.history]
        new = {number: text for number, text in plan.shown.items() if not plan.continued or number not in self.visible}
        self.turns = [*kept, Sent(Exchange(plan.sent, reply), new)][-turns:] if turns else []


def plan_turn(
    generator: Generator,
    system: str,
    conversation: Conversation,
    question: str,
    hits: Sequence[NumberedHit],
    *,
    target_seconds: float,
    max_response_tokens: int,
) -> Plan:
    """Choose the shape of the prompt and the passages that fit.

    Args:
        generator: The model that will answer; only asked for counts.
        system: From `contracts.prompt.render_system`.
        conversation: The session so far.
        question: The new question.
        hits: Numbered hits, best first.
        target_seconds: Wanted time to the first token.
        max_response_tokens: Upper bound of the reply; a quarter of the context is kept free for it.
    """
    language = language_name(question)
    budget = max(_LEAST_NOTES, int(target_seconds * generator.prefill_tokens_per_second))
    room = generator.context_length - min(max_response_tokens, generator.context_length // 4)
    for continued in (True, False) if conversation.exchanges else (False,):
        history = conversation.exchanges if continued else _recent(generator, conversation, budget)
        visible = conversation.visible if continued else {}
        fresh = [hit for hit in hits if hit.number not in visible]
        seen = [hit.number for hit in hits if hit.number in visible]
        empty = render_messages(system, history, render_question(question, [], seen, language))
        spare = min(budget - generator.uncached_tokens(empty), room - generator.count_tokens(empty))
        if continued and spare < (_LEAST_NOTES if fresh and not seen else 0):
            continue
        most = max(_LEAST_NOTES, generator.context_length // _WINDOW_SHARE)
        passages = fit_passages(generator, question, fresh, min(max(spare, _LEAST_NOTES), most))
        sent = render_question(question, passages, seen, language)
        messages = render_messages(system, history, sent)
        return Plan(
            messages=messages,
            history=history,
            sent=sent,
            shown={**visible, **{passage.number: passage.text for passage in passages}},
            max_tokens=max(64, min(max_response_tokens, generator.context_length - generator.count_tokens(messages))),
            budget=budget,
            uncached=generator.uncached_tokens(messages),
            continued=continued,
        )
    raise AssertionError("a fresh prompt is always possible")


def fit_passages(generator: Generator, question: str, hits: Sequence[NumberedHit], tokens: int) -> list[Passage]:
    """Passages in order of rank until `tokens` are spent; long ones are cut to what speaks to the question."""
    cap = max(_WHOLE_PASSAGE, int(tokens * _LONGEST_SHARE))
    passages: list[Passage] = []
    for numbered in hits:
        if tokens < _LEAST_PASSAGE:
            break
        passage = _cut(generator, question, numbered, min(cap, tokens))
        cost = _tokens(generator, passage)
        if cost <= tokens:
            passages.append(passage)
            tokens -= cost
    return passages


def _cut(generator: Generator, question: str, numbered: NumberedHit, limit: int) -> Passage:
    passage = Passage(numbered.number, numbered.label, plain(numbered.hit.text))
    size = _tokens(generator, passage)
    overhead = size - _tokens(generator, Passage(numbered.number, numbered.label, ""))
    if size <= limit or not overhead:
        return passage
    characters = max(40, int(len(passage.text) * (limit - (size - overhead)) / overhead))
    return Passage(passage.number, passage.label, excerpt(passage.text, question, characters))


def _tokens(generator: Generator, passage: Passage) -> int:
    return generator.count_tokens([Message("user", render_passage(passage))])


def _recent(generator: Generator, conversation: Conversation, budget: int) -> list[Exchange]:
    """The latest exchanges without passages that fit their share of the budget."""
    kept: list[Exchange] = []
    left = int(budget * _HISTORY_SHARE)
    for exchange in reversed(conversation.exchanges):
        bare = Exchange(_bare(exchange.sent), exchange.reply)
        left -= generator.count_tokens([Message("user", bare.sent), Message("assistant", bare.reply)])
        if left < 0:
            break
        kept.insert(0, bare)
    return kept


def _bare(sent: str) -> str:
    """A sent message without its passages."""
    return "Question: " + sent.rpartition("Question: ")[2].partition("\nAnswer in ")[0]
