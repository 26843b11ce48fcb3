"""Dialogues and their turns."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.dialogue import Ending, HeldBy, Level, TurnState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.content import ContentRow
from theodolite.store.models.unit import UnitRow


class DialogueRow(models.Model):
    """What one session brought; its key is the unit's, persona and context are contents."""

    unit = models.OneToOneField(UnitRow, on_delete=models.PROTECT, related_name="+")
    label = StorableTextField()
    application = StorableTextField()
    application_version = HashField()
    scenario = StorableTextField()
    scenario_version = HashField()
    level = models.TextField()
    held_by = models.TextField()
    pair_key = HashField()
    cluster = StorableTextField()
    ending = models.TextField()
    repeat = models.IntegerField(default=1)
    persona = models.ForeignKey(ContentRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    context = models.ForeignKey(ContentRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    created = MomentField()

    class Meta:
        """Table and the closed lists of words."""

        db_table = "store_dialogue"
        constraints: ClassVar = [
            models.CheckConstraint(name="dialogue_level", condition=Q(level__in=[v.value for v in Level])),
            models.CheckConstraint(name="dialogue_held_by", condition=Q(held_by__in=[v.value for v in HeldBy])),
            models.CheckConstraint(name="dialogue_ending", condition=Q(ending__in=[v.value for v in Ending])),
        ]


class DialogueGroupRow(models.Model):
    """One group that a dialogue belongs to."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    name = StorableTextField()
    value = StorableTextField()

    class Meta:
        """Table, one value a name."""

        db_table = "store_dialogue_group"
        constraints: ClassVar = [
            models.UniqueConstraint(name="dialogue_group_name", fields=["dialogue", "name"]),
        ]


class ScriptedEndpointRow(models.Model):
    """One endpoint of a dialogue at which a script answered for a model."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    name = StorableTextField()

    class Meta:
        """Table, order."""

        db_table = "store_scripted_endpoint"
        constraints: ClassVar = [
            models.UniqueConstraint(name="scripted_endpoint_position", fields=["dialogue", "position"]),
        ]


class TurnRow(models.Model):
    """One prompt and one response.

    A text is NULL where it stands in the journal of the dialogue's unit, at
    `prompt_at` or `response_at`. Source material of the turn is content.
    """

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    prompt = StorableTextField(null=True)
    response = StorableTextField(null=True)
    prompt_at = models.IntegerField(null=True)
    response_at = models.IntegerField(null=True)
    withheld = StorableTextField(default="")
    latency_s = models.FloatField(null=True)
    state = models.TextField(default=TurnState.COMPLETE.value)
    repaired = models.IntegerField(default=0)
    context = models.ForeignKey(ContentRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        """Table, numbering, every text somewhere."""

        db_table = "store_turn"
        constraints: ClassVar = [
            models.UniqueConstraint(name="turn_number", fields=["dialogue", "number"]),
            models.CheckConstraint(
                name="turn_texts_somewhere",
                condition=(Q(prompt__isnull=False) | Q(prompt_at__isnull=False))
                & (Q(response__isnull=False) | Q(response_at__isnull=False)),
            ),
            models.CheckConstraint(name="turn_state", condition=Q(state__in=[v.value for v in TurnState])),
        ]
