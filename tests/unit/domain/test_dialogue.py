from __future__ import annotations

import pytest
from tests.fakes.builders import dialogue, turn

from theodolite.domain.errors import InputError


@pytest.mark.parametrize("numbers", [[0], [2], [1, 3], [2, 1], [1, 1]])
def test_turns_are_numbered_from_one_without_gaps(numbers):
    with pytest.raises(InputError, match="numbered from 1"):
        dialogue(*(turn(number) for number in numbers))


def test_one_withheld_turn_withholds_the_dialogue():
    assert dialogue(turn(1), turn(2, withheld="harmful")).withheld == "harmful"
    assert dialogue(turn(1), turn(2)).withheld == ""
