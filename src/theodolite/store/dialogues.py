"""Dialogues stored and read back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, cast

from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn, TurnState
from theodolite.domain.errors import StoreError
from theodolite.domain.flow import JournalEntry, Reply, SchemaUse
from theodolite.domain.persona import Attempt, AttemptOutcome, Persona, Strategy
from theodolite.store.contents import Content, Contents, content_of, context_content, context_of, record_of
from theodolite.store.executor import KeepDialogue
from theodolite.store.fields import n_repaired, repaired_text
from theodolite.store.models import (
    AttemptRow,
    DialogueGroupRow,
    DialogueRow,
    JournalEntryRow,
    ScriptedEndpointRow,
    StrategyRow,
    TurnRow,
    UnitRow,
)
from theodolite.store.statements import Row, grouped, insert, numbers, rows_of

Texts: TypeAlias = Mapping[tuple[int, int], str]
"""Texts of replies by unit number and position in its journal."""


_DIALOGUE = (
    "id",
    "unit_id",
    "label",
    "application",
    "application_version",
    "scenario",
    "scenario_version",
    "level",
    "held_by",
    "pair_key",
    "cluster",
    "ending",
    "repeat",
    "persona_id",
    "context_id",
)

_TURN = (
    "dialogue_id",
    "number",
    "prompt",
    "response",
    "withheld",
    "latency_s",
    "prompt_at",
    "response_at",
    "state",
    "context_id",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """All rows of some dialogues, by the number of the dialogue's row.

    Attributes:
        keys: Keys of units by number.
        turns: Turns in order.
        groups: Groups by name.
        scripted: Scripted endpoints in order.
        journal: Texts of replies by unit and position.
        contents: JSON texts of personas and source material by version.
        strategies: Strategies in order.
    """

    keys: Mapping[int, str]
    turns: Mapping[int, list[TurnRow]]
    groups: Mapping[int, list[DialogueGroupRow]]
    scripted: Mapping[int, list[ScriptedEndpointRow]]
    journal: Texts
    contents: Mapping[str, str]
    strategies: Mapping[int, tuple[Strategy, ...]]


def keep_dialogues(
    writes: Sequence[KeepDialogue],
    ids: Mapping[str, int],
    texts: Texts,
    *,
    contents: Contents,
    created: datetime,
) -> dict[str, int]:
    """Store dialogues and return the numbers of their rows by unit.

    Args:
        writes: Values to store.
        ids: Numbers of the units' rows by key.
        texts: Cached texts of the units' replies.
        contents: Store of personas and source material.
        created: The present moment.
    """
    for write in writes:
        _check_key(write)
    personas = [
        _persona_content(w.dialogue.persona, w.dialogue.scenario_version) if w.dialogue.persona else None
        for w in writes
    ]
    contexts = [context_content(w.dialogue.context) if w.dialogue.context else None for w in writes]
    turn_contexts = [context_content(turn.context) for w in writes for turn in w.dialogue.turns if turn.context]
    contents.keep(content for content in [*personas, *contexts, *turn_contexts] if content is not None)
    insert(
        DialogueRow,
        [
            _dialogue_row(ids[write.unit.key], write.dialogue, persona, context, created)
            for write, persona, context in zip(writes, personas, contexts, strict=True)
        ],
    )
    placed = numbers(DialogueRow, [ids[write.unit.key] for write in writes])
    rows = {write.unit.key: placed[ids[write.unit.key],] for write in writes}
    _keep_turns(writes, ids, rows, texts)
    _keep_circumstances(writes, rows)
    keep_strategies([(rows[write.unit.key], write.dialogue) for write in writes])
    return rows


def _persona_content(persona: Persona, scenario_version: str) -> Content:
    """Return a persona as content; people from one template in one scenario share most of their text."""
    return content_of(persona, kin=f"{persona.group} {persona.template_version} {scenario_version}")


def _check_key(write: KeepDialogue) -> None:
    if write.dialogue.key != write.unit.key:
        message = (
            f"the key of dialogue `{write.dialogue.label}` must be that of its unit, {write.unit.key}; "
            f"got {write.dialogue.key}"
        )
        raise StoreError(message)


def _dialogue_row(
    unit_id: int, dialogue: Dialogue, persona: Content | None, context: Content | None, created: datetime
) -> Row:
    return {
        "unit_id": unit_id,
        "label": dialogue.label,
        "application": dialogue.application,
        "application_version": dialogue.application_version,
        "scenario": dialogue.scenario,
        "scenario_version": dialogue.scenario_version,
        "level": dialogue.level.value,
        "held_by": dialogue.held_by.value,
        "pair_key": dialogue.pair_key,
        "cluster": dialogue.cluster,
        "ending": dialogue.ending.value,
        "repeat": dialogue.repeat,
        "persona_id": persona.version if persona else None,
        "context_id": context.version if context else None,
        "created": created,
    }


def _keep_turns(writes: Sequence[KeepDialogue], ids: Mapping[str, int], rows: Mapping[str, int], texts: Texts) -> None:
    """Store the turns of dialogues; a text that is in the journal is not stored twice."""
    journalled = {ids[write.unit.key]: write for write in writes if write.journalled}
    unknown = [
        unit_id for unit_id, write in journalled.items() if not _turn_keys(unit_id, write.dialogue) <= texts.keys()
    ]
    texts = {**texts, **texts_of(unknown)} if unknown else texts
    insert(
        TurnRow,
        [
            _turn_row(rows[write.unit.key], ids[write.unit.key], turn, texts if write.journalled else {})
            for write in writes
            for turn in write.dialogue.turns
        ],
    )


def _turn_keys(unit_id: int, dialogue: Dialogue) -> set[tuple[int, int]]:
    """Return the positions of a dialogue's texts in the journal."""
    positions = (position for turn in dialogue.turns for position in (turn.prompt_at, turn.response_at))
    return {(unit_id, position) for position in positions if position is not None}


