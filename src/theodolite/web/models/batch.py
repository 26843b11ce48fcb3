"""Batches: acts on many dialogues at once, with what became of each."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.domain.annotating.bulk import BulkAct
from theodolite.web.models.hosted_study import HostedStudy
from theodolite.web.models.token import new_token


class Batch(models.Model):
    """One act on many work items of a study.

    Attributes:
        token: Names it in addresses.
        account: Who acted.
        act: A `BulkAct`.
        whom: Token of the membership that dialogues were offered to; empty for the other acts.
        n_done: Items with which something was done; count.
        n_refused: Items with which nothing was done; count.
        undone_at: When it was taken back; None while it stands.
        n_undone: Items of which it was taken back; count.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="batches")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    act = models.CharField(max_length=12)
    whom = models.CharField(max_length=32, blank=True)
    n_done = models.PositiveIntegerField()
    n_refused = models.PositiveIntegerField()
    made_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    n_undone = models.PositiveIntegerField(default=0)

    class Meta:
        """Table and the closed list of acts."""

        db_table = "web_batch"
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(act__in=[act.value for act in BulkAct]), name="web_batch_act"),
        ]

    def __str__(self) -> str:
        """Return the act and how often it was done."""
        return f"{self.act} {self.n_done}"

    @property
    def as_act(self) -> BulkAct:
        """The act as one of the domain's."""
        return BulkAct(self.act)


class BatchLine(models.Model):
    """What became of one work item; rows are only added.

    Attributes:
        item: Token of the work item.
        made: Token of what came of it; empty where nothing was done.
        refused: Why nothing was done; empty where it was.
    """

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="lines")
    item = models.CharField(max_length=32)
    made = models.CharField(max_length=32, blank=True)
    refused = models.CharField(max_length=200, blank=True)

    class Meta:
        """Table."""

        db_table = "web_batch_line"

    def __str__(self) -> str:
        """Return what became of it."""
        return self.refused or "done"
