"""Time slots: when people of a role come, and who has booked which."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.domain.people.role import Role
from theodolite.web.models.hosted_study import HostedStudy
from theodolite.web.models.membership import Membership
from theodolite.web.models.token import new_token

_TESTERS = [(role.value, role.value) for role in (Role.RED_TEAMER, Role.FIELD_TESTER)]


class TimeSlot(models.Model):
    """A time at which some people of a role may begin their sessions.

    Attributes:
        token: Names it in addresses.
        role: Red teamer or field tester.
        begins: From when sessions may be begun.
        ends: Until when; what was begun may be finished.
        places: How many people may book it; count.
        where: Room or remark, for people; may be empty.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="time_slots")
    role = models.CharField(max_length=24, choices=_TESTERS)
    begins = models.DateTimeField()
    ends = models.DateTimeField()
    places = models.PositiveIntegerField()
    where = models.CharField(max_length=120, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table; a slot ends after it begins."""

        db_table = "web_time_slot"
        ordering: ClassVar = ["begins", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(name="web_slot_ends", condition=models.Q(ends__gt=models.F("begins"))),
            models.CheckConstraint(name="web_slot_role", condition=models.Q(role__in=[role for role, _ in _TESTERS])),
        ]

    def __str__(self) -> str:
        """Return role and beginning."""
        return f"{self.role}, {self.begins:%Y-%m-%d %H:%M} UTC"


class Booking(models.Model):
    """One person's time; another one takes its place."""

    slot = models.ForeignKey(TimeSlot, models.PROTECT, related_name="bookings")
    membership = models.OneToOneField(Membership, models.CASCADE, related_name="booking")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        """Table."""

        db_table = "web_booking"

    def __str__(self) -> str:
        """Return the slot, never the person."""
        return f"place in {self.slot}"
