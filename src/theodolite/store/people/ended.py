"""Ended dialogues: a live dialogue becomes a dialogue like any other, and those of a study are counted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q, Sum

from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, TurnState
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.failure import FailureKind
from theodolite.domain.live import HeldDialogue
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.run import Run, Spending, Unit, UnitState
from theodolite.domain.strategy import Strategy
from theodolite.store.contents import Contents
from theodolite.store.dialogues import keep_dialogues
from theodolite.store.ledger import CHUNK, id_of_run, one_at_a_time
from theodolite.store.models import DialogueRow, UnitRow
from theodolite.store.models.people import (
    LiveDialogueRow,
    LiveTurnRow,
)
from theodolite.store.people.attempts import attempts_of
from theodolite.store.people.persons import profiles
from theodolite.store.people.sessions import session_from
from theodolite.store.statements import end_units, make_ready
from theodolite.store.writes import KeepDialogue


def end_dialogue(
    contents: Contents, run: Run, key: str, ending: Ending, result: tuple[Unit, Dialogue] | None, *, now: datetime
) -> None:
    """End a live dialogue and keep what it became, in one transaction.

    Args:
        contents: Where source material is kept.
        run: The run that its unit belongs to.
        key: Key of the live dialogue.
        ending: Why it ended.
        result: The unit and the dialogue; None where the application never answered.
        now: The present moment.

    Raises:
        Conflict: If it has ended before.
        NotFound: If there is none of that key.
    """
    with transaction.atomic():
        one_at_a_time(run.key)
        row = LiveDialogueRow.objects.select_for_update().filter(key=key).first()
        if row is None:
            message = f"no live dialogue has the key {key}"
            raise NotFound(message)
        if row.ending:
            message = f"the dialogue has ended before ({row.ending})"
            raise Conflict(message)
        under_way = LiveTurnRow.objects.filter(dialogue=row, state="")
        under_way.update(state=TurnState.INTERRUPTED.value)
        row.ending = ending.value
        row.unit_id = _kept(contents, run, *result, now=now) if result else None
        row.save(update_fields=["ending", "unit"])


def _kept(contents: Contents, run: Run, unit: Unit, dialogue: Dialogue, *, now: datetime) -> int:
    """Enter the unit of a dialogue and the dialogue, and return the number of the unit's row."""
    return kept_units(contents, run, [(unit, dialogue)], now=now)[unit.key]


def kept_units(
    contents: Contents, run: Run, results: Sequence[tuple[Unit, Dialogue]], *, now: datetime
) -> dict[str, int]:
    """Enter units that are done with the dialogues that they brought; return the numbers of their rows by key."""
    number = id_of_run(run)
    rows = UnitRow.objects.bulk_create(
        [
            UnitRow(
                run_id=number,
                key=unit.key,
                kind=unit.kind.value,
                work_key=unit.work_key,
                position=unit.position,
                label=unit.label,
                application=unit.application,
            )
            for unit, _ in results
        ],
        batch_size=CHUNK,
    )
    ids = {row.key: row.pk for row in rows}
    writes = [KeepDialogue(unit=unit, dialogue=dialogue, journalled=False) for unit, dialogue in results]
    keep_dialogues(writes, ids, {}, contents=contents, created=now)
    end_units(list(ids.values()), UnitState.DONE)
    make_ready(ids)
    return ids


def held(study: str) -> list[HeldDialogue]:
    """Return the dialogues of people in a study, whichever edition and run, in the order in which they began."""
    rows = list(
        LiveDialogueRow.objects.filter(study=study)
        .select_related("session__participant", "session__run", "unit")
        .order_by("ordinal")
    )
    ids = [row.id for row in rows]
    turns = LiveTurnRow.objects.filter(dialogue_id__in=ids)
    counted = dict(turns.values_list("dialogue_id").annotate(n=Count("id")))
    brought = DialogueRow.objects.filter(unit_id__in=[row.unit_id for row in rows])
    pairs = {
        unit: (pair_key, HeldBy(held_by))
        for unit, pair_key, held_by in brought.values_list("unit_id", "pair_key", "held_by")
    }
    kinds = dict(turns.exclude(kind="").order_by("number").values_list("dialogue_id", "kind"))
    people = profiles(list({row.session.participant.key for row in rows}))
    tried = attempts_of({row.id: row.key for row in rows})
    return [
        _held(
            row,
            people,
            tried.get(row.id, ()),
            turns=counted.get(row.id, 0),
            kind=kinds.get(row.id, ""),
            pair=pairs.get(row.unit_id or 0, ("", HeldBy.PERSON)),
        )
        for row in rows
    ]


def _held(
    row: LiveDialogueRow,
    people: Mapping[str, PersonProfile],
    tried: tuple[Strategy, ...],
    *,
    turns: int,
    kind: str,
    pair: tuple[str, HeldBy],
) -> HeldDialogue:
    session = session_from(row.session)
    profile = people.get(session.participant)
    return HeldDialogue(
        key=row.key,
        session=session,
        number=row.number,
        ordinal=row.ordinal,
        ending=Ending(row.ending) if row.ending else None,
        unit=row.unit.key if row.unit else "",
        turns=turns,
        pair_key=pair[0],
        held_by=pair[1],
        kind=FailureKind(kind) if kind else None,
        groups=profile.attributes if profile else {},
        strategies=tried,
    )


def live_spending(study: str, models: Collection[str]) -> Spending:
    """Return what the replies to people in a study have cost.

    A reply without a cost is an unpriced one if it tells tokens, or comes from a model and tells none.

    Args:
        study: Name of the study.
        models: Applications that are models.
    """
    turns = LiveTurnRow.objects.filter(dialogue__study=study)
    sums = turns.aggregate(
        calls=Count("id"),
        attempts=Sum("tries", default=0),
        tokens_in=Sum("tokens_in", default=0),
        tokens_out=Sum("tokens_out", default=0),
        cost_microusd=Sum("cost_microusd", default=0),
    )
    answered = [TurnState.COMPLETE.value, TurnState.INTERRUPTED.value]
    untold = Q(dialogue__session__application__in=list(models), state__in=answered)
    unpriced = turns.filter(Q(tokens_out__gt=0) | untold, cost_microusd__isnull=True).count()
    return Spending(unpriced_calls=unpriced, **{name: int(value) for name, value in sums.items()})
