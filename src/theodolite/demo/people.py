"""People of the seeded events, loaded from the shipped file: accounts, approval, slots, submissions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from theodolite.bootstrap.web_settings import KIT_CLASS
from theodolite.config.load_context import shipped_bytes
from theodolite.config.yaml_source import read_yaml, typed
from theodolite.domain.application import GuardrailSite
from theodolite.domain.people.role import Role
from theodolite.events.sessions import save_avoided_topics, slot_choice
from theodolite.testing.assigning import people_levels
from theodolite.web.accounts.invitations import invite, join
from theodolite.web.events import TESTERS, event_of, host_study, server_store, study_in_files
from theodolite.web.models import (
    Account,
    EthicsApproval,
    HostedStudy,
    Membership,
    RecruitLink,
    Screening,
    Submission,
    TimeSlot,
)
from theodolite.web.participants import book
from theodolite.web.teams.submissions import terms_version
from theodolite.web.tester.context import screening_version

FILE = "demo/people.yaml"
"""Who takes part, among the shipped resources."""


@cache
def people_file() -> Mapping[str, Any]:
    """Return the content of the shipped file."""
    content: Mapping[str, Any] = typed(read_yaml(shipped_bytes(FILE) or b"", FILE).content)
    return content


def demo_account(slug: str, name: str, *, is_host: bool = False) -> Account:
    """Return the account of a seeded person, made where it is not there yet."""
    found = account_of(slug)
    return found or Account.objects.create_user(address_of(slug), name=name, is_host=is_host)


def account_of(slug: str) -> Account | None:
    """Return the account of a seeded person; None for nobody."""
    return Account.objects.filter(email=address_of(slug)).first()


def address_of(slug: str) -> str:
    """Return the address of a seeded person, in a domain that cannot exist."""
    return f"{slug}@demo.invalid"


def load_members(folder: str) -> HostedStudy:
    """Host the first event and give it one member for each role, an approval, submissions and screened testers.

    Args:
        folder: Where the event's study was laid out.
    """
    names = {Role(role): str(name) for role, name in people_file()["people"].items()}
    people = {role: demo_account(slugify(role), name, is_host=role is Role.ORGANISER) for role, name in names.items()}
    hosted = host_study(folder, people[Role.ORGANISER])
    with transaction.atomic():
        for role, account in people.items():
            Membership.objects.get_or_create(account=account, hosted=hosted, role=role)
        HostedStudy.objects.filter(pk=hosted.pk).update(state=HostedStudy.State.OPEN)
        _load_submissions(hosted)
        load_approval(hosted)
        _pass_screening(hosted)
    return hosted


def load_approval(hosted: HostedStudy) -> None:
    """Record an approval that is none, and says so."""
    told = people_file()["approval"]
    defaults = {"number": told["number"], "granted": date.fromisoformat(told["granted"])}
    EthicsApproval.objects.get_or_create(hosted=hosted, body=told["body"], defaults=defaults)


def _pass_screening(hosted: HostedStudy) -> None:
    """Let the testers of the event through the screening, so that one click leads visitors to the task."""
    version = screening_version(study_in_files(hosted).study)
    for tester in hosted.memberships.filter(role__in=[role.value for role in TESTERS]):
        Screening.objects.get_or_create(membership=tester, defaults={"version": version, "passed": True})


def _load_submissions(hosted: HostedStudy) -> None:
    """Give the team of an event one application to check and submit, and one that organisers may decide about."""
    team = Membership.objects.filter(hosted=hosted, role=Role.TEAM.value).first()
    if team is None or Submission.objects.filter(hosted=hosted).exists():
        return
    told = people_file()["submissions"]
    facts = {
        "way": Submission.Way.INSTALLED,
        "target": KIT_CLASS,
        "guardrails": GuardrailSite.NONE.value,
        **told["said"],
    }
    Submission.objects.create(hosted=hosted, team=team, name=told["draft"], **facts)
    agreed = {"agreed_by": told["agreed_by"], "agreed_at": timezone.now(), "agreed_version": terms_version()}
    state = Submission.State.SUBMITTED
    Submission.objects.create(hosted=hosted, team=team, name=told["submitted"], state=state, **agreed, **facts)


@transaction.atomic
def load_gate(hosted: HostedStudy) -> None:
    """Make time slots, a link, an invitation, and people who were screened; a slot that is there stays open."""
    now, told = timezone.now(), people_file()
    first = told["slots"]["open"]
    if hosted.time_slots.filter(where=first["where"]).update(ends=now + timedelta(hours=first["ends"])):
        return
    organiser = hosted.memberships.get(role=Role.ORGANISER.value).account
    slots = {name: _slot(hosted, organiser, slot, now) for name, slot in told["slots"].items()}
    link = told["link"]
    RecruitLink.objects.create(hosted=hosted, kind=RecruitLink.Kind.OPEN, name=link["name"], most=link["most"])
    book(organiser, hosted.memberships.get(role=Role.FIELD_TESTER.value), slots["open"].token, now)
    for one in told["gate"].values():
        if "screened" not in one:
            invite(organiser, hosted, Role.RED_TEAMER, name=one["name"])
            continue
        tester = _screened(hosted, one["name"], passed=one["screened"] == "yes")
        if "slot" in one:
            book(organiser, tester, slots[one["slot"]].token, now)


def _slot(hosted: HostedStudy, organiser: Account, told: Mapping[str, Any], now: datetime) -> TimeSlot:
    start = now
    if told.get("from") == "tomorrow":
        start = now.replace(hour=9, minute=0, second=0, microsecond=0) + timedelta(days=1)
    begins, ends = (start + timedelta(hours=told[end]) for end in ("begins", "ends"))
    role, places, where = Role.FIELD_TESTER.value, told["places"], told["where"]
    return TimeSlot.objects.create(
        hosted=hosted, role=role, begins=begins, ends=ends, places=places, where=where, made_by=organiser
    )


def _screened(hosted: HostedStudy, name: str, *, passed: bool) -> Membership:
    tester = join(Account.objects.create_user(name=name), hosted, Role.FIELD_TESTER)
    version = screening_version(study_in_files(hosted).study)
    Screening.objects.create(membership=tester, version=version, passed=passed)
    return tester


def load_kitchen(folder: Path) -> None:
    """Make the second event where it is not there yet, with two testers who have chosen and one who comes now.

    Args:
        folder: Where its study was laid out.
    """
    told = people_file()["kitchen"]
    accounts = {slug: demo_account(slug, one["name"]) for slug, one in told["doors"].items()}
    hosted = host_study(str(folder), accounts[told["organiser"]])
    if hosted.state == HostedStudy.State.OPEN:
        return
    load_approval(hosted)
    join(accounts[told["newcomer"]], hosted, Role.FIELD_TESTER)
    for name, topics in told["chosen"].items():
        tester = join(Account.objects.create_user(name=name), hosted, Role.FIELD_TESTER)
        _seat(hosted, tester.participant, tuple(topics))
    HostedStudy.objects.filter(pk=hosted.pk).update(state=HostedStudy.State.OPEN)


def _seat(hosted: HostedStudy, participant: str, topics: tuple[str, ...]) -> None:
    """Let a tester choose topics and take the seat that suits best."""
    event, store = event_of(hosted), server_store()
    save_avoided_topics(event.participants, event.study, participant, topics, now=event.clock.now())
    for plan in people_levels(event.study):
        store.events.sessions.allocate(
            event.study.name, participant, plan.level, choose=slot_choice(event, participant, plan.level)
        )
