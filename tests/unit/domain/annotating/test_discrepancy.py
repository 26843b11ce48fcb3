"""What a formal review may record."""

from __future__ import annotations

import pytest

from theodolite.domain.annotating.discrepancy import DissentCause, Resolution
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError

WHOLE = {"question": "released", "turn": None, "participants": ("s-1",), "rationale": "Read together."}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"outcome": Outcome.ANSWERED},
        {"outcome": Outcome.MISSING, "value": "yes"},
        {"outcome": Outcome.MISSING, "cause": DissentCause.MISSING_FACT},
        {"cause": DissentCause.MISSING_FACT, "rationale": " "},
        {"cause": DissentCause.MISSING_FACT, "participants": ()},
    ],
    ids=["neither", "no value", "a value too many", "both", "no reason", "nobody"],
)
def test_an_incomplete_or_overfull_result_is_refused(changes):
    with pytest.raises(InputError):
        Resolution(**(WHOLE | changes))


def test_consensus_and_dissent_are_distinguished():
    assert Resolution(**WHOLE, outcome=Outcome.ANSWERED, value="yes").is_consensus
    assert not Resolution(**WHOLE, cause=DissentCause.VALUE_DIFFERENCE).is_consensus
