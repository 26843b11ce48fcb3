"""Overlays that hide words."""

from __future__ import annotations

import pytest
from tests.fakes.annotation_queue import a_dialogue

from theodolite.assessment.redacting import redacted, stretches
from theodolite.domain.annotating.case import Redaction, TurnText
from theodolite.domain.errors import InputError
from theodolite.domain.run import Unit, UnitKind
from theodolite.domain.text import BLOCK

DIALOGUE = a_dialogue(Unit(key="a" * 64, kind=UnitKind.SESSION, work_key="w", position=0, label="d", application="b"))


def test_hidden_words_keep_their_length_and_the_original_stays():
    shown = redacted(DIALOGUE, stretches(DIALOGUE, "the tower"), "style")

    assert shown.turns[1].response == f"In {BLOCK * 9} he dies."
    assert len(shown.turns[1].response) == len(DIALOGUE.turns[1].response)
    assert "tower" in DIALOGUE.turns[1].response


def test_a_category_that_must_judge_the_words_sees_them():
    hidden = stretches(DIALOGUE, "the tower", shown_in=("risk",))

    assert redacted(DIALOGUE, hidden, "risk") == DIALOGUE
    assert BLOCK in redacted(DIALOGUE, hidden, "style").turns[1].response


def test_every_place_is_found_on_both_sides():
    assert [(one.turn, one.side) for one in stretches(DIALOGUE, "e")][:1] == [(1, TurnText.PROMPT)]
    assert {one.side for one in stretches(DIALOGUE, "e")} == set(TurnText)


@pytest.mark.parametrize("words", ["", "no such words"])
def test_words_that_stand_nowhere_are_refused(words):
    with pytest.raises(InputError):
        stretches(DIALOGUE, words)


def test_a_stretch_beyond_the_text_hides_what_is_there():
    beyond = Redaction(turn=1, side=TurnText.PROMPT, start=4, end=999)

    assert redacted(DIALOGUE, [beyond], "x").turns[0].prompt == f"Who {BLOCK * 8}"