def _keep_circumstances(writes: Sequence[KeepDialogue], rows: Mapping[str, int]) -> None:
    """Store the groups of dialogues and the endpoints at which a script answered; most have neither."""
    groups = [
        {"dialogue_id": rows[write.unit.key], "name": name, "value": value}
        for write in writes
        for name, value in write.dialogue.groups.items()
    ]
    scripted = [
        {"dialogue_id": rows[write.unit.key], "position": position, "name": name}
        for write in writes
        for position, name in enumerate(write.dialogue.scripted)
    ]
    if groups:
        insert(DialogueGroupRow, groups)
    if scripted:
        insert(ScriptedEndpointRow, scripted)


def _turn_row(dialogue_id: int, unit_id: int, turn: Turn, texts: Texts) -> Row:
    prompt = _unless_journalled(turn.prompt, texts.get((unit_id, _place(turn.prompt_at))))
    response = _unless_journalled(turn.response, texts.get((unit_id, _place(turn.response_at))))
    return {
        "dialogue_id": dialogue_id,
        "number": turn.number,
        "prompt": prompt,
        "response": response,
        "prompt_at": turn.prompt_at,
        "response_at": turn.response_at,
        "withheld": turn.withheld,
        "latency_s": turn.latency_s,
        "state": turn.state.value,
        "repaired": n_repaired(prompt or "", response or "", turn.withheld),
        "context_id": context_content(turn.context).version if turn.context else None,
    }


def _place(position: int | None) -> int:
    return -1 if position is None else position


def _unless_journalled(text: str, journalled: str | None) -> str | None:
    # A flow may have trimmed the reply; then the turn's own text is stored.
    return None if journalled is not None and repaired_text(text) == journalled else text


def dialogues_of(unit_ids: Sequence[int], contents: Contents) -> list[Dialogue]:
    """Return the dialogues of some units, in the order of the units."""
    rows = rows_of(DialogueRow, "unit_id", unit_ids, columns=_DIALOGUE)
    parts = _parts(rows, contents)
    matches = {row.unit_id: _dialogue(row, parts) for row in rows}
    return [matches[unit_id] for unit_id in unit_ids if unit_id in matches]


