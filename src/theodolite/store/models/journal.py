"""The journal: every reply, one row each."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.flow import SchemaUse
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.unit import UnitRow


class JournalEntryRow(models.Model):
    """One reply of a model or an application, committed before the next request."""

    unit = models.ForeignKey(UnitRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    request_hash = HashField()
    text = StorableTextField()
    withheld = StorableTextField(default="")
    answered_as = StorableTextField(default="")
    finish = StorableTextField(default="")
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    cost_microusd = models.BigIntegerField(null=True)
    latency_s = models.FloatField(default=0.0)
    attempts = models.IntegerField(default=1)
    scripted = models.BooleanField(default=False)
    repaired = models.IntegerField(default=0)
    schema_use = models.TextField(default="")
    original = StorableTextField(default="")
    supposed_tokens = models.BigIntegerField(null=True)
    supposed_microusd = models.BigIntegerField(null=True)
    created = MomentField()

    class Meta:
        """Table, one reply a position, counts that are counts."""

        db_table = "store_journalentry"
        constraints: ClassVar = [
            models.UniqueConstraint(name="reply_position", fields=["unit", "position"]),
            models.CheckConstraint(
                name="reply_counts",
                condition=Q(position__gte=0, tokens_in__gte=0, tokens_out__gte=0, attempts__gte=0, repaired__gte=0),
            ),
            models.CheckConstraint(
                name="reply_schema_use", condition=Q(schema_use__in=[use.value for use in SchemaUse])
            ),
        ]
