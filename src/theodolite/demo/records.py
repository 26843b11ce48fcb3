"""Records around the sessions of the demo event: members, guesses, messages and criteria, loaded from shipped files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from theodolite.demo.people import demo_account
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role
from theodolite.domain.event_record import BlindingGuess, GuessedThing
from theodolite.domain.session import Session
from theodolite.domain.study_parts import CriteriaSubject
from theodolite.testing.assigning import people_levels
from theodolite.usecases.measuring import criteria_of, state_criteria
from theodolite.web.events import event_of, server_store
from theodolite.web.models import EventMessage, HostedStudy, Membership, Screening
from theodolite.web.tester.context import screening_version

_ROLES = {Level.RED_TEAMING: Role.RED_TEAMER, Level.FIELD_TESTING: Role.FIELD_TESTER}

_BEFORE_SESSION = timedelta(minutes=10)
"""Time between the admission of a tester and the first session."""


def load_tester_members(hosted: HostedStudy) -> None:
    """Give each participant with sessions an account and a membership, unless they have one."""
    event, numbers = event_of(hosted), Counter[Role]()
    version = screening_version(event.study)
    known = set(hosted.memberships.values_list("participant", flat=True))
    first: dict[str, Session] = {}
    for session in event.sessions.in_study(event.study.name):
        first.setdefault(session.participant, session)
    for participant, session in first.items():
        role = _ROLES[session.level]
        numbers[role] += 1
        if participant in known:
            continue
        name = f"{session.level.value.split()[0].capitalize()} {numbers[role]}"
        with transaction.atomic():
            member = Membership.objects.create(
                account=demo_account(name.lower().replace(" ", "-"), name), hosted=hosted, role=role.value,
                participant=participant,
            )  # fmt: skip
            began = session.clock.started or timezone.now()
            Membership.objects.filter(pk=member.pk).update(joined_at=began - _BEFORE_SESSION)
            Screening.objects.create(membership=member, version=version, passed=True)


def load_guesses(hosted: HostedStudy, guesses: Mapping[str, Any]) -> None:
    """Store the guesses of the testers after their last session, unless there are some.

    Args:
        hosted: The event.
        guesses: Guessed application and level of each tester's sessions in order, by level of the test; an empty
            guess is "I do not know".
    """
    event = event_of(hosted)
    if event.responses.counts(event.study.name)[0]:
        return
    applications = tuple(sorted(application.name for application in event.study.applications))
    levels = tuple(plan.level.value for plan in people_levels(event.study))
    by_tester: dict[str, list[Session]] = {}
    for session in event.sessions.in_study(event.study.name):
        by_tester.setdefault(session.participant, []).append(session)
    rows = {level: iter(given) for level, given in guesses.items()}
    for sessions in by_tester.values():
        *named, level = next(rows[sessions[0].level.value])
        now = event.clock.now()
        for session, guess in zip(sessions, named, strict=True):
            event.responses.add_guess(
                BlindingGuess(
                    session=session.key, about=GuessedThing.APPLICATION, guess=guess, options=applications, at=now
                )
            )
        event.responses.add_guess(
            BlindingGuess(session=sessions[0].key, about=GuessedThing.LEVEL, guess=level, options=levels, at=now)
        )


def load_messages(hosted: HostedStudy, messages: Mapping[str, Any]) -> None:
    """Store a message to all testers and an answered question, unless there are messages."""
    if hosted.event_messages.exists():
        return
    organiser = hosted.memberships.get(role=Role.ORGANISER.value).account.token
    tester = hosted.memberships.filter(account__name=messages["by"]).get()
    EventMessage.objects.create(hosted=hosted, author=organiser, text=messages["to_all"])
    EventMessage.objects.create(hosted=hosted, membership=tester, text=messages["question"], location=messages["at"])
    EventMessage.objects.create(hosted=hosted, membership=tester, author=organiser, text=messages["answer"])


def load_criteria(hosted: HostedStudy, criteria: Mapping[str, str]) -> None:
    """State the criteria for annotators, unless they are stated."""
    store = server_store()
    if criteria_of(store, hosted.name):
        return
    organiser = hosted.memberships.get(role=Role.ORGANISER.value).account.token
    for about, text in criteria.items():
        state_criteria(store, hosted.name, CriteriaSubject(about), text, by=organiser, now=timezone.now())
