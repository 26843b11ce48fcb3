"""What is measured of an event beside what was said in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.venue import a_session, a_venue, an_event, exchange
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.domain.people.event import Event
from theodolite.domain.people.event_record import EventRecord
from theodolite.domain.people.exposure import BreakRule
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.measurement.study.events import event_finding
from theodolite.usecases.measuring import event_record_of
from theodolite.usecases.people.leaving import withdraw
from theodolite.usecases.people.sitting import end_session


@pytest.fixture
def venue():
    """Three red teamers: one leaves after 6 minutes, one after 18 with a mark, one takes everything back."""
    venue = a_venue(an_event(people=3, sessions=1, event=Event(breaks=BreakRule(most_severe=1))))
    for who, minutes in (("p1", 6), ("p2", 18), ("p3", 1)):
        session = a_session(venue, who)
        turn = exchange(venue, session)
        venue.store.mark_turn(turn.key, broke=who == "p2")
        venue.clock.passed_s += 60 * minutes
        end_session(venue, session.key)
        names = ("blue", "green")
        believed = BlindingGuess(
            session=session.key, about=GuessedThing.APPLICATION, guess=session.application, options=names,
            at=venue.clock.now(),
        )  # fmt: skip
        venue.store.keep_guess(believed)
    withdraw(venue, "p3", Withdrawal.REMOVE)
    return venue


def test_exposure_counts_sessions_that_are_over_and_not_withdrawn(venue):
    (tally,) = event_finding(venue.study, event_record_of(venue.store, venue.study)).exposures

    assert (tally.n_people, tally.n_sessions, tally.turns) == (2, 2, 2)
    assert (tally.minutes_median, tally.minutes_most) == (12, 18)
    assert (tally.severe, tally.severe_most, tally.n_enough) == (1, 1, 1)


def test_without_a_limit_nobody_has_come_to_it(venue):
    study = replace(venue.study, event=Event())

    assert event_finding(study, event_record_of(venue.store, study)).exposures[0].n_enough is None


def test_guesses_stand_beside_chance_and_withdrawals_are_counts(venue):
    found = event_finding(venue.study, event_record_of(venue.store, venue.study))

    assert [(leak.rate.count, leak.rate.n, leak.chance) for leak in found.leaks if leak.level is None] == [(2, 2, 0.5)]
    assert [(one.kind, one.n_people, one.dialogues) for one in found.withdrawals] == [(Withdrawal.REMOVE, 1, 1)]


def test_languages_are_counted_by_what_was_read_and_leave_out_what_was_withdrawn(venue):
    for who, language in (("p1", "de"), ("p2", "")):
        (session,) = venue.store.sessions_of(who)
        venue.store.revise_session(session.key, lambda known, language=language: replace(known, language=language))
    found = event_finding(venue.study, event_record_of(venue.store, venue.study))

    assert [(one.language, one.n_sessions, one.n_dialogues) for one in found.languages] == [("de", 1, 1), ("", 1, 1)]


def test_where_nobody_took_part_there_is_no_event(venue):
    assert event_finding(venue.study, EventRecord()) is None


class Listening:
    """A store that notes what it is asked."""

    def __init__(self, store):
        self.store, self.asked = store, []

    def __getattr__(self, name):
        self.asked.append(name)
        return getattr(self.store, name)


def test_an_event_is_read_by_as_few_questions_however_many_sessions_it_has(venue):
    store = Listening(venue.store)

    record = event_record_of(store, venue.study)

    assert len(record.sessions) == 3
    assert sorted(store.asked) == ["dialogue_counts", "guesses", "sessions", "tombstones", "turn_counts"]
