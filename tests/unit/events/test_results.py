from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import live
from tests.fakes.event import RED, a_session, an_event, an_open_event, exchange, measured
from tests.fakes.responses import AFTER

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.dialogue import Level
from theodolite.domain.identity import version_of
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.events.sessions import end_session
from theodolite.measurement.study.responses import response_findings


def answered(event, session):
    event.responses.add(
        QuestionnaireResponse(
            session=session.key,
            participant=session.participant,
            questionnaire="after",
            instrument_version=version_of(AFTER),
            answers=(Answer(question="bad", outcome=Outcome.ANSWERED, value="6"),),
            submitted=True,
        )
    )


def test_what_a_tester_answers_is_in_the_evidence_with_its_application_level_and_dialogue():
    event = an_open_event(replace(an_event(), questionnaires=(AFTER,)))
    session = a_session(event)
    exchange(event, session)
    end_session(event, session.key)
    answered(event, session)
    evidence = measured(event)
    (finding,) = response_findings(evidence)

    assert RED is Level.RED_TEAMING
    assert (finding.level, finding.n, finding.spreads[0].application) == (RED, 1, session.application)
    assert set(evidence.answered) == {dialogue.key for dialogue in evidence.archive.dialogues()}


def test_answers_about_another_version_of_an_application_are_about_something_else():
    event = an_open_event(replace(an_event(), questionnaires=(AFTER,)))
    session = a_session(event)
    exchange(event, session)
    answered(event, session)
    changed = tuple(replace(one, connection=live("other").connection) for one in event.study.applications)

    assert len(measured(event).responses) == 1
    assert measured(replace(event, study=replace(event.study, applications=changed))).responses == ()
