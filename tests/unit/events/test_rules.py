"""A person's way through an event."""

from __future__ import annotations

import pytest

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict
from theodolite.events.rules import (
    NextStep,
    ScreeningResult,
    SessionProgress,
    Step,
    coder_slot,
    free_slot,
    next_step,
)
from theodolite.events.rules import TesterProgress as Progress


def _next(step: Step, session_no: int = 0) -> NextStep:
    return NextStep(step=step, session_no=session_no)


CONSENTED = {"has_consented": True, "has_profile": True}
OVER = SessionProgress(is_read=True, is_over=True)
UNREAD = SessionProgress()
ASKED = SessionProgress(is_read=True, is_over=True, to_answer=1)
READ = SessionProgress(is_read=True)


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (Progress(sessions=(UNREAD,)), _next(Step.CONSENT)),
        (Progress(has_consented=True, sessions=(UNREAD,)), _next(Step.PROFILE)),
        (Progress(**CONSENTED, sessions=(UNREAD, UNREAD)), _next(Step.INSTRUCTIONS, 1)),
        (Progress(**CONSENTED, sessions=(READ, UNREAD)), _next(Step.CHAT, 1)),
        (Progress(**CONSENTED, sessions=(ASKED, UNREAD)), _next(Step.QUESTIONS, 1)),
        (Progress(**CONSENTED, sessions=(OVER, UNREAD)), _next(Step.INSTRUCTIONS, 2)),
        (Progress(**CONSENTED, sessions=(OVER, OVER)), _next(Step.GUESS)),
        (Progress(**CONSENTED, sessions=(OVER,), has_guessed=True), _next(Step.DONE)),
        (Progress(**CONSENTED), _next(Step.DONE)),
        (Progress(has_profile=True, sessions=(OVER,), has_guessed=True), _next(Step.CONSENT)),
    ],
    ids=[
        "nothing yet", "agreed", "asked", "read", "questions", "second session", "all over", "guessed",
        "nothing to do", "a new text of consent",
    ],
)  # fmt: skip
def test_steps_follow_in_their_order(progress: Progress, expected: NextStep) -> None:
    assert next_step(progress) == expected


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (Progress(screening=ScreeningResult.OPEN, sessions=(UNREAD,)), Step.SCREENING),
        (Progress(screening=ScreeningResult.OUT, has_consented=True, sessions=(UNREAD,)), Step.SCREENED_OUT),
        (Progress(has_capacity=False, screening=ScreeningResult.OPEN, sessions=(UNREAD,)), Step.FULL),
        (Progress(has_capacity=False, screening=ScreeningResult.OUT, has_consented=True, sessions=(READ,)), Step.CHAT),
        (Progress(has_consented=False, sessions=(READ,)), Step.CHAT),
        (Progress(**CONSENTED, has_time_slot=False, sessions=(UNREAD,)), Step.SLOT),
        (Progress(**CONSENTED, limit_reached=True, sessions=(OVER, UNREAD)), Step.GUESS),
        (Progress(**CONSENTED, limit_reached=True, sessions=(ASKED, UNREAD)), Step.QUESTIONS),
        (Progress(**CONSENTED, limit_reached=True, sessions=(READ, UNREAD)), Step.CHAT),
        (Progress(**CONSENTED, limit_reached=True, sessions=(UNREAD,)), Step.DONE),
        (Progress(has_consented=True, has_chosen_topics=False, sessions=(UNREAD,)), Step.TOPICS),
        (Progress(has_consented=True, has_chosen_topics=False, has_profile=True, sessions=(OVER, UNREAD)), Step.TOPICS),
        (Progress(**CONSENTED, next_session_no=0, sessions=(UNREAD,)), Step.NO_SCENARIO),
        (Progress(**CONSENTED, next_session_no=0, sessions=(OVER, UNREAD)), Step.GUESS),
    ],
    ids=[
        "asked first", "not let in", "no place", "who has begun is not turned away", "a new text can wait",
        "a time first", "enough", "enough, questions open", "enough in the middle", "enough elsewhere",
        "topics", "new topics", "nothing is left", "nothing more is left",
    ],
)  # fmt: skip
def test_conditions_that_block_a_session_are_distinguished_from_those_that_do_not(
    progress: Progress, expected: Step
) -> None:
    assert next_step(progress).step is expected


class TestSlots:
    def test_the_lowest_free_slot_is_taken(self):
        assert [free_slot(taken, Level.RED_TEAMING, capacity=3) for taken in ((), {0}, {1, 2})] == [0, 1, 0]

    def test_a_suitable_slot_precedes_the_lowest_one(self):
        assert free_slot({0, 1}, Level.RED_TEAMING, capacity=9, suitable=lambda taken: 3 + len(taken)) == 5

    @pytest.mark.parametrize(
        ("taken", "limits", "reason"),
        [
            ({0, 1}, {"capacity": 2}, r"all 2 slots of red teaming \(expert\) are occupied"),
            ((), {"capacity": 0}, "all 0 slots"),
            ({0}, {"suitable": lambda _: None}, "no free slot of red teaming suits this person"),
        ],
        ids=["full", "no slots", "none suitable"],
    )
    def test_without_a_slot_there_is_a_reason(self, taken, limits, reason):
        with pytest.raises(Conflict, match=reason):
            free_slot(taken, Level.RED_TEAMING, "expert", **limits)

    @pytest.mark.parametrize(
        ("coder", "instead_of", "slot"), [("c1", "", 1), ("c2", "", 2), ("c2", "c1", 1)], ids=["own", "next", "vacant"]
    )
    def test_a_coder_keeps_their_slot_or_takes_a_free_one(self, coder, instead_of, slot):
        assert coder_slot(coder, {1: "c1"}, instead_of=instead_of) == slot

    @pytest.mark.parametrize(
        ("holders", "instead_of", "reason"),
        [({1: "c1", 2: "c2"}, "", "2 people have coded"), ({1: "c1"}, "c2", "another coder has taken")],
        ids=["two coders", "replaced coder unknown"],
    )
    def test_a_third_coder_gets_no_slot(self, holders, instead_of, reason):
        with pytest.raises(Conflict, match=reason):
            coder_slot("c3", holders, instead_of=instead_of)
