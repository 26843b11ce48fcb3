"""Seats: who has which number of a level's design."""

from __future__ import annotations

from collections.abc import Callable, Collection

from django.db import transaction

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict
from theodolite.domain.people.seat import Seat
from theodolite.domain.people.session import SessionState
from theodolite.store.ledger import one_at_a_time
from theodolite.store.models.people import SeatRow, SessionRow
from theodolite.store.results import ids_of_participants


def take_seat(
    study: str,
    participant: str,
    level: Level,
    stratum: str = "",
    *,
    most: int | None = None,
    choose: Callable[[Collection[int]], int | None] | None = None,
) -> Seat:
    """Give a person a free number of a level; a person who has one keeps it.

    Args:
        study: Name of the study.
        participant: Opaque key of the person.
        level: Level of testing.
        stratum: Part of the people that the person belongs to.
        most: How many people the part has room for; None for no limit.
        choose: Returns a free number from those that are taken, None for none that suits; the lowest if left out.

    Raises:
        Conflict: If all `most` numbers of the stratum are taken, or none suits.
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
        number = (choose or _lowest_free)(numbers)
        if number is None:
            message = f"no free place of {level.value} suits this person"
            raise Conflict(message)
        row = SeatRow.objects.create(
            study=study, level=level.value, stratum=stratum, number=number, participant_id=holder
        )
    return _seat(row, participant)


def _lowest_free(taken: Collection[int]) -> int:
    return next(number for number in range(len(taken) + 1) if number not in taken)


def give_up_seat(study: str, participant: str, level: Level) -> bool:
    """Take back a seat on which nothing was begun, with the sessions that wait on it; return whether it was so.

    The person takes another one when the next session is made.
    """
    with transaction.atomic():
        one_at_a_time(f"seats {study}")
        made = SessionRow.objects.filter(study=study, level=level.value, participant__key=participant)
        if made.exclude(state=SessionState.WAITING.value).exists():
            return False
        made.delete()
        free_seat(study, participant, level)
    return True


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
