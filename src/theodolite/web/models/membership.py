"""Memberships: what an account may do in a study, and under which opaque key the store knows the person."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.domain.people.role import Role
from theodolite.web.models.hosted_study import HostedStudy
from theodolite.web.models.token import new_token

_ROLES = [(role.value, role.value) for role in Role]


class Membership(models.Model):
    """One role of one person in one study.

    Attributes:
        token: Names the person to this audience; the same person has another one in another role.
        role: A `Role`.
        participant: Key under which the store knows the person; the only link between the two.
        left_at: When the person left or was taken out; None while the role is held.
        withdrew: Whether the person took back what had been said.
        reminded_at: When the person was last reminded of what is still to be done; None if never.
    """

    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=24, choices=_ROLES)
    token = models.CharField(max_length=32, unique=True, default=new_token)
    participant = models.CharField(max_length=64, default=new_token)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)
    withdrew = models.BooleanField(default=False)
    reminded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Table."""

        db_table = "web_membership"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "hosted", "role"], name="web_membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=[role.value for role in Role]), name="web_role"),
        ]

    def __str__(self) -> str:
        """Return role and study."""
        return f"{self.role} of {self.hosted}"

    @property
    def as_role(self) -> Role:
        """The role as one of the domain's."""
        return Role(self.role)
