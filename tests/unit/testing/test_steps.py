"""A person's way through an event."""

from __future__ import annotations

import pytest

from theodolite.testing.steps import Next, Screened, SittingSoFar, Standing, Step, next_step

OVER = SittingSoFar(is_read=True, is_over=True)
UNREAD = SittingSoFar()
ASKED = SittingSoFar(is_read=True, is_over=True, to_answer=1)
READ = SittingSoFar(is_read=True)


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        (Standing(sittings=(UNREAD,)), Next(step=Step.CONSENT)),
        (Standing(has_agreed=True, sittings=(UNREAD,)), Next(step=Step.PROFILE)),
        (Standing(has_agreed=True, was_asked=True, sittings=(UNREAD, UNREAD)), Next(step=Step.INSTRUCTIONS, place=1)),
        (Standing(has_agreed=True, was_asked=True, sittings=(READ, UNREAD)), Next(step=Step.CHAT, place=1)),
        (Standing(has_agreed=True, was_asked=True, sittings=(ASKED, UNREAD)), Next(step=Step.QUESTIONS, place=1)),
        (Standing(has_agreed=True, was_asked=True, sittings=(OVER, UNREAD)), Next(step=Step.INSTRUCTIONS, place=2)),
        (Standing(has_agreed=True, was_asked=True, sittings=(OVER, OVER)), Next(step=Step.GUESS)),
        (Standing(has_agreed=True, was_asked=True, sittings=(OVER,), has_guessed=True), Next(step=Step.DONE)),
        (Standing(has_agreed=True, was_asked=True), Next(step=Step.DONE)),
        (Standing(was_asked=True, sittings=(OVER,), has_guessed=True), Next(step=Step.CONSENT)),
    ],
    ids=[
        "nothing yet", "agreed", "asked", "read", "questions", "second session", "all over", "guessed",
        "nothing to do", "a new text of consent",
    ],
)  # fmt: skip
def test_one_step_follows_the_other(standing: Standing, expected: Next) -> None:
    assert next_step(standing) == expected


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        (Standing(screened=Screened.OPEN, sittings=(UNREAD,)), Step.SCREENING),
        (Standing(screened=Screened.OUT, has_agreed=True, sittings=(UNREAD,)), Step.SCREENED_OUT),
        (Standing(has_place=False, screened=Screened.OPEN, sittings=(UNREAD,)), Step.FULL),
        (Standing(has_place=False, screened=Screened.OUT, has_agreed=True, sittings=(READ,)), Step.CHAT),
        (Standing(has_agreed=False, sittings=(READ,)), Step.CHAT),
        (Standing(has_agreed=True, was_asked=True, has_slot=False, sittings=(UNREAD,)), Step.SLOT),
        (Standing(has_agreed=True, was_asked=True, is_enough=True, sittings=(OVER, UNREAD)), Step.GUESS),
        (Standing(has_agreed=True, was_asked=True, is_enough=True, sittings=(ASKED, UNREAD)), Step.QUESTIONS),
        (Standing(has_agreed=True, was_asked=True, is_enough=True, sittings=(READ, UNREAD)), Step.CHAT),
        (Standing(has_agreed=True, was_asked=True, is_enough=True, sittings=(UNREAD,)), Step.DONE),
        (Standing(has_agreed=True, has_chosen=False, sittings=(UNREAD,)), Step.TOPICS),
        (Standing(has_agreed=True, has_chosen=False, was_asked=True, sittings=(OVER, UNREAD)), Step.TOPICS),
        (Standing(has_agreed=True, was_asked=True, upcoming=0, sittings=(UNREAD,)), Step.SPARED),
        (Standing(has_agreed=True, was_asked=True, upcoming=0, sittings=(OVER, UNREAD)), Step.GUESS),
    ],
    ids=[
        "asked first", "not let in", "no place", "who has begun is not turned away", "a new text can wait",
        "a time first", "enough", "enough, questions open", "enough in the middle", "enough elsewhere",
        "topics", "new topics", "nothing is left", "nothing more is left",
    ],
)  # fmt: skip
def test_what_keeps_people_from_a_session_and_what_does_not(standing: Standing, expected: Step) -> None:
    assert next_step(standing).step is expected
