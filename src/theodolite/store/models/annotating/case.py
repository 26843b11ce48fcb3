"""Cases, what was done about them, what is hidden, and who looked at originals."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from theodolite.domain.annotating.case import CaseAct, FlagKind, TurnText
from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.dialogue import DialogueRow


class CaseRow(models.Model):
    """One sensitive place of a dialogue; what became of it stands in its steps."""

    token = StorableTextField(unique=True)
    study = StorableTextField()
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    kind = models.TextField()
    turn = models.IntegerField(null=True)
    words = StorableTextField(default="")
    note = StorableTextField(default="")
    by_detector = models.BooleanField(default=False)

    class Meta:
        """Table and the closed list of kinds."""

        db_table = "store_case"
        constraints: ClassVar = [
            models.CheckConstraint(name="case_kind", condition=Q(kind__in=[kind.value for kind in FlagKind])),
        ]


class CaseStepRow(models.Model):
    """One step in handling a case; rows are only added."""

    case = models.ForeignKey(CaseRow, on_delete=models.PROTECT, related_name="+")
    act = models.TextField()
    by = StorableTextField()
    note = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table and the closed list of acts."""

        db_table = "store_case_step"
        constraints: ClassVar = [
            models.CheckConstraint(name="case_act", condition=Q(act__in=[act.value for act in CaseAct])),
        ]


class RedactionRow(models.Model):
    """A stretch of text that annotators do not see, but in the categories that must judge it."""

    case = models.ForeignKey(CaseRow, on_delete=models.PROTECT, related_name="+")
    turn = models.IntegerField()
    side = models.TextField()
    start = models.IntegerField()
    end = models.IntegerField()
    shown_in = StorableTextField(default="")

    class Meta:
        """Table, stretches that are some, sides."""

        db_table = "store_redaction"
        constraints: ClassVar = [
            models.CheckConstraint(name="redaction_stretch", condition=Q(start__gte=0, end__gt=F("start"))),
            models.CheckConstraint(name="redaction_side", condition=Q(side__in=[side.value for side in TurnText])),
        ]


class OriginalAccessRow(models.Model):
    """One look at the original of a dialogue that has a case; rows are only added."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    by = StorableTextField()
    reason = StorableTextField()
    created = MomentField()

    class Meta:
        """Table; nobody looks without a reason."""

        db_table = "store_original_access"
        constraints: ClassVar = [models.CheckConstraint(name="original_access_reason", condition=~Q(reason=""))]