def _parts(rows: Sequence[DialogueRow], contents: Contents) -> _Parts:
    ids = [row.id for row in rows]
    units = rows_of(UnitRow, "id", (row.unit_id for row in rows), columns=("id", "key"))
    keys = {row.id: row.key for row in units}
    turns = grouped(rows_of(TurnRow, "dialogue_id", ids, "dialogue_id", "number", columns=_TURN), "dialogue_id")
    journalled = [row.unit_id for row in rows if any(_is_journalled(turn) for turn in turns.get(row.id, []))]
    groups = rows_of(DialogueGroupRow, "dialogue_id", ids, "id")
    scripted = rows_of(ScriptedEndpointRow, "dialogue_id", ids, "dialogue_id", "position")
    versions = {row.persona_id for row in rows} | {row.context_id for row in rows}
    versions |= {turn.context_id for some in turns.values() for turn in some}
    return _Parts(
        keys=keys,
        turns=turns,
        groups=grouped(groups, "dialogue_id"),
        scripted=grouped(scripted, "dialogue_id"),
        journal=texts_of(journalled),
        contents=contents.texts(version for version in versions if version is not None),
        strategies=strategies_of({row.id: keys[row.unit_id] for row in rows}),
    )


def _is_journalled(turn: TurnRow) -> bool:
    return turn.prompt is None or turn.response is None


def _dialogue(row: DialogueRow, parts: _Parts) -> Dialogue:
    return Dialogue(
        key=parts.keys[row.unit_id],
        label=row.label,
        application=row.application,
        application_version=row.application_version,
        scenario=row.scenario,
        scenario_version=row.scenario_version,
        level=Level(row.level),
        held_by=TesterType(row.held_by),
        pair_key=row.pair_key,
        cluster=row.cluster,
        turns=tuple(_turn(row.unit_id, turn, parts) for turn in parts.turns.get(row.id, [])),
        ending=Ending(row.ending),
        repeat=row.repeat,
        persona=record_of(Persona, parts.contents[row.persona_id]) if row.persona_id else None,
        groups={group.name: group.value for group in parts.groups.get(row.id, [])},
        scripted=tuple(endpoint.name for endpoint in parts.scripted.get(row.id, [])),
        context=context_of(parts.contents[row.context_id]) if row.context_id else "",
        strategies=parts.strategies.get(row.id, ()),
    )


def _turn(unit_id: int, row: TurnRow, parts: _Parts) -> Turn:
    journal = parts.journal
    # A CHECK constraint ensures that a text which is not here has a position in the journal.
    prompt = journal[unit_id, cast("int", row.prompt_at)] if row.prompt is None else row.prompt
    response = journal[unit_id, cast("int", row.response_at)] if row.response is None else row.response
    return Turn(
        number=row.number,
        prompt=prompt,
        response=response,
        withheld=row.withheld,
        latency_s=row.latency_s,
        prompt_at=row.prompt_at,
        response_at=row.response_at,
        state=TurnState(row.state),
        context=context_of(parts.contents[row.context_id]) if row.context_id else "",
    )


def keep_strategies(dialogues: Sequence[tuple[int, Dialogue]]) -> None:
    """Store the strategies of some dialogues, given by row number."""
    stored = [
        (StrategyRow(dialogue_id=row, position=position, name=strategy.name), strategy)
        for row, dialogue in dialogues
        for position, strategy in enumerate(dialogue.strategies)
    ]
    if not stored:  # most dialogues have none, and this is the hot path
        return
    StrategyRow.objects.bulk_create([row for row, _ in stored])
    AttemptRow.objects.bulk_create(
        AttemptRow(
            strategy_id=row.id,
            number=number,
            description=attempt.description,
            outcome=attempt.outcome.value,
            turn=attempt.turn,
            refines=attempt.refines,
            planted=attempt.planted,
        )
        for row, strategy in stored
        for number, attempt in enumerate(strategy.attempts, start=1)
    )


