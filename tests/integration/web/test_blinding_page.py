"""The blinding audit: guesses against chance, and replies that gave an application away."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.event import Role
from theodolite.domain.event_record import BlindingAssessment, BlindingGuess, GuessedThing
from theodolite.domain.live import LiveEnding
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.sessions import prepare_session, start_session
from theodolite.measurement.probes import leak_rate
from theodolite.web.events import event_of
from theodolite.web.organiser import results

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def test_guesses_are_compared_with_chance_and_names_with_their_application(event, client_as):
    context = event_of(event)
    session = start_session(context, prepare_session(context, "guessing-tester", Level.RED_TEAMING, 0).key)
    finish_turn(
        context,
        send_prompt(context, session.key, "Who are you?")[0].key,
        LiveEnding(state=TurnState.COMPLETE, text="I am ChatGPT <b>indeed</b>."),
    )
    names = tuple(one.name for one in context.study.applications)
    guess = BlindingGuess(
        session=session.key,
        about=GuessedThing.APPLICATION,
        guess=session.application,
        options=names,
        at=datetime(2026, 3, 2, tzinfo=UTC),
    )
    context.responses.add_guess(guess)

    page = client_as(Role.ANALYST).get(f"/s/{event.token}/organise/blinding/").content.decode()

    assert "1 of 1" in page
    assert "50.0%" in page
    assert 'data-label="p-value">undefined: fewer than 5 guesses</td>' in page
    assert "0.500" not in page
    assert "ChatGPT" in page
    assert "guessing-tester" not in page
    assert 'class="strip" role="img" aria-label="application, all levels: 1 of 1 right' in page


def test_sufficient_guesses_are_shown_as_a_share_with_interval_and_chance(event, client_as, monkeypatch):
    rate, p_value = leak_rate([True, False] * 5, [0.5] * 10)
    leak = BlindingAssessment(about=GuessedThing.LEVEL, level=None, rate=rate, chance=0.5, p_value=p_value)
    monkeypatch.setattr(results, "leaks", lambda _: (leak,))

    page = client_as(Role.ANALYST).get(f"/s/{event.token}/organise/blinding/").content.decode()

    drawn = re.search(r'<svg class="share".*?</svg>', page)[0]
    stroke = re.search(r'<line x1="([\d.]+)" x2="\1" [^>]* class="chance"', drawn)
    assert "5 of 10 (50.0%) right, 18.7% to 81.3%, by chance 50.0%" in drawn
    assert f'<circle cx="{stroke[1]}"' in drawn
