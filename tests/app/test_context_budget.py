"""The prompt of a turn: what fits the wanted time, what is cached, and which numbers passages have."""

import datetime as dt
from dataclasses import replace

from companion_app.context import Conversation, Plan, Sent, plan_turn
from companion_assets.backends.scripted import ScriptedGenerator
from companion_assets.contracts.prompt import Exchange, render_prefix
from companion_assets.contracts.searching import SearchHit

SYSTEM = "You are Companion."


def hit(name: str, text: str) -> SearchHit:
    return SearchHit(name, f"{name}.md", name, "", dt.date(2026, 5, 1), (), 1, 3, text, 0.9, 0.8, None, ("dense",))


HITS = [hit(f"n{i}", f"Passage {i} says that " + " ".join(f"word{i}x{j}" for j in range(60)) + ".") for i in range(8)]


def warmed(tokens_per_second: float) -> ScriptedGenerator:
    generator = ScriptedGenerator("x", prefill_tokens_per_second=tokens_per_second)
    generator.warm(render_prefix(SYSTEM))
    return generator


def planned(
    generator: ScriptedGenerator, conversation: Conversation, question: str, hits: list[SearchHit], seconds: float = 6.0
) -> Plan:
    return plan_turn(
        generator,
        SYSTEM,
        conversation,
        question,
        conversation.number(hits),
        target_seconds=seconds,
        max_response_tokens=200,
    )


def answered(generator: ScriptedGenerator, conversation: Conversation, plan: Plan, turns: int = 20) -> None:
    reply = "".join(token.text for token in generator.generate(plan.messages, max_tokens=50, temperature=0))
    conversation.record(plan, reply, turns)


def test_a_slow_machine_gets_fewer_notes_than_a_fast_one() -> None:
    slow = planned(warmed(70), Conversation(), "What?", HITS)
    fast = planned(warmed(600), Conversation(), "What?", HITS)
    assert 0 < len(slow.shown) < len(fast.shown) == len(HITS)
    assert slow.uncached <= slow.budget


def test_the_slowest_machine_still_reads_some_notes() -> None:
    plan = planned(warmed(5), Conversation(), "What?", HITS)
    assert len(plan.shown) >= 2
    assert plan.uncached > 5 * 6, "what the wanted time alone would allow"


def test_the_warmed_prefix_costs_nothing() -> None:
    cold = planned(ScriptedGenerator("x", prefill_tokens_per_second=110), Conversation(), "What?", HITS)
    warm = planned(warmed(110), Conversation(), "What?", HITS)
    assert len(warm.shown) > len(cold.shown)
    assert warm.uncached <= warm.budget


def test_a_follow_up_on_the_same_notes_sends_no_note_again() -> None:
    generator, conversation = ScriptedGenerator("It is so [1]."), Conversation()
    first = planned(generator, conversation, "What is it?", HITS[:3])
    answered(generator, conversation, first)
    second = planned(generator, conversation, "And why?", HITS[:3])
    assert second.continued
    assert "word0x1" not in second.sent
    assert second.shown == first.shown
    assert second.uncached < 30


def test_new_notes_get_new_numbers_and_old_ones_keep_theirs() -> None:
    generator, conversation = ScriptedGenerator("It is so [1]."), Conversation()
    answered(generator, conversation, planned(generator, conversation, "What is it?", HITS[:2]))
    plan = planned(generator, conversation, "And that?", [HITS[1], HITS[5]])
    assert "see above [2]" in plan.sent
    assert "[3] (" in plan.sent
    assert plan.shown[3] == HITS[5].text


def test_a_long_conversation_stays_within_the_context_and_keeps_its_latest_turns() -> None:
    generator, conversation = ScriptedGenerator("It is so [1].", context_length=900), Conversation()
    for turn in range(30):
        plan = planned(generator, conversation, f"Question {turn} about it?", [HITS[turn % 8]])
        assert generator.count_tokens(plan.messages) + plan.max_tokens <= 900
        answered(generator, conversation, plan)
    assert any("Question 29" in message.content for message in plan.messages)
    assert any("Question 28" in message.content for message in plan.messages)


def test_only_the_configured_number_of_turns_is_carried() -> None:
    generator, conversation = ScriptedGenerator("Yes."), Conversation()
    for turn in range(5):
        answered(generator, conversation, planned(generator, conversation, f"Q{turn}?", HITS[:1]), turns=2)
    assert len(conversation.exchanges) == 2
    answered(generator, conversation, planned(generator, conversation, "Q5?", HITS[:1]), turns=0)
    assert conversation.exchanges == []


def test_a_passage_of_a_turn_that_is_no_longer_carried_is_sent_again() -> None:
    generator, conversation = ScriptedGenerator("Yes."), Conversation()
    for turn in range(4):
        answered(generator, conversation, planned(generator, conversation, f"Q{turn}?", [HITS[turn]]), turns=2)
    plan = planned(generator, conversation, "Back to the first?", [HITS[0]])
    assert "word0x1" in plan.sent


def test_a_passage_too_long_for_the_budget_is_cut_to_what_was_asked() -> None:
    long = replace(
        HITS[0], text=" ".join(f"Sentence {i} is dull." for i in range(200)) + " The parrot is called Camões."
    )
    plan = planned(warmed(60), Conversation(), "What is the parrot called?", [long])
    assert "Camões" in plan.sent
    assert plan.uncached < plan.budget + 80


def test_turns_of_an_earlier_process_are_carried_without_their_notes() -> None:
    conversation = Conversation([Sent(Exchange("Question: When did I move?", "In June [1]."))])
    plan = planned(ScriptedGenerator("x"), conversation, "And where to?", HITS[:1])
    assert any("When did I move?" in message.content for message in plan.messages)
