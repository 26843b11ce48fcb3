"""Topics: a person says what is not to be met, and what is in hand of it is taken away."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime

from theodolite.domain.dialogue import Ending
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.people.consent import AcknowledgedText, Acknowledgement
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.people.topic import scenarios_of
from theodolite.domain.study import Study
from theodolite.ports.people import Persons
from theodolite.testing.assigning import people_levels
from theodolite.testing.topics import topics_version
from theodolite.usecases.people.ending import end_open_dialogue
from theodolite.usecases.people.venue import Venue


def choose_topics(
    venue: Venue,
    participant: str,
    names: Collection[str],
    *,
    let_go: Callable[[Session], Venue] | None = None,
) -> tuple[Session, ...]:
    """Keep what a person would rather not meet, and take it out of their hands where it is there.

    A session on such a topic that goes on is ended without a reason and without
    questions. A seat on which nothing was begun is given up for one that suits.

    Args:
        venue: Where.
        participant: Opaque key of the person.
        names: Topics of the study; those that are not named are fine from now on.
        let_go: From a session that goes on to the event as it was when the session was made, once
            nothing more comes in it; `venue` for all where left out.

    Returns:
        The sessions that were ended.

    Raises:
        InputError: If the study has no topic of a name.
    """
    keep_choice(venue.store, venue.study, participant, names, now=venue.clock.now())
    scenarios = scenarios_of(venue.study.topics, names)
    ended = tuple(one for one in _going_on(venue, participant) if one.scenario in scenarios)
    for session in ended:
        end_open_dialogue(let_go(session) if let_go else venue, session, Ending.TESTER_LEFT)
        venue.store.revise_session(session.key, lambda one: one.over(SessionState.INTERRUPTED, venue.clock.now()))
    for plan in people_levels(venue.study):
        venue.store.give_up_seat(venue.study.name, participant, plan.level)
    return ended


def keep_choice(store: Persons, study: Study, participant: str, names: Collection[str], *, now: datetime) -> None:
    """Keep what a person would rather not meet, and that the person was asked.

    Args:
        store: Where it is kept.
        study: Whose topics they are.
        participant: Opaque key of the person.
        names: Topics of the study; those that are not named are fine from now on.
        now: The present moment.

    Raises:
        InputError: If the study has no topic of a name.
    """
    known = [topic.name for topic in study.topics]
    for name in names:
        if name not in known:
            message = f"the study names no topic `{name}`{did_you_mean(name, known)}"
            raise InputError(message)
    store.keep_avoided(study.name, participant, names)
    asked = Acknowledgement(
        participant=participant,
        study=study.name,
        subject=AcknowledgedText.TOPICS,
        version=topics_version(study),
        at=now,
    )
    store.acknowledge(asked)


def _going_on(venue: Venue, participant: str) -> list[Session]:
    mine = venue.store.sessions_of(participant)
    return [one for one in mine if one.study == venue.study.name and one.state is SessionState.ACTIVE]
