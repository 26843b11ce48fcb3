from __future__ import annotations

from dataclasses import replace

from tests.fakes.responses import AFTER
from tests.fakes.venue import RED, a_session, a_venue, an_event, exchange

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.dialogue import Level
from theodolite.domain.identity import version_of
from theodolite.domain.plan import ListedSessions
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.measurement.study.responses import response_findings
from theodolite.testing.people import event_sessions
from theodolite.usecases.measuring import evidence_of
from theodolite.usecases.people.sitting import end_session


def answered(venue, session):
    venue.store.keep_response(
        QuestionnaireResponse(
            session=session.key,
            participant=session.participant,
            questionnaire="after",
            instrument_version=version_of(AFTER),
            answers=(Answer(question="bad", outcome=Outcome.ANSWERED, value="6"),),
            submitted=True,
        )
    )


def measured(venue):
    sessions = event_sessions(venue.study, ListedSessions(()), venue.store.held(venue.study.name))
    return evidence_of(venue.store, venue.study, sessions, venue.run)


def test_what_a_tester_answers_is_in_the_evidence_with_its_application_level_and_dialogue():
    venue = a_venue(replace(an_event(), questionnaires=(AFTER,)))
    session = a_session(venue)
    exchange(venue, session)
    end_session(venue, session.key)
    answered(venue, session)
    evidence = measured(venue)
    (finding,) = response_findings(evidence)

    assert RED is Level.RED_TEAMING
    assert (finding.level, finding.n, finding.spreads[0].application) == (RED, 1, session.application)
    assert set(evidence.answered) == {dialogue.key for dialogue in evidence.archive.dialogues()}


def test_answers_about_another_version_of_an_application_are_about_something_else():
    venue = a_venue(replace(an_event(), questionnaires=(AFTER,)))
    session = a_session(venue)
    exchange(venue, session)
    answered(venue, session)
    venue.store.revise_session(session.key, lambda held: replace(held, application_version="0" * 64))

    assert measured(venue).responses == ()
