"""Which slot a participant has, and how many sessions are left of it."""

from __future__ import annotations

from tests.fakes.event import FIELD, RED, a_session, all_sessions, an_event, an_open_event

from theodolite.domain.people.topic import SensitiveTopic
from theodolite.domain.scenario import Scenario
from theodolite.events.allocation import capacity_left, expected_sessions, next_session_index, planned_cells
from theodolite.events.consent import opt_out
from theodolite.events.sessions import end_session

TOPIC = SensitiveTopic(name="grief", scenarios=("funeral",))


def test_a_level_has_room_for_as_many_people_as_the_study_says():
    event = an_open_event()
    free = capacity_left(event, RED, None)
    a_session(event, "p1")

    assert (free, capacity_left(event, RED, None), capacity_left(event, FIELD, None)) == (2, 1, 0)


def test_a_slot_that_would_be_allocated_shows_the_cells_that_its_participant_gets():
    event = an_open_event()
    promised = planned_cells(event, "p1", RED)

    made = all_sessions(event, "p1")

    assert [(cell.scenario, cell.application) for cell in promised] == [(one.scenario, one.application) for one in made]
    assert planned_cells(event, "p1", RED) == promised


def test_the_next_session_is_the_first_that_is_not_over():
    event = an_open_event()
    before = next_session_index(event, "p1", RED)
    end_session(event, a_session(event, "p1").key)
    after = next_session_index(event, "p1", RED)
    end_session(event, a_session(event, "p1", 1).key)

    assert (before, after, next_session_index(event, "p1", RED)) == (0, 1, None)


def test_sessions_on_avoided_topics_are_not_expected_unless_they_have_started():
    study = an_event(sessions=4, topics=(TOPIC,), scenarios=(Scenario(name="shop"), Scenario(name="funeral")))
    event = an_open_event(study)
    opt_out(event, "p1", ["grief"])

    assert expected_sessions(event, "p1", RED, ()) == 2
    assert expected_sessions(event, "p2", RED, ()) == 4
