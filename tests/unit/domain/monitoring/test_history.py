from __future__ import annotations

import pytest

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.monitoring.history import History, ScaleDirection, Score


def test_only_an_answer_has_a_value():
    with pytest.raises(InputError, match="only an `answered` score"):
        Score(value=1.0, outcome=Outcome.FAILED)
    with pytest.raises(InputError, match="only an `answered` score"):
        Score(value=None)


def test_a_scale_has_a_length_and_holds_its_scores():
    with pytest.raises(InputError, match="a lower and a higher end"):
        History(name="h", scores=(), lowest=1, highest=1)
    with pytest.raises(InputError, match=r"1 of 2 scores lie outside the scale 1 to 5, e.g. 7"):
        History(name="h", scores=(Score(value=7), Score(value=2)), lowest=1, highest=5)


@pytest.mark.parametrize(("worse", "badness"), [(ScaleDirection.LOW, 0.25), (ScaleDirection.HIGH, 0.75)])
def test_badness_runs_from_the_good_end(worse, badness):
    assert History(name="h", scores=(), lowest=1, highest=5, worse=worse).badness(4) == badness
