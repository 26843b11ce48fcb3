"""Workers, and the blocks of shared limits that they have leased; all moments by the database's clock."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.runs import RunRow


class WorkerRow(models.Model):
    """A process that works on a run, until its heartbeat ends; `held_*` is its part of the run's budget."""

    owner = StorableTextField(unique=True)
    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+")
    host = StorableTextField()
    process = models.BigIntegerField()
    started = MomentField()
    until = models.FloatField()
    held_calls = models.BigIntegerField(default=0)
    held_tokens = models.BigIntegerField(default=0)
    held_microusd = models.BigIntegerField(default=0)

    class Meta:
        """Table."""

        db_table = "store_worker"


class SlotLeaseRow(models.Model):
    """Calls to one account that one worker may have in flight."""

    account = HashField()
    owner = StorableTextField()
    slots = models.IntegerField()
    until = models.FloatField()

    class Meta:
        """Table."""

        db_table = "store_slotlease"
        constraints: ClassVar = [models.UniqueConstraint(name="slot_lease_owner", fields=["account", "owner"])]


class StartBlockRow(models.Model):
    """A block of requests that count in a limit per minute until `until`."""

    limit_key = HashField()
    owner = StorableTextField()
    requests = models.IntegerField()
    tokens = models.BigIntegerField()
    until = models.FloatField()

    class Meta:
        """Table options, index for the blocks of a limit."""

        db_table = "store_startblock"
        indexes: ClassVar = [models.Index(name="start_block_in_window", fields=["limit_key", "until"])]
