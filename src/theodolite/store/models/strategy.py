"""Strategies and their attempts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.strategy import AttemptOutcome
from theodolite.store.fields import StorableTextField
from theodolite.store.models.dialogue import DialogueRow


class StrategyRow(models.Model):
    """One way of attack in one dialogue."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    name = StorableTextField()

    class Meta:
        """Table, order."""

        db_table = "store_strategy"
        constraints: ClassVar = [
            models.UniqueConstraint(name="strategy_position", fields=["dialogue", "position"]),
        ]


class AttemptRow(models.Model):
    """One try of a strategy; `refines` is the number of the try that it builds on."""

    strategy = models.ForeignKey(StrategyRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    description = StorableTextField()
    outcome = models.TextField()
    turn = models.IntegerField(null=True)
    refines = models.IntegerField(null=True)
    planted = StorableTextField(default="")

    class Meta:
        """Table, numbering, the closed list of outcomes."""

        db_table = "store_attempt"
        constraints: ClassVar = [
            models.UniqueConstraint(name="attempt_number", fields=["strategy", "number"]),
            models.CheckConstraint(name="attempt_outcome", condition=Q(outcome__in=[v.value for v in AttemptOutcome])),
        ]
