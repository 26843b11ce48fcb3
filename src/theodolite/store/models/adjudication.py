"""Adjudications: final labels, and the people who took part in them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.annotation import AdjudicationOrigin
from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.annotation import OUTCOMES, VALUE_ONLY_WHEN_ANSWERED
from theodolite.store.models.dialogue import DialogueRow
from theodolite.store.models.participant import ParticipantRow
from theodolite.store.models.run import RunRow


class AdjudicationRow(models.Model):
    """One final label.

    It belongs to the run that brought it: a study that spells its labels anew
    adopts the dialogues of the run before, but not that run's final labels.
    """

    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    guideline = StorableTextField()
    question = StorableTextField()
    outcome = models.TextField()
    origin = models.TextField()
    value = StorableTextField(null=True)
    number = models.FloatField(null=True)
    rationale = StorableTextField(default="")
    decided = MomentField(null=True)
    raw = StorableTextField(default="")
    repaired = models.IntegerField(default=0)

    class Meta:
        """Table, one final label a question, outcomes, values."""

        db_table = "store_adjudication"
        constraints: ClassVar = [
            models.UniqueConstraint(name="adjudication_question", fields=["run", "dialogue", "guideline", "question"]),
            models.CheckConstraint(name="adjudication_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(
                name="adjudication_origin", condition=Q(origin__in=[v.value for v in AdjudicationOrigin])
            ),
            models.CheckConstraint(name="adjudication_value_when_answered", condition=VALUE_ONLY_WHEN_ANSWERED),
        ]


class AdjudicatorRow(models.Model):
    """One person who took part in a final label."""

    adjudication = models.ForeignKey(AdjudicationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    position = models.IntegerField()

    class Meta:
        """Table, order."""

        db_table = "store_adjudicator"
        constraints: ClassVar = [
            models.UniqueConstraint(name="adjudicator_position", fields=["adjudication", "position"]),
        ]
