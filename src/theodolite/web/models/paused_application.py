"""Applications that an organiser lets rest while the event goes on."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.web.models.hosted_study import HostedStudy


class PausedApplication(models.Model):
    """An application that nobody is led to at present.

    Attributes:
        name: As the study calls it.
    """

    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="paused_applications")
    name = models.CharField(max_length=200)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Table; an application rests once."""

        db_table = "web_paused_application"
        constraints: ClassVar = [models.UniqueConstraint(name="web_paused_once", fields=["hosted", "name"])]

    def __str__(self) -> str:
        """Return its name."""
        return self.name
