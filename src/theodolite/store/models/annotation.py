"""Annotations, their answers and the quotes behind them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.annotation import Control, Outcome
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.dialogue import DialogueRow
from theodolite.store.models.unit import UnitRow

OUTCOMES = [outcome.value for outcome in Outcome]
"""Words for what became of a question."""

CONTROLS = [control.value for control in Control]
"""Words for how a control question was answered."""

VALUE_ONLY_WHEN_ANSWERED = Q(outcome="answered", value__isnull=False) | (
    ~Q(outcome="answered") & Q(value__isnull=True, number__isnull=True)
)
"""An answered question has a value, and no other has."""


class AnnotationRow(models.Model):
    """One sitting; a revision is a further row, none is ever changed.

    A person who labels by hand does no unit of a run: such a row belongs to its
    dialogue, whichever run holds it, and has no `unit`. `shown` says in words which
    order the sitting showed, and `sitting` which one of its annotator's it was.
    """

    unit = models.ForeignKey(UnitRow, null=True, on_delete=models.PROTECT, related_name="+")
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    annotator = StorableTextField()
    annotator_version = HashField()
    guideline = StorableTextField()
    instrument_version = HashField()
    revision = models.IntegerField(default=1)
    scripted = models.BooleanField(default=False)
    control = models.TextField(default=Control.NOT_ASKED.value)
    answered_as = StorableTextField(default="")
    shown = StorableTextField(default="")
    sitting = models.IntegerField(default=0)
    created = MomentField()

    class Meta:
        """Table, one row a revision."""

        db_table = "store_annotation"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="annotation_revision",
                fields=["dialogue", "annotator_version", "instrument_version", "revision"],
            ),
            models.CheckConstraint(name="annotation_revision_from_1", condition=Q(revision__gte=1)),
            models.CheckConstraint(name="annotation_control", condition=Q(control__in=CONTROLS)),
        ]


class AnswerRow(models.Model):
    """One answer; `number` repeats the value where it is one, for arithmetic in SQL."""

    annotation = models.ForeignKey(AnnotationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    question = StorableTextField()
    outcome = models.TextField()
    value = StorableTextField(null=True)
    number = models.FloatField(null=True)
    turn = models.IntegerField(null=True)
    replicate = models.IntegerField(default=1)
    reasoning = StorableTextField(default="")
    raw = StorableTextField(default="")
    repaired = models.IntegerField(default=0)

    class Meta:
        """Table, order, outcomes, values."""

        db_table = "store_answer"
        constraints: ClassVar = [
            models.UniqueConstraint(name="answer_position", fields=["annotation", "position"]),
            models.CheckConstraint(name="answer_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(name="answer_value_when_answered", condition=VALUE_ONLY_WHEN_ANSWERED),
        ]


class QuoteRow(models.Model):
    """Words of the dialogue given as evidence for an answer."""

    answer = models.ForeignKey(AnswerRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    turn = models.IntegerField()
    text = StorableTextField()
    verified = models.BooleanField(default=False)

    class Meta:
        """Table, order."""

        db_table = "store_quote"
        constraints: ClassVar = [
            models.UniqueConstraint(name="quote_position", fields=["answer", "position"]),
        ]


class VoteRow(models.Model):
    """One answer of one reading by a judge that reads several times; quotes stand in the journal's reply."""

    annotation = models.ForeignKey(AnnotationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    replicate = models.IntegerField()
    arrangement = StorableTextField(default="")
    control = models.TextField(default=Control.NOT_ASKED.value)
    question = StorableTextField()
    outcome = models.TextField()
    value = StorableTextField(null=True)
    turn = models.IntegerField(null=True)
    reasoning = StorableTextField(default="")
    raw = StorableTextField(default="")

    class Meta:
        """Table, order, outcomes, values."""

        db_table = "store_vote"
        constraints: ClassVar = [
            models.UniqueConstraint(name="vote_position", fields=["annotation", "position"]),
            models.CheckConstraint(name="vote_replicate_from_1", condition=Q(replicate__gte=1)),
            models.CheckConstraint(name="vote_control", condition=Q(control__in=CONTROLS)),
            models.CheckConstraint(name="vote_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(
                name="vote_value_when_answered",
                condition=Q(outcome="answered", value__isnull=False) | (~Q(outcome="answered") & Q(value__isnull=True)),
            ),
        ]
