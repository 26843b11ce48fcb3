"""Brought dialogues: what was held elsewhere is entered as dialogues of people are, all of it or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from theodolite.domain.brought import BroughtResult
from theodolite.domain.dialogue import Ending
from theodolite.domain.run import Run
from theodolite.store.contents import Contents
from theodolite.store.ledger import CHUNK, id_of_run, one_at_a_time
from theodolite.store.models.people import LiveDialogueRow, SessionRow
from theodolite.store.people.ended import kept_units
from theodolite.store.people.sessions import session_row
from theodolite.store.results import ids_of_participants


def bring(contents: Contents, run: Run, results: Sequence[BroughtResult], *, now: datetime) -> None:
    """Enter dialogues that were held elsewhere, in one transaction.

    Args:
        contents: Where source material is kept.
        run: The run that their units belong to.
        results: The dialogues; their ordinals follow those that are there.
        now: The present moment.

    Raises:
        Conflict: If others were entered under the same ordinals meanwhile.
    """
    with transaction.atomic():
        one_at_a_time(f"dialogues {run.study}")
        number = id_of_run(run)
        people = ids_of_participants({one.held.session.participant for one in results})
        sessions = SessionRow.objects.bulk_create(
            [session_row(one.held.session, number, people[one.held.session.participant]) for one in results],
            batch_size=CHUNK,
        )
        units = kept_units(contents, run, [(one.unit, one.dialogue) for one in results], now=now)
        LiveDialogueRow.objects.bulk_create(
            [
                LiveDialogueRow(
                    key=one.held.key,
                    session=session,
                    study=one.held.session.study,
                    number=one.held.number,
                    ordinal=one.held.ordinal,
                    ending=(one.held.ending or Ending.SCRIPT_END).value,
                    unit_id=units[one.unit.key],
                )
                for one, session in zip(results, sessions, strict=True)
            ],
            batch_size=CHUNK,
        )
