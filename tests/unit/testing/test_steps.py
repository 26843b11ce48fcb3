"""A person's way through an event."""

from __future__ import annotations

import pytest

from theodolite.testing.steps import Next, SittingSoFar, Standing, Step, next_step

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
