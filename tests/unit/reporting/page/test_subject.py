from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.reporting.page.subject import subject_of

LIVE = evidence_named("live")
TOLD = QuestionnaireResponse(
    session="0123456789abcdef",
    participant="p1",
    questionnaire="after",
    instrument_version="v1",
    answers=(),
    dialogues=("first", "second", "left out"),
)


def test_the_label_of_a_tester_session_opens_all_its_dialogues():
    evidence = replace(LIVE, responses=(TOLD,), answered={"first": 4, "second": 2, "other": 1})
    subject = subject_of(evidence, findings_named("live"), facts(), words())

    assert [case.index for case in subject.labelled([TOLD.label])] == [2, 4]
    assert [case.index for case in subject.labelled([TOLD.label, LIVE.sessions.label(2)])] == [2, 4]
    assert subject.labelled(["session 99999999"]) == []
