"""Laws of holding sessions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.builders import scripts, session_task, study
from tests.fakes.clients import gone_on, held_by_hand

from theodolite.domain.flow import AskModel, replay
from theodolite.domain.scenario import Scenario
from theodolite.testing.sessions import run_session

WORDS = st.sampled_from(["a", "b c", "Thanks [END]", " spaced ", "é{}", "[END"])


@st.composite
def conversations(draw):
    """Draw a task and an answer function that says the same at the same request."""
    first = draw(st.sampled_from(["a", "b c", "é{}"]))
    said = [first, *draw(st.lists(WORDS, min_size=8, max_size=8))]
    starter = draw(st.sampled_from(["", "Hello"]))
    scene = Scenario(
        name="shop", goal="Buy", turns=draw(st.integers(1, 4)), starter=starter, scripts=scripts("s", turns=3)
    )
    task = session_task(study(scenarios=(scene,)), place=draw(st.integers(0, 2)))

    def answer(request):
        if isinstance(request, AskModel):
            return said[(len(request.messages) - 2) // 2]
        return f"{request.prompt} {len(request.history)}"

    return task, answer


class TestReplay:
    """Replaying any prefix of a journal and going on equals holding the session without a break."""

    @given(conversations(), st.data())
    def test_a_replayed_session_is_equal(self, conversation, data):
        task, answer = conversation
        whole = held_by_hand(run_session(task), answer)
        stored = data.draw(st.integers(0, len(whole.journal)))

        flow = run_session(task)
        rest = gone_on(flow, replay(flow, whole.journal[:stored]), answer)

        assert rest.result == whole.result
        assert rest.requests == whole.requests[stored:]
        assert rest.journal == whole.journal[stored:]


class TestJournalPositions:
    """A text that is said to stand in the journal stands there, word for word."""

    @given(conversations())
    def test_turns_state_the_journal_positions_of_their_texts(self, conversation):
        task, answer = conversation
        held = held_by_hand(run_session(task), answer)

        texts = [entry.reply.text for entry in held.journal]
        for turn in held.result.turns:
            assert texts[turn.response_at] == turn.response
            assert turn.prompt_at is None or texts[turn.prompt_at] == turn.prompt


class TestLength:
    """A simulated user never has more turns than the scenario allows, and none is empty."""

    @given(conversations())
    def test_a_session_respects_the_turn_limit(self, conversation):
        task, answer = conversation
        held = held_by_hand(run_session(task), answer)

        assert 1 <= len(held.result.turns) <= max(task.scenario.turns, 3)
        assert all(turn.prompt for turn in held.result.turns)
