"""The repository of live dialogues: turns as they arrive, and completed dialogues of the run."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain

from django.db.models import Count, Max, Q, QuerySet, Sum

from theodolite.domain.dialogue import Dialogue, Ending, TesterType, TurnState
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.event import PersonProfile
from theodolite.domain.live import (
    BroughtResult,
    FailedReply,
    LiveDialogue,
    LiveDialogueSummary,
    LiveEnding,
    LiveTurn,
    NamingCount,
    ReplyCounts,
)
from theodolite.domain.persona import Attempt, AttemptOutcome, Strategy
from theodolite.domain.run import FailureKind, Run, Spending, Unit, UnitState
from theodolite.domain.session import SessionState
from theodolite.store.contents import Contents
from theodolite.store.dialogues import keep_dialogues
from theodolite.store.event_sessions import profiles_of, session_from, session_row
from theodolite.store.executor import Executor, KeepDialogue, Repository, reads, writes
from theodolite.store.fields import repaired_text
from theodolite.store.ledger import CHUNK, id_of_run
from theodolite.store.models import DialogueRow, UnitRow
from theodolite.store.models.events import LiveAttemptRow, LiveDialogueRow, LiveTurnRow, SessionRow
from theodolite.store.results import ids_of_participants
from theodolite.store.statements import (
    chunks,
    end_units,
    execute,
    grouped,
    make_ready,
    one_at_a_time,
    per_quarter_hour,
    rows_of,
)

_TURNS = LiveTurnRow._meta.db_table  # noqa: SLF001  # `_meta` is Django's own door to a model


class LiveDialogueRepository(Repository):
    """Dialogues of participants, from the first prompt to the dialogue of the run.

    Every prompt is committed before the application is called, and every reply as it arrives.
    """

    def __init__(self, executor: Executor, contents: Contents) -> None:
        """Set the executor, and the store of source material."""
        super().__init__(executor)
        self._contents = contents

    @writes
    def add_turn(self, session: str, prompt: str, *, now: datetime) -> LiveTurn:
        """Dialogues of participants, from the first prompt to the dialogue of the run.

        Raises:
            Conflict: If the session is not active, or a reply is still in progress.
            NotFound: If there is no such session.
        """
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
        return _turn(turn)

    @writes
    def retry_turn(self, turn: str, *, now: datetime) -> LiveTurn:
        """Reset the last turn of an open dialogue after an error, so that it can be answered again.

        Raises:
            Conflict: If it has a response, or is not the last one of an open dialogue.
            NotFound: If there is no such turn.
        """
        row = _turn_row(turn)
        is_last = not LiveTurnRow.objects.filter(dialogue=row.dialogue, number__gt=row.number).exists()
        if row.state != TurnState.ERROR.value or not is_last or row.dialogue.ending:
            message = "only the last turn of a dialogue can be tried again, and only after an error"
            raise Conflict(message)
        row.state, row.response, row.original = "", "", ""
        row.tries, row.asked = row.tries + 1, now
        row.save()
        return _turn(row)

    @writes
    def save_partials(self, texts: Mapping[str, str]) -> None:
        """Store partial replies; a reply that has ended in the meantime is not changed.

        Args:
            texts: Complete text so far, by turn key.
        """
        for chunk in chunks((bytes.fromhex(key), repaired_text(text)) for key, text in texts.items()):
            fresh = ", ".join(["(%s, %s)"] * len(chunk))
            # One statement, because other writers wait and each statement needs the interpreter.
            execute(
                f"UPDATE {_TURNS} SET response = fresh.column2 FROM (VALUES {fresh}) AS fresh "  # noqa: S608
                "WHERE key = fresh.column1 AND state = ''",
                list(chain.from_iterable(chunk)),
            )

    @writes
    def end_turn(self, turn: str, ending: LiveEnding, claims: Sequence[str] = ()) -> LiveTurn:
        """Store how a reply ended.

        Args:
            turn: Key of the turn.
            ending: How it ended.
            claims: Phrases by which the response identifies itself.

        Raises:
            Conflict: If it has ended before.
            NotFound: If there is no such turn.
        """
        row = _turn_row(turn)
        if row.state:
            message = f"the reply has ended before ({row.state}); what was stored stays"
            raise Conflict(message)
        row.state, row.response, row.claims = ending.state.value, ending.text, "\n".join(claims)
        row.latency_s, row.waited_s = ending.latency_s, ending.waited_s
        row.kind, row.cause = ending.kind.value if ending.kind else "", ending.cause
        if ending.reply is not None:
            row.original = ending.reply.original
            row.tokens_in += ending.reply.tokens_in
            row.tokens_out += ending.reply.tokens_out
            row.cost_microusd = _sum(row.cost_microusd, ending.reply.cost_microusd)
        row.save()
        return _turn(row)

    @writes
    def mark_turn(self, turn: str, *, broke: bool) -> LiveTurn:
        """Store whether the participant marked a turn as a broken guardrail.

        Raises:
            NotFound: If there is no such turn.
        """
        row = _turn_row(turn)
        row.broke = broke
        row.save(update_fields=["broke"])
        return _turn(row)

    @writes
    def interrupt_all(self) -> int:
        """Mark every reply in progress as interrupted, because no process waits for it any more; return the count."""
        return LiveTurnRow.objects.filter(state="").update(state=TurnState.INTERRUPTED.value)

    @reads
    def of_session(self, session: str) -> tuple[LiveDialogue, ...]:
        """Return the dialogues of a session with their turns, in order."""
        return _dialogues(list(_dialogue_rows().filter(session__key=session).order_by("number")))

    @reads
    def get(self, key: str) -> LiveDialogue:
        """Return a dialogue with its turns.

        Raises:
            NotFound: If there is none with that key.
        """
        return _dialogue(key)

    @reads
    def of_turn(self, turn: str) -> LiveDialogue:
        """Return the dialogue that a turn belongs to.

        Raises:
            NotFound: If there is no such turn.
        """
        key = LiveTurnRow.objects.filter(key=turn).values_list("dialogue__key", flat=True).first()
        if key is None:
            message = f"no turn has the key {turn}"
            raise NotFound(message)
        return _dialogue(key)

    @writes
    def set_strategies(self, dialogue: str, strategies: Sequence[Strategy]) -> None:
        """Replace the strategies that a red teamer noted about a dialogue.

        Raises:
            NotFound: If there is no such dialogue.
        """
        row = LiveDialogueRow.objects.select_for_update().filter(key=dialogue).first()
        if row is None:
            message = f"no live dialogue has the key {dialogue}"
            raise NotFound(message)
        LiveAttemptRow.objects.filter(dialogue=row).delete()
        LiveAttemptRow.objects.bulk_create(
            attempt for index, strategy in enumerate(strategies) for attempt in _attempt_rows(row.id, index, strategy)
        )

    @writes
    def end(self, run: Run, key: str, ending: Ending, result: tuple[Unit, Dialogue] | None, *, now: datetime) -> None:
        """End a dialogue and store the resulting dialogue of the run, in one transaction.

        Args:
            run: The run of its unit.
            key: Key of the live dialogue.
            ending: Why it ended.
            result: The unit and the dialogue; None if the application never answered.
            now: The present moment.

        Raises:
            Conflict: If it has ended before.
            NotFound: If there is none with that key.
        """
        one_at_a_time(run.key)
        row = LiveDialogueRow.objects.select_for_update().filter(key=key).first()
        if row is None:
            message = f"no live dialogue has the key {key}"
            raise NotFound(message)
        if row.ending:
            message = f"the dialogue has ended before ({row.ending})"
            raise Conflict(message)
        in_progress = LiveTurnRow.objects.filter(dialogue=row, state="")
        in_progress.update(state=TurnState.INTERRUPTED.value)
        row.ending = ending.value
        row.unit_id = _stored(self._contents, run, *result, now=now) if result else None
        row.save(update_fields=["ending", "unit"])

    @writes
    def add_imported(self, run: Run, results: Sequence[BroughtResult], *, now: datetime) -> None:
        """Store imported dialogues, all or none.

        Args:
            run: The run of their units.
            results: The dialogues; their ordinals follow the stored ones.
            now: The present moment.

        Raises:
            Conflict: If other dialogues were stored under the same ordinals meanwhile.
        """
        one_at_a_time(f"dialogues {run.study}")
        number = id_of_run(run)
        people = ids_of_participants({result.held.session.participant for result in results})
        sessions = SessionRow.objects.bulk_create(
            [session_row(result.held.session, number, people[result.held.session.participant]) for result in results],
            batch_size=CHUNK,
        )
        units = _stored_units(self._contents, run, [(result.unit, result.dialogue) for result in results], now=now)
        LiveDialogueRow.objects.bulk_create(
            [
                LiveDialogueRow(
                    key=result.held.key,
                    session=session,
                    study=result.held.session.study,
                    number=result.held.number,
                    ordinal=result.held.ordinal,
                    ending=(result.held.ending or Ending.SCRIPT_END).value,
                    unit_id=units[result.unit.key],
                )
                for result, session in zip(results, sessions, strict=True)
            ],
            batch_size=CHUNK,
        )

    def summaries(self, study: str, sessions: Sequence[str] | None = None) -> list[LiveDialogueSummary]:
        """Return the dialogues of a study's participants without texts, in order of start.

        Args:
            study: Name of the study.
            sessions: Keys of the sessions; None for all.
        """
        rows = LiveDialogueRow.objects.filter(study=study)
        own = rows if sessions is None else rows.filter(session__key__in=sessions)
        return self.executor.read(lambda: _summaries(own))

    def noted_summaries(self, study: str, sessions: Sequence[str] | None = None) -> list[LiveDialogueSummary]:
        """Return the same for the sessions in which a red teamer noted a strategy.

        Args:
            study: Name of the study.
            sessions: Keys of the sessions; None for all.
        """
        attempts = LiveAttemptRow.objects.filter(dialogue__study=study)
        noted = attempts if sessions is None else attempts.filter(dialogue__session__key__in=sessions)
        rows = LiveDialogueRow.objects.filter(study=study, session_id__in=noted.values("dialogue__session_id"))
        return self.executor.read(lambda: _summaries(rows))

    @reads
    def turn_counts(self, study: str) -> dict[str, tuple[int, int]]:
        """Return the turns and the turns marked as broken guardrails of each session with a turn; counts."""
        turns = LiveTurnRow.objects.filter(dialogue__study=study).values_list("dialogue__session__key")
        counts = turns.annotate(n=Count("id"), broken=Count("id", filter=Q(broke=True)))
        return {key: (n, broken) for key, n, broken in counts}

    @reads
    def dialogue_counts(self, study: str) -> dict[str, int]:
        """Return the completed dialogues of each session that took place here and has any; counts."""
        completed = LiveDialogueRow.objects.filter(study=study, unit__isnull=False, session__brought=False)
        return dict(completed.values_list("session__key").annotate(Count("id")))

    @reads
    def spending(self, study: str, models: Collection[str] = ()) -> Spending:
        """Return the cost of replies to participants of a study.

        A reply without a cost counts as unpriced if it reports tokens, or if a model gave it without reporting any.

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
        unreported = Q(dialogue__session__application__in=list(models), state__in=answered)
        unpriced = turns.filter(Q(tokens_out__gt=0) | unreported, cost_microusd__isnull=True).count()
        return Spending(unpriced_calls=unpriced, **{name: int(value) for name, value in sums.items()})


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
    row = dialogues.filter(ending="").first()
    if row is not None:
        return row
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
    row = rows.filter(key=key).first()
    if row is None:
        message = f"no turn has the key {key}"
        raise NotFound(message)
    return row


