"""Studies on this server, and the versions of them that people met."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.web.models.token import new_token


class HostedStudy(models.Model):
    """A study on this server.

    Attributes:
        token: Names the study in addresses.
        name: As its file says.
        title: How people are told it is called; shows nothing about applications.
        folder: Where its files are; empty where a shipped pack is all of it.
        state: Where it stands.
        message: Shown to everybody while it is paused.
        keeps_hours: Whether opening and closing times of the study hold; not while it is tried out.
        second_factor: Roles that need a second factor here, beside those of the whole server.
    """

    class State(models.TextChoices):
        """Where a study stands."""

        DRAFT = "draft"
        PUBLISHED = "published"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    token = models.CharField(max_length=32, unique=True, default=new_token)
    name = models.CharField(max_length=200)
    title = models.CharField(max_length=200, blank=True)
    folder = models.CharField(max_length=1000, blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    message = models.CharField(max_length=500, blank=True)
    keeps_hours = models.BooleanField(default=True)
    second_factor = models.JSONField(default=list)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table."""

        db_table = "web_hosted_study"

    def __str__(self) -> str:
        """Return what people are told that it is called."""
        return self.title or self.name


class Edition(models.Model):
    """A version of a study that people met; its contents lie in the store under the hash.

    Whoever goes back to what was published before publishes it again, as a further edition.

    Attributes:
        number: 1 for the first one.
        version: Content hash of the study.
    """

    hosted = models.ForeignKey(HostedStudy, models.PROTECT, related_name="editions")
    number = models.PositiveIntegerField()
    version = models.CharField(max_length=64)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table."""

        db_table = "web_edition"
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["hosted", "number"], name="web_edition_number"),
        ]

    def __str__(self) -> str:
        """Return the number and the beginning of the hash."""
        return f"edition {self.number} ({self.version[:4]})"
