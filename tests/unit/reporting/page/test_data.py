from __future__ import annotations

import pytest

from tests.fakes.builders import dialogue
from theodolite.domain.dialogue import Ending, HeldBy
from theodolite.domain.strategy import Strategy
from theodolite.reporting.page.data import _ending

NOTED = (Strategy(name="role_play", dialogue="unit-1"),)


@pytest.mark.parametrize(
    ("ending", "held_by", "strategies", "words"),
    [
        (Ending.SCRIPT_END, HeldBy.SIMULATED_USER, NOTED, "nothing left to try"),
        (Ending.STOP_RULE, HeldBy.SIMULATED_USER, NOTED, "something was released"),
        (Ending.TURN_LIMIT, HeldBy.SIMULATED_USER, NOTED, "turn limit"),
        (Ending.STOP_RULE, HeldBy.SIMULATED_USER, (), "stop rule"),
        (Ending.TESTER_LEFT, HeldBy.PERSON, NOTED, "tester left"),
    ],
)
def test_an_attack_ends_by_what_its_strategy_found(ending, held_by, strategies, words):
    assert _ending(dialogue(ending=ending, held_by=held_by, strategies=strategies)) == words