def _sum(before: int | None, more: int | None) -> int | None:
    return before if more is None else (before or 0) + more


def _dialogue(key: str) -> LiveDialogue:
    rows = _dialogues(list(_dialogue_rows().filter(key=key)))
    if not rows:
        message = f"no live dialogue has the key {key}"
        raise NotFound(message)
    return rows[0]


def _dialogue_rows() -> QuerySet[LiveDialogueRow]:
    return LiveDialogueRow.objects.select_related("session", "unit")


def _dialogues(rows: Sequence[LiveDialogueRow]) -> tuple[LiveDialogue, ...]:
    ids = [row.id for row in rows]
    turns = grouped(rows_of(LiveTurnRow, "dialogue_id", ids, "dialogue_id", "number"), "dialogue_id")
    strategies = _strategies_of({row.id: row.key for row in rows})
    return tuple(
        LiveDialogue(
            key=row.key,
            session=row.session.key,
            number=row.number,
            ordinal=row.ordinal,
            turns=tuple(_turn(turn) for turn in turns.get(row.id, [])),
            strategies=strategies.get(row.id, ()),
            ending=Ending(row.ending) if row.ending else None,
            unit=row.unit.key if row.unit else "",
        )
        for row in rows
    )


def _turn(row: LiveTurnRow) -> LiveTurn:
    return LiveTurn(
        key=row.key,
        number=row.number,
        prompt=row.prompt,
        asked=row.asked,
        response=row.response,
        original=row.original,
        state=TurnState(row.state) if row.state else None,
        latency_s=row.latency_s,
        waited_s=row.waited_s,
        kind=FailureKind(row.kind) if row.kind else None,
        cause=row.cause,
        tries=row.tries,
        broke=row.broke,
        claims=tuple(row.claims.splitlines()),
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_microusd=row.cost_microusd,
    )


