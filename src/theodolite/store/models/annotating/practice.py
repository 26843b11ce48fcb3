"""The way to a queue: texts that were acknowledged, and examples that were gone through."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.annotating.queue import QueueRow
from theodolite.store.models.participant import ParticipantRow


class OnboardingRow(models.Model):
    """A text that somebody has read and acknowledged: background material, or the impartiality rules."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    subject = StorableTextField()
    version = HashField()
    created = MomentField()

    class Meta:
        """Table, each text once a person."""

        db_table = "store_onboarding"
        constraints: ClassVar = [
            models.UniqueConstraint(name="onboarding_once", fields=["participant", "subject", "version"])
        ]


class PracticeRow(models.Model):
    """One example that somebody has gone through with feedback, in one series and one version of its category."""

    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    version = HashField()
    example = models.IntegerField()
    created = MomentField()

    class Meta:
        """Table, each example once a person and series."""

        db_table = "store_practice"
        constraints: ClassVar = [
            models.UniqueConstraint(name="practice_once", fields=["queue", "participant", "version", "example"])
        ]
