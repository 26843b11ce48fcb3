"""Tests: attempts at qualifications, and answers given in them and in practice."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.participant import ParticipantRow


class QualificationRow(models.Model):
    """One attempt at the test of a category in one version; a senior's admission is an attempt without questions."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    category = StorableTextField()
    version = HashField()
    attempt = models.IntegerField()
    right = models.IntegerField()
    asked = models.IntegerField()
    passed = models.BooleanField()
    by = StorableTextField(default="")
    reason = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table, numbering of attempts, counts that are counts."""

        db_table = "store_qualification"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="qualification_attempt", fields=["participant", "category", "version", "attempt"]
            ),
            models.CheckConstraint(
                name="qualification_counts", condition=Q(right__gte=0, right__lte=models.F("asked"), attempt__gte=1)
            ),
        ]


class TestAnswerRow(models.Model):
    """One answer given in practice or in a test, beside the one that was expected."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    qualification = models.ForeignKey(QualificationRow, null=True, on_delete=models.PROTECT, related_name="+")
    version = HashField()
    example = models.IntegerField()
    question = StorableTextField()
    given = StorableTextField()
    expected = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_test_answer"
