"""What the demonstration needs before people can be asked in, and people who stand at the gate."""

from __future__ import annotations

from datetime import date, timedelta

from django.db import transaction
from django.utils import timezone

from theodolite.domain.people.role import Role
from theodolite.web.accounts.inviting import invite, join
from theodolite.web.approvals import TESTERS
from theodolite.web.booking import book
from theodolite.web.editions import study_in_files
from theodolite.web.models import Account, EthicsApproval, HostedStudy, Membership, RecruitLink, Screening, TimeSlot
from theodolite.web.tester.texts import screening_version

OPEN_HOUSE = timedelta(days=30)
"""How long the room stays open in which those who look around test."""

_ROOM, _LATER = "Room A, open all day", "Room B"


def seed_approval(hosted: HostedStudy) -> None:
    """Record an approval that is none, and says so."""
    EthicsApproval.objects.get_or_create(
        hosted=hosted, body="Nobody: a demonstration", defaults={"number": "none", "granted": date(2026, 1, 1)}
    )


def seed_screened(hosted: HostedStudy) -> None:
    """Let the testers of the event through the screening, so that one click leads those who look around to the task."""
    version = screening_version(study_in_files(hosted).study)
    for tester in hosted.memberships.filter(role__in=[role.value for role in TESTERS]):
        Screening.objects.get_or_create(membership=tester, defaults={"version": version, "passed": True})


@transaction.atomic
def seed_pool(hosted: HostedStudy) -> None:
    """Make time slots, a poster's link, an invitation, and people who were screened; the open room stays open."""
    now = timezone.now()
    if hosted.time_slots.filter(where=_ROOM).update(ends=now + OPEN_HOUSE):
        return
    organiser = hosted.memberships.get(role=Role.ORGANISER.value).account
    tomorrow = now.replace(hour=9, minute=0, second=0, microsecond=0) + timedelta(days=1)
    open_room, later = (
        TimeSlot.objects.create(
            hosted=hosted, role=Role.FIELD_TESTER.value, begins=begins, ends=ends, places=places, where=where,
            made_by=organiser,
        )
        for begins, ends, places, where in (
            (now - timedelta(hours=1), now + OPEN_HOUSE, 6, _ROOM),
            (tomorrow, tomorrow + timedelta(hours=2), 4, _LATER),
        )
    )  # fmt: skip
    RecruitLink.objects.create(hosted=hosted, kind=RecruitLink.Kind.OPEN, name="Notice board", most=20)
    invite(organiser, hosted, Role.RED_TEAMER, name="Nils")
    book(organiser, hosted.memberships.get(role=Role.FIELD_TESTER.value), open_room.token, now)
    book(organiser, _screened(hosted, "Hugo", passed=True), later.token, now)
    _screened(hosted, "Greta", passed=False)


def _screened(hosted: HostedStudy, name: str, *, passed: bool) -> Membership:
    tester = join(Account.objects.create_user(name=name), hosted, Role.FIELD_TESTER)
    version = screening_version(study_in_files(hosted).study)
    Screening.objects.create(membership=tester, version=version, passed=passed)
    return tester
