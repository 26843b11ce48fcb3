"""Seats: who has which number of a level's design."""

from __future__ import annotations

from django.db import transaction

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict
from theodolite.domain.seat import Seat
from theodolite.store.ledger import one_at_a_time
from theodolite.store.models.people import (
    SeatRow,
)
from theodolite.store.results import ids_of_participants


def take_seat(study: str, participant: str, level: Level, stratum: str = "", *, most: int | None = None) -> Seat:
    """Give a person the lowest free number of a level; a person who has one keeps it.

    Raises:
        Conflict: If all `most` numbers of the stratum are taken.
    """
    with transaction.atomic():
        one_at_a_time(f"seats {study}")
        (holder,) = ids_of_participants({participant}).values()
        taken = SeatRow.objects.filter(study=study, level=level.value, freed=False)
        own = taken.filter(participant_id=holder).first()
        if own is not None:
            return _seat(own, participant)
        numbers = set(taken.filter(stratum=stratum).values_list("number", flat=True))
        if most is not None and len(numbers) >= most:
            message = f"all {most} places of {level.value}{f' ({stratum})' if stratum else ''} are taken"
            raise Conflict(message)
        number = next(number for number in range(len(numbers) + 1) if number not in numbers)
        row = SeatRow.objects.create(
            study=study, level=level.value, stratum=stratum, number=number, participant_id=holder
        )
    return _seat(row, participant)


def free_seat(study: str, participant: str, level: Level) -> None:
    """Give a person's number to whoever comes next; nothing happens where there is none."""
    mine = SeatRow.objects.filter(study=study, level=level.value, participant__key=participant, freed=False)
    mine.update(freed=True)


def seats(study: str) -> list[Seat]:
    """Return the seats of a study that somebody has, in order of level, stratum and number."""
    rows = SeatRow.objects.filter(study=study, freed=False).select_related("participant")
    return [_seat(row, row.participant.key) for row in rows.order_by("level", "stratum", "number")]


def _seat(row: SeatRow, participant: str) -> Seat:
    return Seat(level=Level(row.level), number=row.number, stratum=row.stratum, participant=participant)
