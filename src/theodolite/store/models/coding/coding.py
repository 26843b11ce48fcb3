"""Codings of answers in own words, and what was agreed about them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.codings.coding import CODERS
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.participant import ParticipantRow
from theodolite.store.models.people.session import SessionRow

ANSWER = ["session", "questionnaire", "question"]
"""Columns that name an answer."""


class CodingRow(models.Model):
    """One revision of what one coder sees in one answer; the slot makes sure that there are never too many coders."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    question = StorableTextField()
    slot = models.IntegerField()
    coder = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    codebook = HashField()
    revision = models.IntegerField()
    memo = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table, numbering, so many coders and no more."""

        db_table = "store_coding"
        constraints: ClassVar = [
            models.UniqueConstraint(name="coding_revision", fields=[*ANSWER, "slot", "revision"]),
            models.CheckConstraint(name="coding_slot", condition=Q(slot__gte=1, slot__lte=CODERS)),
            models.CheckConstraint(name="coding_revision_from_1", condition=Q(revision__gte=1)),
        ]


class CodingCodeRow(models.Model):
    """One code of a coding."""

    coding = models.ForeignKey(CodingRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    position = models.IntegerField()
    code = StorableTextField()

    class Meta:
        """Table; a code is given once."""

        db_table = "store_coding_code"
        constraints: ClassVar = [models.UniqueConstraint(name="coding_code_once", fields=["coding", "code"])]


class CodingResolutionRow(models.Model):
    """One revision of what came of talking about an answer that was coded differently."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    question = StorableTextField()
    codebook = HashField()
    revision = models.IntegerField()
    is_agreed = models.BooleanField()
    rationale = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table and numbering."""

        db_table = "store_coding_resolution"
        constraints: ClassVar = [
            models.UniqueConstraint(name="coding_resolution_revision", fields=[*ANSWER, "revision"]),
        ]


class ResolvedCodeRow(models.Model):
    """One code that was agreed on."""

    resolution = models.ForeignKey(CodingResolutionRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    position = models.IntegerField()
    code = StorableTextField()

    class Meta:
        """Table; a code is agreed on once."""

        db_table = "store_resolved_code"
        constraints: ClassVar = [models.UniqueConstraint(name="resolved_code_once", fields=["resolution", "code"])]


class CodingTalkerRow(models.Model):
    """One person who took part in talking about an answer."""

    resolution = models.ForeignKey(CodingResolutionRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")

    class Meta:
        """Table; a person takes part once."""

        db_table = "store_coding_talker"
        constraints: ClassVar = [
            models.UniqueConstraint(name="coding_talker_once", fields=["resolution", "participant"])
        ]
