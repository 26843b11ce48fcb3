"""Questionnaire responses: what testers say after a session."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.annotation import OUTCOMES, VALUE_ONLY_WHEN_ANSWERED
from theodolite.store.models.people.session import SessionRow


class ResponseRow(models.Model):
    """One revision of one response; none is ever changed, and nothing follows a submitted one."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    instrument_version = HashField()
    revision = models.IntegerField()
    submitted = models.BooleanField(default=False)
    created = MomentField()

    class Meta:
        """Table, numbering, submitted once."""

        db_table = "store_response"
        constraints: ClassVar = [
            models.UniqueConstraint(name="response_revision", fields=["session", "questionnaire", "revision"]),
            models.UniqueConstraint(
                name="response_submitted", fields=["session", "questionnaire"], condition=Q(submitted=True)
            ),
            models.CheckConstraint(name="response_revision_from_1", condition=Q(revision__gte=1)),
        ]


class ResponseAnswerRow(models.Model):
    """One answer; a question that takes several options has one row for each of them."""

    response = models.ForeignKey(ResponseRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    position = models.IntegerField()
    question = StorableTextField()
    outcome = models.TextField()
    value = StorableTextField(null=True)
    number = models.FloatField(null=True)
    turn = models.IntegerField(null=True)
    replicate = models.IntegerField(default=1)
    reasoning = StorableTextField(default="")
    raw = StorableTextField(default="")

    class Meta:
        """Table, order, outcomes, values."""

        db_table = "store_response_answer"
        constraints: ClassVar = [
            models.UniqueConstraint(name="response_answer_position", fields=["response", "position"]),
            models.CheckConstraint(name="response_answer_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(name="response_answer_value_when_answered", condition=VALUE_ONLY_WHEN_ANSWERED),
        ]