def _strategies_of(dialogues: Mapping[int, str]) -> dict[int, tuple[Strategy, ...]]:
    """Return the strategies of some live dialogues by the number of their row.

    Args:
        dialogues: Key of each dialogue by row number.
    """
    result: dict[tuple[int, int], list[LiveAttemptRow]] = defaultdict(list)
    for row in rows_of(LiveAttemptRow, "dialogue_id", dialogues, "dialogue_id", "place", "number"):
        result[row.dialogue_id, row.place].append(row)
    strategies: dict[int, list[Strategy]] = defaultdict(list)
    for (dialogue, _), attempts in result.items():
        strategy = Strategy(
            name=attempts[0].name,
            dialogue=dialogues[dialogue],
            attempts=tuple(_attempt(row) for row in attempts if row.number),
        )
        strategies[dialogue].append(strategy)
    return {dialogue: tuple(listed) for dialogue, listed in strategies.items()}


def _attempt_rows(dialogue: int, place: int, strategy: Strategy) -> list[LiveAttemptRow]:
    if not strategy.attempts:
        return [LiveAttemptRow(dialogue_id=dialogue, place=place, name=strategy.name, number=0)]
    return [
        LiveAttemptRow(
            dialogue_id=dialogue,
            place=place,
            name=strategy.name,
            number=number,
            description=attempt.description,
            outcome=attempt.outcome.value,
            turn=attempt.turn,
            refines=attempt.refines,
        )
        for number, attempt in enumerate(strategy.attempts, start=1)
    ]


