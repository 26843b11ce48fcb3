"""Leave to show answers, and what is hidden of them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.coding.coding import ANSWER
from theodolite.store.models.participant import ParticipantRow
from theodolite.store.models.people.session import SessionRow


class QuoteReleaseRow(models.Model):
    """One revision of the leave to show an answer."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    question = StorableTextField()
    by = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    revision = models.IntegerField()
    is_given = models.BooleanField()
    created = MomentField()

    class Meta:
        """Table and numbering."""

        db_table = "store_quote_release"
        constraints: ClassVar = [
            models.UniqueConstraint(name="quote_release_revision", fields=[*ANSWER, "revision"]),
        ]


class QuoteStretchRow(models.Model):
    """A stretch of an answer that is not shown."""

    release = models.ForeignKey(QuoteReleaseRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    start = models.IntegerField()
    end = models.IntegerField()

    class Meta:
        """Table; stretches that are some."""

        db_table = "store_quote_stretch"
        constraints: ClassVar = [
            models.CheckConstraint(name="quote_stretch", condition=Q(start__gte=0, end__gt=F("start"))),
            models.UniqueConstraint(name="quote_stretch_once", fields=["release", "start"]),
        ]
