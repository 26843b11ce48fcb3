"""Drafts: every answer as it was saved, and which one counts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.annotating.reservation import ReservationRow
from theodolite.store.models.annotation import OUTCOMES


class DraftRow(models.Model):
    """One saved answer; a row is only added, and `current` says which one of a question counts.

    `turn` is 0 for the dialogue as a whole. `outcome` is empty where the answer was
    taken back. `undoes` is the number of the row that this one undoes.
    """

    reservation = models.ForeignKey(ReservationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    outcome = models.TextField(default="")
    value = StorableTextField(null=True)
    reasoning = StorableTextField(default="")
    undoes = models.IntegerField(null=True)
    current = models.BooleanField(default=True)
    created = MomentField()

    class Meta:
        """Table, numbering, one current answer a question and turn."""

        db_table = "store_draft"
        constraints: ClassVar = [
            models.UniqueConstraint(name="draft_number", fields=["reservation", "number"]),
            models.UniqueConstraint(
                name="draft_current", fields=["reservation", "question", "turn"], condition=Q(current=True)
            ),
            models.CheckConstraint(name="draft_outcome", condition=Q(outcome__in=["", *OUTCOMES])),
            models.CheckConstraint(
                name="draft_value_when_answered",
                condition=Q(outcome="answered", value__isnull=False) | (~Q(outcome="answered") & Q(value__isnull=True)),
            ),
        ]


class DraftQuoteRow(models.Model):
    """Words of the dialogue that a saved answer gives as evidence."""

    draft = models.ForeignKey(DraftRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    turn = models.IntegerField()
    text = StorableTextField()

    class Meta:
        """Table, order."""

        db_table = "store_draft_quote"
        constraints: ClassVar = [models.UniqueConstraint(name="draft_quote", fields=["draft", "position"])]
