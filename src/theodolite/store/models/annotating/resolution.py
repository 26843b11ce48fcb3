"""Resolutions of formal reviews, and reviews of quality."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.annotating.discrepancy import DissentCause
from theodolite.domain.annotating.quality import ReviewVerdict
from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.annotating.queue import WorkItemRow
from theodolite.store.models.annotating.reservation import ReservationRow
from theodolite.store.models.annotation import OUTCOMES
from theodolite.store.models.participant import ParticipantRow


class ResolutionRow(models.Model):
    """What a review recorded about one question; a later one is a further row, and `current` says which counts.

    `turn` is 0 for the dialogue as a whole.
    """

    item = models.ForeignKey(WorkItemRow, on_delete=models.PROTECT, related_name="+")
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    outcome = models.TextField(default="")
    value = StorableTextField(null=True)
    cause = models.TextField(default="")
    rationale = StorableTextField()
    current = models.BooleanField(default=True)
    created = MomentField()

    class Meta:
        """Table, one current result a question and turn, consensus or cause."""

        db_table = "store_resolution"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="resolution_current", fields=["item", "question", "turn"], condition=Q(current=True)
            ),
            models.CheckConstraint(
                name="resolution_result",
                condition=Q(outcome__in=OUTCOMES, cause="")
                | Q(outcome="", cause__in=[cause.value for cause in DissentCause]),
            ),
            models.CheckConstraint(
                name="resolution_value_when_answered",
                condition=Q(outcome="answered", value__isnull=False) | (~Q(outcome="answered") & Q(value__isnull=True)),
            ),
        ]


class ResolverRow(models.Model):
    """One person who took part in a review."""

    resolution = models.ForeignKey(ResolutionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    position = models.IntegerField()

    class Meta:
        """Table, order."""

        db_table = "store_resolver"
        constraints: ClassVar = [models.UniqueConstraint(name="resolver", fields=["resolution", "position"])]


class QualityReviewRow(models.Model):
    """One look of a senior annotator at one revision of an annotation; rows are only added."""

    reservation = models.ForeignKey(ReservationRow, on_delete=models.PROTECT, related_name="+")
    revision = models.IntegerField()
    verdict = models.TextField()
    comment = StorableTextField(default="")
    by = StorableTextField()
    created = MomentField()

    class Meta:
        """Table, verdicts, no return without a comment."""

        db_table = "store_quality_review"
        constraints: ClassVar = [
            models.CheckConstraint(
                name="quality_review_verdict", condition=Q(verdict__in=[verdict.value for verdict in ReviewVerdict])
            ),
            models.CheckConstraint(name="quality_review_comment", condition=~Q(verdict="returned") | ~Q(comment="")),
        ]


class GoldRow(models.Model):
    """An answer that is known for one item: mixed silently into the queue, compared afterwards."""

    item = models.ForeignKey(WorkItemRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    value = StorableTextField()
    reason = StorableTextField(default="")
    by = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table, one known answer a question and turn."""

        db_table = "store_gold"
        constraints: ClassVar = [models.UniqueConstraint(name="gold_once", fields=["item", "question", "turn"])]
