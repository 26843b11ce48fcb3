"""The ledger: units of work and who has leased them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.run import UnitKind, UnitState
from theodolite.store.fields import HashField, StorableTextField
from theodolite.store.models.run import RunRow


class UnitRow(models.Model):
    """The smallest piece of work that is leased and resumed.

    `adopted_from` names the unit of an earlier run whose result stands for this one;
    it is always a unit that did the work itself. An annotation is `ready` once the
    session that it is about is done. `lease_until` is in seconds since 1970 by the
    database's clock.
    """

    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    key = HashField(unique=True)
    kind = models.TextField()
    work_key = HashField()
    position = models.BigIntegerField()
    label = StorableTextField()
    application = StorableTextField()
    subject = HashField(null=True)
    annotator = StorableTextField(default="")
    state = models.TextField(default=UnitState.WAITING.value)
    owner = StorableTextField(default="")
    lease_until = models.FloatField(null=True)
    tries = models.IntegerField(default=0)
    ready = models.SmallIntegerField(default=1)  # a number, since SQLite has no index serve `WHERE ready`
    adopted_from = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        """Table, paths by which units are found, states."""

        db_table = "store_unit"
        # SQLite uses a partial index only where the query repeats its condition word
        # for word, without parameters: hence "is null" and "is not null".
        indexes: ClassVar = [
            models.Index(name="unit_in_plan", fields=["run", "kind", "state", "ready", "position"]),
            models.Index(name="unit_subject", fields=["subject"], condition=Q(subject__isnull=False)),
            models.Index(name="unit_leased", fields=["owner"], condition=Q(lease_until__isnull=False)),
            models.Index(name="unit_adoptable", fields=["work_key"], condition=Q(adopted_from__isnull=True)),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(name="unit_kind", condition=Q(kind__in=[k.value for k in UnitKind])),
            models.CheckConstraint(name="unit_ready", condition=Q(ready__in=[0, 1])),
            models.CheckConstraint(name="unit_state", condition=Q(state__in=[s.value for s in UnitState])),
            models.CheckConstraint(
                name="unit_lease",
                condition=Q(state="leased", lease_until__isnull=False) & ~Q(owner="")
                | (~Q(state="leased") & Q(lease_until__isnull=True, owner="")),
            ),
            models.CheckConstraint(
                name="unit_adopted_is_done", condition=Q(adopted_from__isnull=True) | Q(state__in=["done", "withdrawn"])
            ),
        ]
