"""Participants: people without anything that tells who they are."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.store.fields import StorableTextField


class ParticipantRow(models.Model):
    """An opaque key; who is behind it is never known here."""

    key = StorableTextField(unique=True)

    class Meta:
        """Table."""

        db_table = "store_participant"
        constraints: ClassVar = [models.CheckConstraint(name="participant_key", condition=~models.Q(key=""))]
