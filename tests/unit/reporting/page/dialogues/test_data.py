from __future__ import annotations

import pytest

from tests.fakes.builders import dialogue, turn
from theodolite.domain.dialogue import Ending, TesterType
from theodolite.domain.persona import Strategy
from theodolite.reporting.page.dialogues import CallTexts, _dialogue, _ending, _Kept

NOTED = (Strategy(name="role_play", dialogue="unit-1"),)


@pytest.mark.parametrize(
    ("ending", "held_by", "strategies", "words"),
    [
        (Ending.SCRIPT_END, TesterType.SIMULATED_USER, NOTED, "nothing left to try"),
        (Ending.STOP_RULE, TesterType.SIMULATED_USER, NOTED, "something was released"),
        (Ending.TURN_LIMIT, TesterType.SIMULATED_USER, NOTED, "turn limit"),
        (Ending.STOP_RULE, TesterType.SIMULATED_USER, (), "stop rule"),
        (Ending.TESTER_LEFT, TesterType.PERSON, NOTED, "tester left"),
    ],
)
def test_an_attack_ends_with_the_result_of_its_strategy(ending, held_by, strategies, words):
    assert _ending(dialogue(ending=ending, held_by=held_by, strategies=strategies)) == words


def test_source_material_of_a_turn_is_shown_beside_it():
    kept = _Kept(calls=CallTexts(room=0), scenarios=())
    about = dialogue(turn(1, context="Open at nine."), turn(2))

    entry = _dialogue(about, kept)

    assert (entry["sources"], [*kept.contexts]) == ([0, None], ["Open at nine."])
    assert "sources" not in _dialogue(dialogue(), kept)
