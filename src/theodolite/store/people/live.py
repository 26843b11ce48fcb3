"""Live dialogues: every prompt is committed before the application is asked, every reply as it comes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet

from theodolite.domain.dialogue import Ending, TurnState
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.live import LiveDialogue, LiveEnding, LiveTurn
from theodolite.domain.people.session import SessionState
from theodolite.store.ledger import one_at_a_time
from theodolite.store.models.people import (
    LiveDialogueRow,
    LiveTurnRow,
    SessionRow,
)
from theodolite.store.people.attempts import attempts_of
from theodolite.store.people.turns import live_turn
from theodolite.store.reading import grouped, rows_of
from theodolite.store.repair import repaired_text
from theodolite.store.statements import chunks, execute

_TURNS = LiveTurnRow._meta.db_table  # noqa: SLF001  # `_meta` is Django's own door to a model


def say(session: str, prompt: str, *, now: datetime) -> LiveTurn:
    """Store a prompt as the next turn of a session's open dialogue, which is begun where there is none.

    Raises:
        Conflict: If the session is not active, or a reply is still under way.
        NotFound: If there is no such session.
    """
    with transaction.atomic():
        row = _session_row(session)
        dialogue = _open_dialogue(row)
        last = LiveTurnRow.objects.filter(dialogue=dialogue).order_by("-number").first()
        if last is not None and not last.state:
            message = "a reply is still under way; stop it, or wait for its end, before the next prompt"
            raise Conflict(message)
        turn = LiveTurnRow.objects.create(
            key=secrets.token_hex(32),
            dialogue=dialogue,
            number=last.number + 1 if last else 1,
            prompt=prompt,
            asked=now,
        )
    return live_turn(turn)


def retry(turn: str, *, now: datetime) -> LiveTurn:
    """Let the last turn of an open dialogue be under way again, after an error.

    Raises:
        Conflict: If it has brought a response, or is not the last one of an open dialogue.
        NotFound: If there is no such turn.
    """
    with transaction.atomic():
        row = _turn_row(turn)
        is_last = not LiveTurnRow.objects.filter(dialogue=row.dialogue, number__gt=row.number).exists()
        if row.state != TurnState.ERROR.value or not is_last or row.dialogue.ending:
            message = "only the last turn of a dialogue can be tried again, and only after an error"
            raise Conflict(message)
        row.state, row.response, row.tries, row.asked = "", "", row.tries + 1, now
        row.save()
    return live_turn(row)


def hold(texts: Mapping[str, str]) -> None:
    """Store what has come of some replies so far; those that have ended in the meantime stay as they ended.

    Args:
        texts: Key of the turn to the whole text so far.
    """
    with transaction.atomic():
        for chunk in chunks((bytes.fromhex(key), repaired_text(text)) for key, text in texts.items()):
            fresh = ", ".join(["(%s, %s)"] * len(chunk))
            # One statement: whoever writes waits for this one, and each statement waits for the interpreter.
            execute(
                f"UPDATE {_TURNS} SET response = fresh.column2 FROM (VALUES {fresh}) AS fresh "  # noqa: S608
                "WHERE key = fresh.column1 AND state = ''",
                list(chain.from_iterable(chunk)),
            )


def end_turn(turn: str, ending: LiveEnding, claims: Sequence[str] = ()) -> LiveTurn:
    """Store how a reply ended.

    Args:
        turn: Key of the turn.
        ending: What came of it.
        claims: Words by which the response tells what it is.

    Raises:
        Conflict: If it has ended before.
        NotFound: If there is no such turn.
    """
    with transaction.atomic():
        row = _turn_row(turn)
        if row.state:
            message = f"the reply has ended before ({row.state}); what was stored stays"
            raise Conflict(message)
        row.state, row.response, row.claims = ending.state.value, ending.text, "\n".join(claims)
        row.latency_s, row.waited_s = ending.latency_s, ending.waited_s
        row.kind, row.cause = ending.kind.value if ending.kind else "", ending.cause
        if ending.reply is not None:
            row.tokens_in += ending.reply.tokens_in
            row.tokens_out += ending.reply.tokens_out
            row.cost_microusd = _sum(row.cost_microusd, ending.reply.cost_microusd)
        row.save()
    return live_turn(row)


def mark_turn(turn: str, *, broke: bool) -> LiveTurn:
    """Store whether a person sees a broken guardrail in a turn.

    Raises:
        NotFound: If there is no such turn.
    """
    with transaction.atomic():
        row = _turn_row(turn)
        row.broke = broke
        row.save(update_fields=["broke"])
    return live_turn(row)


def interrupt_all() -> int:
    """End every reply that is under way: nobody in a fresh process waits for one. Return how many there were."""
    return LiveTurnRow.objects.filter(state="").update(state=TurnState.INTERRUPTED.value)


def live_dialogues(session: str) -> tuple[LiveDialogue, ...]:
    """Return the dialogues of a session with their turns, in order."""
    return _dialogues(list(_dialogue_rows().filter(session__key=session).order_by("number")))


def turn_counts(study: str) -> dict[str, tuple[int, int]]:
    """Return, by session in which anything was said, its turns and those marked as broken guardrails; counts."""
    turns = LiveTurnRow.objects.filter(dialogue__study=study).values_list("dialogue__session__key")
    counted = turns.annotate(said=Count("id"), broken=Count("id", filter=Q(broke=True)))
    return {key: (said, broken) for key, said, broken in counted}


def dialogue_counts(study: str) -> dict[str, int]:
    """Return, by session held here with any, the dialogues that ended and are kept; counts."""
    kept = LiveDialogueRow.objects.filter(study=study, unit__isnull=False, session__brought=False)
    return dict(kept.values_list("session__key").annotate(Count("id")))


def live_dialogue(key: str) -> LiveDialogue:
    """Return a live dialogue with its turns.

    Raises:
        NotFound: If there is none of that key.
    """
    found = _dialogues(list(_dialogue_rows().filter(key=key)))
    if not found:
        message = f"no live dialogue has the key {key}"
        raise NotFound(message)
    return found[0]


def dialogue_of_turn(turn: str) -> LiveDialogue:
    """Return the live dialogue that a turn belongs to.

    Raises:
        NotFound: If there is no such turn.
    """
    with transaction.atomic():
        return live_dialogue(_turn_row(turn).dialogue.key)


def _dialogue_rows() -> QuerySet[LiveDialogueRow]:
    return LiveDialogueRow.objects.select_related("session", "unit")


def _dialogues(rows: Sequence[LiveDialogueRow]) -> tuple[LiveDialogue, ...]:
    ids = [row.id for row in rows]
    turns = grouped(rows_of(LiveTurnRow, "dialogue_id", ids, "dialogue_id", "number"), "dialogue_id")
    strategies = attempts_of({row.id: row.key for row in rows})
    return tuple(
        LiveDialogue(
            key=row.key,
            session=row.session.key,
            number=row.number,
            ordinal=row.ordinal,
            turns=tuple(live_turn(turn) for turn in turns.get(row.id, [])),
            strategies=strategies.get(row.id, ()),
            ending=Ending(row.ending) if row.ending else None,
            unit=row.unit.key if row.unit else "",
        )
        for row in rows
    )


def _session_row(key: str) -> SessionRow:
    row = SessionRow.objects.select_for_update().filter(key=key).first()
    if row is None:
        message = f"no session has the key {key}"
        raise NotFound(message)
    if row.state != SessionState.ACTIVE.value:
        message = f"nothing can be said in a session that is {row.state}; begin it, or begin the next one"
        raise Conflict(message)
    return row


def _open_dialogue(session: SessionRow) -> LiveDialogueRow:
    dialogues = LiveDialogueRow.objects.filter(session=session)
    found = dialogues.filter(ending="").first()
    if found is not None:
        return found
    one_at_a_time(f"dialogues {session.study}")
    highest = LiveDialogueRow.objects.filter(study=session.study).aggregate(highest=Max("ordinal"))["highest"]
    return LiveDialogueRow.objects.create(
        key=secrets.token_hex(32),
        session=session,
        study=session.study,
        number=dialogues.count() + 1,
        ordinal=0 if highest is None else highest + 1,
    )


def _turn_row(key: str) -> LiveTurnRow:
    rows = LiveTurnRow.objects.select_for_update(of=("self",)).select_related("dialogue")
    found = rows.filter(key=key).first()
    if found is None:
        message = f"no turn has the key {key}"
        raise NotFound(message)
    return found


def _sum(before: int | None, more: int | None) -> int | None:
    return before if more is None else (before or 0) + more
