"""Calibration rooms, their votes and what was said in them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.annotating.room import RoomState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.annotating.queue import QueueRow
from theodolite.store.models.annotation import OUTCOMES
from theodolite.store.models.dialogue import DialogueRow
from theodolite.store.models.participant import ParticipantRow


class RoomRow(models.Model):
    """One dialogue in one category, in the version that is calibrated."""

    token = StorableTextField(unique=True)
    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+")
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    category = StorableTextField()
    version = HashField()
    state = models.TextField(default=RoomState.VOTING.value)
    by = StorableTextField()
    created = MomentField()

    class Meta:
        """Table and states."""

        db_table = "store_room"
        constraints: ClassVar = [
            models.CheckConstraint(name="room_state", condition=Q(state__in=[state.value for state in RoomState])),
        ]


class RoomVoteRow(models.Model):
    """One answer in a room: `ballot` 1 is the blind one, 2 the one after the discussion."""

    room = models.ForeignKey(RoomRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    ballot = models.IntegerField()
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    outcome = models.TextField()
    value = StorableTextField(null=True)
    reasoning = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table, one vote a person, question, turn and ballot."""

        db_table = "store_room_vote"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="room_vote_once", fields=["room", "participant", "ballot", "question", "turn"]
            ),
            models.CheckConstraint(name="room_vote_ballot", condition=Q(ballot__in=[1, 2])),
            models.CheckConstraint(name="room_vote_outcome", condition=Q(outcome__in=OUTCOMES)),
        ]


class RoomPostRow(models.Model):
    """One contribution to a room's discussion."""

    room = models.ForeignKey(RoomRow, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    text = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_room_post"
