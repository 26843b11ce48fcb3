"""Sessions of people, and the seats that they sit on."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.dialogue import Level
from theodolite.domain.people.session import SessionState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.participant import ParticipantRow
from theodolite.store.models.run import RunRow

_LEVELS = [level.value for level in Level]


class SeatRow(models.Model):
    """One number of a level's design and who has it; a number that was given back has a row with `freed`."""

    study = StorableTextField()
    level = models.TextField()
    stratum = StorableTextField(default="")
    number = models.IntegerField()
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    freed = models.BooleanField(default=False)

    class Meta:
        """Table, one holder a number, one number a holder."""

        db_table = "store_seat"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="seat_number", fields=["study", "level", "stratum", "number"], condition=Q(freed=False)
            ),
            models.UniqueConstraint(
                name="seat_holder", fields=["study", "level", "participant"], condition=Q(freed=False)
            ),
            models.CheckConstraint(name="seat_level", condition=Q(level__in=_LEVELS)),
            models.CheckConstraint(name="seat_number_from_0", condition=Q(number__gte=0)),
        ]


class SessionRow(models.Model):
    """One sitting of one person with one application."""

    key = HashField(unique=True)
    study = StorableTextField(db_index=True)
    edition = HashField()
    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    level = models.TextField()
    scenario = StorableTextField()
    scenario_version = HashField()
    application = StorableTextField()
    application_version = HashField()
    stratum = StorableTextField(default="")
    seat = models.IntegerField()
    place = models.IntegerField()
    alias = StorableTextField(default="")
    state = models.TextField(default=SessionState.WAITING.value)
    started = MomentField(null=True)
    ended = MomentField(null=True)
    stood_s = models.FloatField(default=0.0)
    paused = MomentField(null=True)
    paused_by_tester = models.BooleanField(default=False)
    paused_by_organiser = models.BooleanField(default=False)
    task_done = models.BooleanField(null=True)
    brought = models.BooleanField(default=False)
    language = StorableTextField(default="")

    class Meta:
        """Table, one session a person and place, states."""

        db_table = "store_session"
        constraints: ClassVar = [
            models.UniqueConstraint(name="session_place", fields=["study", "participant", "level", "place"]),
            models.CheckConstraint(name="session_level", condition=Q(level__in=_LEVELS)),
            models.CheckConstraint(name="session_state", condition=Q(state__in=[s.value for s in SessionState])),
        ]
