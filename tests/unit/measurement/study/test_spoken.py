from __future__ import annotations

import math

import pytest

from tests.fakes.builders import dialogue, live, recorded, recording, sessions_of, study, turn
from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.findings.realism import StyleMark
from theodolite.domain.persona import Persona
from theodolite.measurement.study.spoken import RealismBook, are_comparable, prompt_mark

BOTH = study(applications=(live(), recorded()))


def book():
    return RealismBook(sessions_of(BOTH, recording("r1"), recording("r2")))


@pytest.mark.parametrize(
    ("mark", "prompt", "value"),
    [
        (StyleMark.CHARACTERS, "  ab c ", 4),
        (StyleMark.WORDS, "It's 2 o'clock", 5),
        (StyleMark.WORDS, "", 0),
        (StyleMark.QUESTION_MARK, "Really? Yes.", 1),
        (StyleMark.QUESTION_MARK, "\u771f\u7684\uff1f", 1),
        (StyleMark.QUESTION_MARK, "No.", 0),
        (StyleMark.CAPITAL, "\u201c\u00c9cole", 1),
        (StyleMark.CAPITAL, "hello", 0),
        (StyleMark.CAPITAL, "\u4f60\u597d", None),
        (StyleMark.CAPITAL, "42!", None),
        (StyleMark.END_MARK, "Stop. ", 1),
        (StyleMark.END_MARK, "\u4f60\u597d\u3002", 1),
        (StyleMark.END_MARK, "stop", 0),
        (StyleMark.END_MARK, "", None),
    ],
)
def test_marks_of_one_prompt(mark, prompt, value):
    assert prompt_mark(mark, prompt) == value


def test_a_dialogue_is_averaged_over_its_prompts():
    looked = book()
    looked.look(dialogue(turn(1, "Hi?"), turn(2, "you two there"), held_by=HeldBy.RECORDED, groups={"kind": "a"}))
    (side,) = looked.sides()

    assert {mark: list(values) for mark, values in side.marks.items()} == {
        StyleMark.TURNS: [2],
        StyleMark.CHARACTERS: [8],
        StyleMark.WORDS: [2],
        StyleMark.QUESTION_MARK: [0.5],
        StyleMark.CAPITAL: [0.5],
        StyleMark.END_MARK: [0.5],
    }
    assert (side.n, side.applications, side.groups) == (1, ("bot",), {"kind": ("a",)})


def test_a_first_prompt_that_the_study_fixes_tells_nothing_of_style():
    looked, played = book(), Persona(key="p", name="Ana", group="g", text="", goal="", model="user", starter="Hello.")
    looked.look(dialogue(turn(1, "Hello."), held_by=HeldBy.SIMULATED_USER, persona=played))
    (side,) = looked.sides()

    assert list(side.marks[StyleMark.TURNS]) == [1]
    assert math.isnan(side.marks[StyleMark.WORDS][0])


def test_withheld_words_and_scripts_are_not_looked_at():
    looked = book()
    looked.look(dialogue(turn(1, "", "", withheld="harmful"), held_by=HeldBy.RECORDED))
    looked.look(dialogue(held_by=HeldBy.SCRIPT))

    assert looked.sides() == ()


def test_nothing_is_kept_where_only_one_side_is_planned():
    looked = RealismBook(sessions_of(study()))
    looked.look(dialogue(held_by=HeldBy.SIMULATED_USER))

    assert looked.sides() == ()


def test_red_teamers_are_compared_with_red_teamers():
    user = ("shop", Level.MODEL_TESTING, HeldBy.SIMULATED_USER)
    attacker = ("shop", Level.RED_TEAMING, HeldBy.SIMULATED_USER)

    assert are_comparable(("shop", Level.FIELD_TESTING, HeldBy.PERSON), user)
    assert are_comparable(("shop", Level.RED_TEAMING, HeldBy.PERSON), attacker)
    assert not are_comparable(("shop", Level.MODEL_TESTING, HeldBy.RECORDED), attacker)
    assert not are_comparable(("office", Level.MODEL_TESTING, HeldBy.RECORDED), user)
    assert not are_comparable(("shop", Level.MODEL_TESTING, HeldBy.SCRIPT), user)
