"""What is measured of an event beside what was said in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.event import a_session, an_event, an_open_event, exchange
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.domain.people.event import Event
from theodolite.domain.people.event_record import EventRecord
from theodolite.domain.people.exposure import BreakRule
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.events.results import event_record
from theodolite.events.sessions import end_session
from theodolite.events.withdrawal import withdraw
from theodolite.measurement.study.events import event_finding


@pytest.fixture
def event():
    """Three red teamers: one leaves after 6 minutes, one after 18 with a mark, one takes everything back."""
    event = an_open_event(an_event(people=3, sessions=1, event=Event(breaks=BreakRule(most_severe=1))))
    for who, minutes in (("p1", 6), ("p2", 18), ("p3", 1)):
        session = a_session(event, who)
        turn = exchange(event, session)
        event.dialogues.mark_turn(turn.key, broke=who == "p2")
        event.clock.passed_s += 60 * minutes
        end_session(event, session.key)
        names = ("blue", "green")
        believed = BlindingGuess(
            session=session.key, about=GuessedThing.APPLICATION, guess=session.application, options=names,
            at=event.clock.now(),
        )  # fmt: skip
        event.responses.add_guess(believed)
    withdraw(event, "p3", Withdrawal.REMOVE)
    return event


def test_exposure_counts_sessions_that_are_over_and_not_withdrawn(event):
    (tally,) = event_finding(event.study, event_record(event.store, event.study)).exposures

    assert (tally.n_people, tally.n_sessions, tally.turns) == (2, 2, 2)
    assert (tally.minutes_median, tally.minutes_most) == (12, 18)
    assert (tally.severe, tally.severe_most, tally.n_enough) == (1, 1, 1)


def test_without_a_limit_nobody_has_come_to_it(event):
    study = replace(event.study, event=Event())

    assert event_finding(study, event_record(event.store, study)).exposures[0].n_enough is None


def test_guesses_stand_beside_chance_and_withdrawals_are_counts(event):
    found = event_finding(event.study, event_record(event.store, event.study))

    assert [(leak.rate.count, leak.rate.n, leak.chance) for leak in found.leaks if leak.level is None] == [(2, 2, 0.5)]
    assert [(one.kind, one.n_people, one.dialogues) for one in found.withdrawals] == [(Withdrawal.REMOVE, 1, 1)]


def test_languages_are_counted_by_what_was_read_and_leave_out_what_was_withdrawn(event):
    for who, language in (("p1", "de"), ("p2", "")):
        (session,) = event.sessions.of_participant(who)
        event.sessions.update(session.key, lambda known, language=language: replace(known, language=language))
    found = event_finding(event.study, event_record(event.store, event.study))

    assert [(one.language, one.n_sessions, one.n_dialogues) for one in found.languages] == [("de", 1, 1), ("", 1, 1)]


def test_where_nobody_took_part_there_is_no_event(event):
    assert event_finding(event.study, EventRecord()) is None


REPOSITORIES = ("events", "sessions", "dialogues", "participants", "responses", "withdrawals")


class Listening:
    """A store, or a part of it, that notes what is read from its repositories."""

    def __init__(self, target, reads):
        self.target, self.reads = target, reads

    def __getattr__(self, name):
        value = getattr(self.target, name)
        if name in REPOSITORIES:
            return Listening(value, self.reads)
        self.reads.append(name)
        return value


def test_an_event_is_read_by_as_few_questions_however_many_sessions_it_has(event):
    reads: list[str] = []

    record = event_record(Listening(event.store, reads), event.study)

    assert len(record.sessions) == 3
    assert sorted(reads) == ["dialogue_counts", "guesses", "in_study", "tombstones", "turn_counts"]
