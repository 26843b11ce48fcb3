"""Dialogues read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, Level, Turn
from theodolite.domain.persona import Persona
from theodolite.domain.strategy import Strategy
from theodolite.store.contents import Contents, context_of, record_of
from theodolite.store.journal import texts_of
from theodolite.store.models import DialogueGroupRow, DialogueRow, ScriptedEndpointRow, TurnRow
from theodolite.store.reading import grouped
from theodolite.store.strategies import strategies_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Everything that belongs to some dialogues, by the number of the dialogue's row.

    Attributes:
        turns: Turns in order.
        groups: Groups by name.
        scripted: Scripted endpoints in order.
        journal: Texts of replies by unit and position.
        contents: JSON texts of personas and source material by version.
        strategies: Strategies in order.
    """

    turns: Mapping[int, list[TurnRow]]
    groups: Mapping[int, list[DialogueGroupRow]]
    scripted: Mapping[int, list[ScriptedEndpointRow]]
    journal: Mapping[tuple[int, int], str]
    contents: Mapping[str, str]
    strategies: Mapping[int, tuple[Strategy, ...]]


def dialogues_of(unit_ids: Sequence[int], contents: Contents) -> list[Dialogue]:
    """Return the dialogues that some units brought, in the order of the units."""
    rows = list(DialogueRow.objects.filter(unit_id__in=unit_ids).select_related("unit"))
    parts = _parts(rows, contents)
    found = {row.unit_id: _dialogue(row, parts) for row in rows}
    return [found[unit_id] for unit_id in unit_ids if unit_id in found]


def _parts(rows: Sequence[DialogueRow], contents: Contents) -> _Parts:
    ids = [row.id for row in rows]
    turns = grouped(TurnRow.objects.filter(dialogue_id__in=ids).order_by("dialogue_id", "number"), "dialogue_id")
    journalled = [row.unit_id for row in rows if any(_is_journalled(turn) for turn in turns.get(row.id, []))]
    groups = DialogueGroupRow.objects.filter(dialogue_id__in=ids).order_by("id")
    scripted = ScriptedEndpointRow.objects.filter(dialogue_id__in=ids).order_by("dialogue_id", "position")
    versions = {row.persona_id for row in rows} | {row.context_id for row in rows}
    return _Parts(
        turns=turns,
        groups=grouped(groups, "dialogue_id"),
        scripted=grouped(scripted, "dialogue_id"),
        journal=texts_of(journalled),
        contents=contents.texts(version for version in versions if version is not None),
        strategies=strategies_of({row.id: row.unit.key for row in rows}),
    )


def _is_journalled(turn: TurnRow) -> bool:
    return turn.prompt is None or turn.response is None


def _dialogue(row: DialogueRow, parts: _Parts) -> Dialogue:
    return Dialogue(
        key=row.unit.key,
        label=row.label,
        application=row.application,
        application_version=row.application_version,
        scenario=row.scenario,
        scenario_version=row.scenario_version,
        level=Level(row.level),
        held_by=HeldBy(row.held_by),
        pair_key=row.pair_key,
        cluster=row.cluster,
        turns=tuple(_turn(row.unit_id, turn, parts.journal) for turn in parts.turns.get(row.id, [])),
        ending=Ending(row.ending),
        repeat=row.repeat,
        persona=record_of(Persona, parts.contents[row.persona_id]) if row.persona_id else None,
        groups={group.name: group.value for group in parts.groups.get(row.id, [])},
        scripted=tuple(endpoint.name for endpoint in parts.scripted.get(row.id, [])),
        context=context_of(parts.contents[row.context_id]) if row.context_id else "",
        strategies=parts.strategies.get(row.id, ()),
    )


def _turn(unit_id: int, row: TurnRow, journal: Mapping[tuple[int, int], str]) -> Turn:
    # A CHECK sees to it that a text which is not here has a position in the journal.
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
    )