def _attempt(row: LiveAttemptRow) -> Attempt:
    return Attempt(description=row.description, outcome=AttemptOutcome(row.outcome), turn=row.turn, refines=row.refines)


def _stored(contents: Contents, run: Run, unit: Unit, dialogue: Dialogue, *, now: datetime) -> int:
    """Store the unit of a dialogue and the dialogue, and return the id of the unit's row."""
    return _stored_units(contents, run, [(unit, dialogue)], now=now)[unit.key]


def _stored_units(
    contents: Contents, run: Run, results: Sequence[tuple[Unit, Dialogue]], *, now: datetime
) -> dict[str, int]:
    """Store completed units with their dialogues; return the ids of their rows by key."""
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


def _summaries(dialogues: QuerySet[LiveDialogueRow]) -> list[LiveDialogueSummary]:
    rows = list(dialogues.select_related("session__participant", "session__run", "unit").order_by("ordinal"))
    ids = [row.id for row in rows]
    turns = LiveTurnRow.objects.filter(dialogue_id__in=ids)
    counts = dict(turns.values_list("dialogue_id").annotate(n=Count("id")))
    completed = DialogueRow.objects.filter(unit_id__in=[row.unit_id for row in rows])
    pairs = {
        unit: (pair_key, TesterType(held_by))
        for unit, pair_key, held_by in completed.values_list("unit_id", "pair_key", "held_by")
    }
    kinds = dict(turns.exclude(kind="").order_by("number").values_list("dialogue_id", "kind"))
    people = profiles_of(list({row.session.participant.key for row in rows}))
    strategies = _strategies_of({row.id: row.key for row in rows})
    return [
        _summary(
            row,
            people,
            strategies.get(row.id, ()),
            turns=counts.get(row.id, 0),
            kind=kinds.get(row.id, ""),
            pair=pairs.get(row.unit_id or 0, ("", TesterType.PERSON)),
        )
        for row in rows
    ]


def _summary(
    row: LiveDialogueRow,
    people: Mapping[str, PersonProfile],
    strategies: tuple[Strategy, ...],
    *,
    turns: int,
    kind: str,
    pair: tuple[str, TesterType],
) -> LiveDialogueSummary:
    session = session_from(row.session)
    profile = people.get(session.participant)
    return LiveDialogueSummary(
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
        strategies=strategies,
    )


