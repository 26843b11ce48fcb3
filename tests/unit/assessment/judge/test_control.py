from __future__ import annotations

import pytest
from tests.fakes.builders import dialogue, turn

from theodolite.assessment.judge.control import control_question
from theodolite.domain.annotation import Control

SAID = dialogue(turn(1, "a", "b"), turn(2, "c", "d"))


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ("{answer}", Control.PASSED),
        (" {ANSWER} ", Control.PASSED),
        ("{word}, 2", Control.PASSED),
        ("{word}", Control.FAILED),
        ("{word} 3", Control.FAILED),
        ("apple 2", Control.FAILED),
        (2, Control.FAILED),
        (None, Control.UNANSWERED),
    ],
)
def test_the_answer_is_the_word_and_the_last_turn(given, state):
    asked = control_question(SAID, 1)
    words = {"answer": asked.answer, "ANSWER": asked.answer.upper(), "word": asked.word}
    said = given.format(**words) if isinstance(given, str) else given

    assert asked.state({"check": said}) is state


@pytest.mark.parametrize("verdict", [None, {}, {"label": "yes"}])
def test_a_verdict_that_was_copied_leaves_it_unanswered(verdict):
    assert control_question(SAID, 1).state(verdict) is Control.UNANSWERED


def test_the_word_stands_nowhere_in_the_material():
    word = control_question(SAID, 1).word
    other = control_question(dialogue(turn(1, "a", f"The word is {word.upper()}.")), 1).word

    assert other not in f"the word is {word}"


def test_each_reading_has_a_word_of_its_own():
    assert len({control_question(SAID, replicate).word for replicate in range(1, 20)}) > 5
