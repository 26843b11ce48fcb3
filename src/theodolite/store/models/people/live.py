"""Live dialogues of people, their turns, and what red teamers write down about them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.dialogue import Ending, TurnState
from theodolite.domain.strategy import AttemptOutcome
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.people.session import SessionRow
from theodolite.store.models.unit import UnitRow


class LiveDialogueRow(models.Model):
    """The turns from a start or reset to the next one; `ordinal` numbers those of one study."""

    key = HashField(unique=True)
    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    study = StorableTextField()
    number = models.IntegerField()
    ordinal = models.IntegerField()
    ending = models.TextField(default="")
    unit = models.OneToOneField(UnitRow, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        """Table, numbering, one open dialogue a session."""

        db_table = "store_live_dialogue"
        constraints: ClassVar = [
            models.UniqueConstraint(name="live_dialogue_number", fields=["session", "number"]),
            models.UniqueConstraint(name="live_dialogue_ordinal", fields=["study", "ordinal"]),
            models.UniqueConstraint(name="live_dialogue_open", fields=["session"], condition=Q(ending="")),
            models.CheckConstraint(
                name="live_dialogue_ending",
                condition=Q(ending__in=["", *(v.value for v in Ending)]),
            ),
        ]


class LiveTurnRow(models.Model):
    """One prompt, and the response as far as it has come; `state` is empty while it is under way."""

    key = HashField(unique=True)
    dialogue = models.ForeignKey(LiveDialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    prompt = StorableTextField()
    asked = MomentField()
    response = StorableTextField(default="")
    original = StorableTextField(default="")
    state = models.TextField(default="")
    latency_s = models.FloatField(null=True)
    waited_s = models.FloatField(null=True)
    kind = models.TextField(default="")
    cause = StorableTextField(default="")
    tries = models.IntegerField(default=1)
    broke = models.BooleanField(default=False)
    claims = StorableTextField(default="")
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    cost_microusd = models.BigIntegerField(null=True)

    class Meta:
        """Table, numbering, states, one reply under way a dialogue."""

        db_table = "store_live_turn"
        constraints: ClassVar = [
            models.UniqueConstraint(name="live_turn_number", fields=["dialogue", "number"]),
            models.UniqueConstraint(name="live_turn_under_way", fields=["dialogue"], condition=Q(state="")),
            models.CheckConstraint(name="live_turn_state", condition=Q(state__in=["", *(v.value for v in TurnState)])),
        ]


class LiveAttemptRow(models.Model):
    """One attempt of a strategy as a red teamer tells it; number 0 stands for a strategy without any."""

    dialogue = models.ForeignKey(LiveDialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    place = models.IntegerField()
    name = StorableTextField()
    number = models.IntegerField()
    description = StorableTextField(default="")
    outcome = models.TextField(default=AttemptOutcome.UNCLEAR.value)
    turn = models.IntegerField(null=True)
    refines = models.IntegerField(null=True)

    class Meta:
        """Table, numbering, the closed list of outcomes."""

        db_table = "store_live_attempt"
        constraints: ClassVar = [
            models.UniqueConstraint(name="live_attempt_number", fields=["dialogue", "place", "number"]),
            models.CheckConstraint(
                name="live_attempt_outcome", condition=Q(outcome__in=[v.value for v in AttemptOutcome])
            ),
        ]
