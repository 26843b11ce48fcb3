"""Threads and their posts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.annotating.thread import AnchorKind, ThreadEnd
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.annotating.queue import QueueRow
from theodolite.store.models.annotating.reservation import ReservationRow
from theodolite.store.models.participant import ParticipantRow


class ThreadRow(models.Model):
    """One thread; `version` is that of the guideline when it was begun."""

    token = StorableTextField(unique=True)
    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+")
    reservation = models.ForeignKey(ReservationRow, null=True, on_delete=models.PROTECT, related_name="+")
    kind = models.TextField()
    category = StorableTextField()
    version = HashField()
    question = StorableTextField(default="")
    turn = models.IntegerField(null=True)
    end = models.TextField(default="")
    text = StorableTextField(default="")
    by = StorableTextField(default="")
    created = MomentField()
    ended = MomentField(null=True)

    class Meta:
        """Table and closed lists."""

        db_table = "store_thread"
        constraints: ClassVar = [
            models.CheckConstraint(name="thread_kind", condition=Q(kind__in=[kind.value for kind in AnchorKind])),
            models.CheckConstraint(name="thread_end", condition=Q(end__in=["", *(end.value for end in ThreadEnd)])),
        ]


class PostRow(models.Model):
    """One contribution to a thread; none is ever changed."""

    thread = models.ForeignKey(ThreadRow, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    text = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_post"
