"""Reservations: who has taken which work item."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from theodolite.domain.annotating.work import ReservationState
from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.annotating.queue import WorkItemRow
from theodolite.store.models.annotation import AnnotationRow
from theodolite.store.models.participant import ParticipantRow


class ReservationRow(models.Model):
    """One annotator's claim on one item; a live one holds one of the item's numbered places.

    `of` repeats the item's passes at the time of reserving: a place beyond them is refused by
    the database itself, whatever the program believed. `annotation` is the latest revision
    of what was submitted. `shown` says in words which order the sitting shows for good, and
    `sitting` which one of its annotator's it was when it was submitted first.
    """

    token = StorableTextField(unique=True)
    item = models.ForeignKey(WorkItemRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    state = models.TextField()
    place = models.IntegerField(null=True)
    of = models.IntegerField(default=1)
    until = MomentField(null=True)
    reason = StorableTextField(default="")
    revision = models.IntegerField(default=0)
    shown = StorableTextField(default="")
    sitting = models.IntegerField(default=0)
    annotation = models.ForeignKey(AnnotationRow, null=True, on_delete=models.PROTECT, related_name="+")
    created = MomentField()
    submitted = MomentField(null=True)

    class Meta:
        """Table, one claim a person and item, one person a place, no place too many."""

        db_table = "store_reservation"
        indexes: ClassVar = [models.Index(name="reservation_until", fields=["until"], condition=Q(state="reserved"))]
        constraints: ClassVar = [
            models.UniqueConstraint(name="reservation_once", fields=["item", "participant"]),
            models.UniqueConstraint(
                name="reservation_place", fields=["item", "place"], condition=Q(place__isnull=False)
            ),
            models.CheckConstraint(
                name="reservation_state", condition=Q(state__in=[state.value for state in ReservationState])
            ),
            models.CheckConstraint(
                name="reservation_place_when_live",
                condition=Q(state__in=["reserved", "submitted"], place__gte=1, place__lte=F("of"))
                | (~Q(state__in=["reserved", "submitted"]) & Q(place__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_ends",
                condition=Q(state="reserved", until__isnull=False) | (~Q(state="reserved") & Q(until__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_submitted",
                condition=~Q(state="submitted") | Q(submitted__isnull=False, revision__gte=1),
            ),
        ]


class ReservationEventRow(models.Model):
    """One thing that happened to a reservation; rows are only added."""

    reservation = models.ForeignKey(ReservationRow, on_delete=models.PROTECT, related_name="+")
    state = models.TextField()
    by = StorableTextField(default="")
    reason = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_reservation_event"