_APPLICATION = "dialogue__session__application"

_PARTICIPANT = "dialogue__session__participant__key"


class ReplyRepository(Repository):
    """Statistics about the replies to the participants of a study."""

    @reads
    def waiting_since(self, study: str) -> dict[str, datetime]:
        """Return the request time of each session's reply in progress, by session key."""
        turns = LiveTurnRow.objects.filter(dialogue__study=study, state="")
        return dict(turns.values_list("dialogue__session__key", "asked"))

    @reads
    def counts(self, study: str, *, now: datetime, stuck_s: float) -> dict[str, ReplyCounts]:
        """Return how the replies of each application ended.

        Args:
            study: Name of the study.
            now: The present moment.
            stuck_s: Time in progress from which a reply counts as stuck; seconds.
        """
        turns = LiveTurnRow.objects.filter(dialogue__study=study).order_by().values(_APPLICATION)
        counted = turns.annotate(
            complete=Count("id", filter=Q(state=TurnState.COMPLETE.value)),
            interrupted=Count("id", filter=Q(state=TurnState.INTERRUPTED.value)),
            errors=Count("id", filter=Q(state=TurnState.ERROR.value)),
            stuck=Count("id", filter=Q(state="", asked__lt=now - timedelta(seconds=stuck_s))),
            cost_microusd=Sum("cost_microusd"),
        )
        return {row.pop(_APPLICATION): ReplyCounts(**row) for row in counted}

    @reads
    def recent_failures(self, study: str, limit: int) -> list[FailedReply]:
        """Return the latest replies that failed, the last one first."""
        failed = LiveTurnRow.objects.filter(dialogue__study=study, state=TurnState.ERROR.value).order_by("-asked")
        rows = failed.values_list("asked", _APPLICATION, _PARTICIPANT, "number", "cause")[:limit]
        return [
            FailedReply(asked=requested, application=application, participant=participant, turn=number, cause=cause)
            for requested, application, participant, number, cause in rows
        ]

    @reads
    def errors_since(self, study: str, since: datetime) -> dict[str, int]:
        """Return the number of failed replies of each application since a time; only counts above 0."""
        failed = LiveTurnRow.objects.filter(dialogue__study=study, state=TurnState.ERROR.value, asked__gte=since)
        return dict(failed.order_by().values_list(_APPLICATION).annotate(n=Count("id")))

    @reads
    def last_prompts(self, study: str) -> dict[str, datetime]:
        """Return the time of the last prompt of each active session, by session key."""
        active = LiveTurnRow.objects.filter(
            dialogue__session__study=study, dialogue__session__state=SessionState.ACTIVE.value
        )
        return dict(active.order_by().values_list("dialogue__session__key").annotate(last=Max("asked")))

    @reads
    def dialogues_per_quarter_hour(self, study: str) -> dict[datetime, int]:
        """Return the number of dialogues with their first prompt in each quarter of an hour, by its start; counts."""
        first = LiveTurnRow.objects.filter(dialogue__study=study, number=1, dialogue__session__brought=False)
        return per_quarter_hour(first, "asked")

    @reads
    def broken_guardrails(self, study: str) -> dict[str, int]:
        """Return the number of turns that each participant marked as broken guardrails; counts by key."""
        marked = LiveTurnRow.objects.filter(dialogue__study=study, broke=True)
        return dict(marked.values_list(_PARTICIPANT).annotate(n=Count("id")).order_by())

    @reads
    def naming_counts(self, study: str) -> list[NamingCount]:
        """Return how often each application identified itself, sorted by name."""
        turns = LiveTurnRow.objects.filter(dialogue__study=study)
        counted = turns.values_list(_APPLICATION).annotate(n=Count("id"), named=Count("id", filter=~Q(claims="")))
        return [
            NamingCount(
                application=application,
                turns=n,
                named=named,
                phrases=_phrases(study, application) if named else (),
            )
            for application, n, named in counted.order_by(_APPLICATION)
        ]


def _phrases(study: str, application: str) -> tuple[str, ...]:
    """Return the phrases by which an application identified itself, each once."""
    turns = LiveTurnRow.objects.filter(dialogue__study=study, dialogue__session__application=application)
    claims = turns.exclude(claims="").order_by("id").values_list("claims", flat=True)
    return tuple(dict.fromkeys(phrase for text in claims for phrase in text.splitlines()))
