"""A person says what is not to be met."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.venue import RED, a_session, a_venue, all_sessions, an_event, exchange

from theodolite.domain.choices import TopicWeight
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.consent import AcknowledgedText
from theodolite.domain.people.session import SessionState
from theodolite.domain.people.topic import SensitiveTopic
from theodolite.domain.scenario import Scenario
from theodolite.usecases.people.seating import next_place, own_cells
from theodolite.usecases.people.sitting import prepare_session
from theodolite.usecases.people.topics import choose_topics

GRIM = SensitiveTopic(name="grim", weight=TopicWeight.HEAVY, scenarios=("forum",))
SHOP, FORUM = Scenario(name="shop", turns=4), Scenario(name="forum", turns=4)


def venue_with(*scenarios: Scenario, people: int = 4):
    return a_venue(replace(an_event(people=people, scenarios=scenarios or (FORUM, SHOP)), topics=(GRIM,)))


def test_who_avoids_a_topic_gets_a_seat_without_it_and_leaves_the_other_free() -> None:
    venue = venue_with()
    choose_topics(venue, "p1", ["grim"])
    mine = all_sessions(venue, "p1", RED)
    others = [prepare_session(venue, who, RED, 0).seat for who in ("p2", "p3", "p4")]

    assert {session.scenario for session in mine} == {"shop"}
    assert sorted([mine[0].seat, *others]) == [0, 1, 2, 3]


def test_a_seat_on_which_nothing_was_begun_is_given_up_for_one_that_suits() -> None:
    venue = venue_with()
    grim = next(who for who in ("p1", "p2", "p3", "p4") if prepare_session(venue, who, RED, 0).scenario == "forum")
    venue = venue_with()
    for who in ("p1", "p2", "p3", "p4"):
        if who == grim:
            break
        prepare_session(venue, who, RED, 0)
    assert prepare_session(venue, grim, RED, 0).scenario == "forum"

    choose_topics(venue, grim, ["grim"])

    assert {cell.scenario for cell in own_cells(venue, grim, RED)} in ({"shop"}, set())
    assert not venue.store.sessions_of(grim)


def test_what_goes_on_ends_without_questions_and_its_words_count() -> None:
    venue = venue_with(FORUM)
    session = a_session(venue)
    exchange(venue, session)

    (ended,) = choose_topics(venue, "p1", ["grim"])

    assert venue.store.session(ended.key).state is SessionState.INTERRUPTED
    assert [one.unit != "" for one in venue.store.held(venue.study.name)] == [True]
    assert next_place(venue, "p1", RED) is None


def test_who_avoids_everything_finds_no_seat_until_they_choose_otherwise() -> None:
    venue = venue_with(FORUM)
    choose_topics(venue, "p1", ["grim"])
    assert next_place(venue, "p1", RED) is None
    with pytest.raises(Conflict):
        prepare_session(venue, "p1", RED, 0)

    choose_topics(venue, "p1", [])

    assert next_place(venue, "p1", RED) == 0
    assert prepare_session(venue, "p1", RED, 0).seat == 0


def test_that_somebody_was_asked_is_kept_whatever_they_chose() -> None:
    venue = venue_with()
    choose_topics(venue, "p1", [])

    (given,) = venue.store.acknowledgements("p1")
    assert given.subject is AcknowledgedText.TOPICS
    assert venue.store.avoided_topics(venue.study.name) == {"p1": frozenset()}


def test_a_topic_that_the_study_does_not_name_is_refused() -> None:
    with pytest.raises(InputError, match="grim"):
        choose_topics(venue_with(), "p1", ["grime"])
