from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.codings import TRIED as STRATEGY
from tests.fakes.codings import WORDS, noted
from tests.fakes.responses import STUDY

from theodolite.domain.dialogue import Level
from theodolite.domain.identity import version_of
from theodolite.domain.people.session import SessionState
from theodolite.domain.tried import TRIED, tried_in


def test_all_notes_of_a_session_are_one_answer_about_its_dialogues():
    again = replace(STRATEGY, name="own words", attempts=())
    (one,) = tried_in([noted(STUDY, groups={"age": "old"}), noted(STUDY, number=2, strategies=(again,))])

    assert [answer.value for answer in one.to("tried")] == [f"{WORDS}\nown words"]
    assert (one.questionnaire, one.instrument_version, one.submitted) == (TRIED.name, version_of(TRIED), True)
    assert (one.participant, one.application, one.level) == ("p", "blue", Level.RED_TEAMING)
    assert (one.dialogues, one.groups) == (("unit 1", "unit 2"), {"age": "old"})


@pytest.mark.parametrize("state", [SessionState.WAITING, SessionState.ACTIVE, SessionState.WITHDRAWN])
def test_notes_that_may_still_change_or_were_taken_back_are_none(state):
    assert list(tried_in([noted(STUDY, state=state)])) == []


def test_a_session_without_a_note_is_left_out():
    assert list(tried_in([noted(STUDY, strategies=())])) == []
