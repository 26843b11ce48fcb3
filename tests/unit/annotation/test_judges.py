"""A person always reads the dialogue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.annotation.rules import is_pass, most_by_judges
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.people.event import AnnotationProcess


@given(passes=st.integers(1, 9), data=st.data(), wanted=st.integers(1, 9))
def test_one_pass_of_every_item_is_left_to_a_person(passes, data, wanted):
    process = AnnotationProcess(passes=passes, judge_passes=data.draw(st.integers(0, passes - 1)))

    assert 0 <= most_by_judges(process, wanted) <= min(process.judge_passes, wanted - 1)


@pytest.mark.parametrize("judge_passes", [-1, 2, 3])
def test_a_process_without_people_is_refused(judge_passes):
    with pytest.raises(InputError, match="the last pass is always a person's"):
        AnnotationProcess(passes=2, judge_passes=judge_passes)


def test_a_reading_that_failed_in_part_is_no_pass():
    assert is_pass([Outcome.ANSWERED, Outcome.MISSING, Outcome.NOT_APPLICABLE])
    assert not is_pass([Outcome.ANSWERED, Outcome.UNPARSEABLE])
    assert not is_pass([])
