"""The blinding audit: guesses against chance, and replies that gave an application away."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from theodolite.domain.blinding import BlindingGuess, GuessedThing
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.live import LiveEnding
from theodolite.domain.role import Role
from theodolite.usecases.people.sitting import begin_session, prepare_session
from theodolite.usecases.people.talking import finish, say
from theodolite.web.venues import venue_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def test_guesses_stand_beside_chance_and_names_beside_their_application(event, client_as):
    venue = venue_of(event)
    session = begin_session(venue, prepare_session(venue, "guessing-tester", Level.RED_TEAMING, 0).key)
    finish(
        venue,
        say(venue, session.key, "Who are you?")[0].key,
        LiveEnding(state=TurnState.COMPLETE, text="I am ChatGPT <b>indeed</b>."),
    )
    names = tuple(one.name for one in venue.study.applications)
    guess = BlindingGuess(
        session=session.key,
        about=GuessedThing.APPLICATION,
        guess=session.application,
        options=names,
        at=datetime(2026, 3, 2, tzinfo=UTC),
    )
    venue.store.keep_guess(guess)

    page = client_as(Role.ANALYST).get(f"/s/{event.token}/organise/blinding/").content.decode()

    assert "1 of 1" in page
    assert "50.0 %" in page
    assert "ChatGPT" in page
    assert "guessing-tester" not in page
