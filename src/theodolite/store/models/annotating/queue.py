"""Queues, what waits in them, and where it went."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from theodolite.domain.annotating.work import ItemState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.content import ContentRow
from theodolite.store.models.dialogue import DialogueRow


class QueueRow(models.Model):
    """One queue: dialogues of a study that people annotate; `token` tells nothing, `salt` is told to nobody."""

    token = StorableTextField(unique=True)
    name = StorableTextField(unique=True)
    salt = StorableTextField()
    study = StorableTextField()
    study_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    design = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_queue"


class QueueEditionRow(models.Model):
    """One design of a queue, from when on it held and who said so; rows are only added."""

    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    design = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    by = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table, numbering."""

        db_table = "store_queue_edition"
        constraints: ClassVar = [models.UniqueConstraint(name="queue_edition", fields=["queue", "number"])]


class WorkItemRow(models.Model):
    """One dialogue in one category; `live` counts the reservations that take a pass.

    `disputed` counts the questions that complete passes did not answer alike; what a senior
    put first goes before the others. `again` is 0 where a dialogue is annotated for the first
    time, and else numbers the samples that were drawn anew.
    """

    token = StorableTextField(null=True, unique=True)
    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    category = StorableTextField()
    version = HashField()
    again = models.IntegerField(default=0)
    tester = StorableTextField(default="")
    passes = models.IntegerField()
    live = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    disputed = models.IntegerField(default=0)
    draw = models.FloatField()
    is_first = models.BooleanField(default=False)
    state = models.TextField(default=ItemState.OPEN.value)
    created = MomentField()

    class Meta:
        """Table, the path by which the next item is found, and never more passes than are wanted."""

        db_table = "store_work_item"
        indexes: ClassVar = [
            models.Index(name="work_item_next", fields=["queue", "state", "live", "draw"]),
            models.Index(name="work_item_disputed", fields=["queue", "-disputed", "id"], condition=Q(disputed__gt=0)),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(name="work_item_once", fields=["queue", "dialogue", "category", "again"]),
            models.CheckConstraint(name="work_item_state", condition=Q(state__in=[s.value for s in ItemState])),
            models.CheckConstraint(
                name="work_item_passes",
                condition=Q(passes__gte=1, live__gte=0, done__gte=0, live__lte=F("passes"), done__lte=F("live")),
            ),
        ]


class RoutedRow(models.Model):
    """Where a dialogue went after its first category, and by which rule; rows are only added."""

    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    violation = models.BooleanField(null=True)
    disputed = models.BooleanField()
    reason = StorableTextField()
    created = MomentField()

    class Meta:
        """Table, numbering."""

        db_table = "store_routed"
        constraints: ClassVar = [models.UniqueConstraint(name="routed_number", fields=["queue", "dialogue", "number"])]