def strategies_of(dialogues: Mapping[int, str]) -> dict[int, tuple[Strategy, ...]]:
    """Return the strategies of some dialogues by row number.

    Args:
        dialogues: Key of each dialogue by row number.
    """
    rows = rows_of(StrategyRow, "dialogue_id", dialogues, "dialogue_id", "position")
    if not rows:
        return {}
    attempts = grouped(
        rows_of(AttemptRow, "strategy_id", (row.id for row in rows), "strategy_id", "number"),
        "strategy_id",
    )
    result: dict[int, list[Strategy]] = defaultdict(list)
    for row in rows:
        strategy = Strategy(
            name=row.name,
            dialogue=dialogues[row.dialogue_id],
            attempts=tuple(_attempt(attempt) for attempt in attempts.get(row.id, [])),
        )
        result[row.dialogue_id].append(strategy)
    return {dialogue: tuple(strategies) for dialogue, strategies in result.items()}


def _attempt(row: AttemptRow) -> Attempt:
    return Attempt(
        description=row.description,
        outcome=AttemptOutcome(row.outcome),
        turn=row.turn,
        refines=row.refines,
        planted=row.planted,
    )


_REPLY = (
    "unit_id",
    "position",
    "request_hash",
    "text",
    "withheld",
    "answered_as",
    "finish",
    "tokens_in",
    "tokens_out",
    "cost_microusd",
    "latency_s",
    "attempts",
    "scripted",
    "repaired",
    "schema_use",
    "original",
    "estimated_tokens",
    "estimated_microusd",
)
"""Columns of a reply that make a record."""


def keep_replies(entries: Sequence[tuple[int, JournalEntry]], *, created: datetime) -> None:
    """Store replies of units, given by row number."""
    insert(JournalEntryRow, [_row(unit_id, entry, created) for unit_id, entry in entries])


def entries_of(unit: str) -> list[JournalEntry]:
    """Return the replies of a unit in order of position."""
    return [_entry(row) for row in JournalEntryRow.objects.filter(unit__key=unit).order_by("position")]


def journals_of(units: Sequence[str]) -> dict[str, list[JournalEntry]]:
    """Return the replies of some units, or of those with the adopted result, in order of position."""
    rows = UnitRow.objects.filter(key__in=units).values_list("key", "id", "adopted_from_id")
    origins = {key: origin or own for key, own, origin in rows}
    matches = grouped(
        rows_of(JournalEntryRow, "unit_id", origins.values(), "unit_id", "position", columns=_REPLY), "unit_id"
    )
    return {unit: [_entry(row) for row in matches.get(origins.get(unit, -1), [])] for unit in units}


def texts_of(unit_ids: Sequence[int]) -> dict[tuple[int, int], str]:
    """Return the texts of some units' replies by unit and position."""
    rows = rows_of(JournalEntryRow, "unit_id", unit_ids, columns=("unit_id", "position", "text"))
    return {(row.unit_id, row.position): row.text for row in rows}


def _row(unit_id: int, entry: JournalEntry, created: datetime) -> Row:
    reply = entry.reply
    return {
        "unit_id": unit_id,
        "position": entry.position,
        "request_hash": entry.request_hash,
        "text": reply.text,
        "withheld": reply.withheld,
        "answered_as": reply.answered_as,
        "finish": reply.finish,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost_microusd": reply.cost_microusd,
        "latency_s": reply.latency_s,
        "attempts": reply.attempts,
        "scripted": reply.scripted,
        "repaired": reply.repaired
        + n_repaired(reply.text, reply.withheld, reply.answered_as, reply.finish, reply.original),
        "schema_use": reply.schema_use.value,
        "original": reply.original,
        "estimated_tokens": entry.estimated_tokens or None,
        "estimated_microusd": entry.estimated_microusd or None,
        "created": created,
    }


def _entry(row: JournalEntryRow) -> JournalEntry:
    reply = Reply(
        text=row.text,
        withheld=row.withheld,
        answered_as=row.answered_as,
        finish=row.finish,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_microusd=row.cost_microusd,
        latency_s=row.latency_s,
        attempts=row.attempts,
        scripted=row.scripted,
        repaired=row.repaired,
        schema_use=SchemaUse(row.schema_use),
        original=row.original,
    )
    return JournalEntry(
        position=row.position,
        request_hash=row.request_hash,
        reply=reply,
        estimated_tokens=row.estimated_tokens or 0,
        estimated_microusd=row.estimated_microusd or 0,
    )
