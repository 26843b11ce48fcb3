"""Measurements that somebody asked for on this server."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import models

from theodolite.web.models.hosted_study import HostedStudy
from theodolite.web.models.token import new_token


class Measurement(models.Model):
    """A measurement of what a study held at one moment.

    Attributes:
        token: Names it in addresses, and its folder in the workspace.
        asked_by: Who asked for it.
        edition: Content hash of the study that was measured.
        done_at: When it was through; None while it is under way.
        problem: Why it brought nothing; empty if it did.
    """

    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="measurements")
    token = models.CharField(max_length=32, unique=True, default=new_token)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, related_name="+", null=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    edition = models.CharField(max_length=64)
    done_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)

    class Meta:
        """Table."""

        db_table = "web_measurement"

    def __str__(self) -> str:
        """Return its token."""
        return self.token

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return Path(str(settings.WORKSPACE)) / "measured" / self.token
