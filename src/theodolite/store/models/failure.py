"""Failures: units that brought nothing."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.failure import Party
from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.unit import UnitRow


class FailureRow(models.Model):
    """Why a unit brought nothing, and what its last call cost; struck, not deleted, when the unit is tried again."""

    unit = models.ForeignKey(UnitRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    label = StorableTextField()
    application = StorableTextField()
    party = models.TextField()
    kind = models.TextField()
    message = StorableTextField()
    turn = models.IntegerField(null=True)
    annotator = StorableTextField(default="")
    endpoint = StorableTextField(default="")
    tries = models.IntegerField(default=1)
    attempts = models.IntegerField(default=0)
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    cost_microusd = models.BigIntegerField(default=0)
    unpriced_calls = models.IntegerField(default=0)
    struck = models.BooleanField(default=False)
    repaired = models.IntegerField(default=0)
    created = MomentField()

    class Meta:
        """Table, one valid failure a unit, whose fault; the kinds of failure are no closed list."""

        db_table = "store_failure"
        constraints: ClassVar = [
            models.UniqueConstraint(name="failure_of_unit", fields=["unit"], condition=Q(struck=False)),
            models.CheckConstraint(name="failure_party", condition=Q(party__in=[v.value for v in Party])),
        ]
