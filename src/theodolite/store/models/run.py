"""Runs: executions of plans."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.domain.run import RunState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.content import ContentRow


class RunRow(models.Model):
    """One execution of a plan; study and plan stand among the contents."""

    key = HashField(unique=True)
    study = StorableTextField()
    number = models.IntegerField()
    study_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    plan_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+")
    state = models.TextField(default=RunState.UNFINISHED.value)
    started = MomentField()
    finished = MomentField(null=True)

    class Meta:
        """Table, numbering within a study, states."""

        db_table = "store_run"
        constraints: ClassVar = [
            models.UniqueConstraint(name="run_number", fields=["study", "number"]),
            models.CheckConstraint(name="run_state", condition=models.Q(state__in=[s.value for s in RunState])),
        ]
