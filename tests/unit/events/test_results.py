from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import live
from tests.fakes.event import (
    RED,
    a_session,
    all_sessions,
    an_event,
    an_open_event,
    exchange,
    failed,
    measured,
)
from tests.fakes.event import (
    answered as answered_turn,
)
from tests.fakes.responses import AFTER

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.dialogue import Level
from theodolite.domain.identity import version_of
from theodolite.domain.live import NamingCount, ReplyCounts
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.results import STUCK_S, activity_counts, naming_counts, status_of
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


def test_answers_of_a_tester_are_evidence_with_application_level_and_dialogue():
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


def test_answers_about_another_version_have_another_subject():
    event = an_open_event(replace(an_event(), questionnaires=(AFTER,)))
    session = a_session(event)
    exchange(event, session)
    answered(event, session)
    changed = tuple(replace(one, connection=live("other").connection) for one in event.study.applications)

    assert len(measured(event).responses) == 1
    assert measured(replace(event, study=replace(event.study, applications=changed))).responses == ()


def test_replies_are_counted_by_finish_and_costs_are_summed():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session)
    finish_turn(event, send_prompt(event, session.key, "Again?")[0].key, failed())

    status = status_of(event)

    assert status.applications == ("blue", "green")
    assert dict(status.replies) == {session.application: ReplyCounts(complete=1, errors=1, cost_microusd=3)}
    assert status.cost_microusd == 3
    assert [(one.turn, one.cause) for one in status.failures] == [(2, "10.0.0.7 did not answer")]


def test_a_reply_in_progress_is_stuck_after_a_while():
    event = an_open_event()
    session = a_session(event)
    send_prompt(event, session.key, "Hello?")
    before = status_of(event).replies[session.application]
    event.clock.passed_s += STUCK_S + 1

    assert (before.stuck, status_of(event).replies[session.application].stuck) == (0, 1)
    assert list(status_of(event).waiting_since) == [session.key]


def test_without_a_reported_cost_the_cost_is_unknown_and_not_zero():
    event = an_open_event()
    session = a_session(event)
    finish_turn(event, send_prompt(event, session.key, "Hello?")[0].key, answered_turn())

    assert status_of(event).cost_microusd is None


def test_cells_show_planned_started_and_ended_sessions():
    event = an_open_event()
    first, second = all_sessions(event, "p1")
    end_session(event, a_session(event, "p1").key)

    cells = {cell.application: (cell.planned, cell.begun, cell.over) for cell in status_of(event).cells}

    assert cells == {first.application: (2, 1, 1), second.application: (2, 0, 0)}
    assert {cell.level for cell in status_of(event).cells} == {RED.value}


def test_an_application_that_names_itself_is_counted_with_its_phrases():
    event = an_open_event()
    session = a_session(event)
    exchange(event, session, response="I am ChatGPT, made by OpenAI.")
    exchange(event, session, response="No.")

    (count,) = naming_counts(event)

    assert isinstance(count, NamingCount)
    assert (count.application, count.turns, count.named) == (session.application, 2, 1)
    assert "ChatGPT" in " ".join(count.phrases)
    assert (activity_counts(event).guesses, activity_counts(event).submitted) == (0, 0)
