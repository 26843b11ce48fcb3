"""Aligns dialogues of earlier runs to the plan of today."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from theodolite.domain.dialogue import Dialogue, TesterType
from theodolite.domain.errors import InputError, NotFound, StoreError
from theodolite.domain.identity import version_of
from theodolite.domain.persona import Persona
from theodolite.domain.plan import EventSessions, Plan, Sessions, TesterKind
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.ports.store import Store


def latest_run(store: Store, study: Study, plan: Plan) -> Run:
    """Return the latest run of a study as it is written now.

    Raises:
        NotFound: If the study was never run here.
        InputError: If it has changed since its last run, or the rules by which this program holds dialogues have.
    """
    try:
        return store.run_of(plan)
    except NotFound as unknown:
        last = store.latest_run(study.name)
        raise InputError(_what_changed(study, last)) from unknown


def _what_changed(study: Study, last: Run) -> str:
    """Return why no run is the study's: one that is written as it was is planned otherwise by a new program alone."""
    if last.study_version == version_of(study):
        return (
            f"the last run (number {last.number}) of study `{study.name}` is by an earlier version of this program, "
            "which held dialogues by other rules; run the study again: its dialogues are held anew"
        )
    return (
        f"study `{study.name}` has changed since its last run (number {last.number}); "
        "run it again: only what changed is asked anew"
    )


def as_planned(
    dialogues: Iterable[Dialogue], sessions: Sessions, at: Collection[int] | None = None
) -> Iterator[tuple[int, Dialogue]]:
    """Yield dialogues under the labels, clusters and groups that the present plan gives them, with their positions.

    A dialogue that was taken over from an earlier run was `d002` there and may
    be `d003` now; what it is a dialogue of, and with whom, stays the same.

    Args:
        dialogues: In order of the plan.
        sessions: The sessions of the present plan.
        at: Positions that the dialogues are of; None for all.

    Raises:
        StoreError: If a dialogue is of no planned session, or out of order.
    """
    positions = iter(range(len(sessions)) if at is None else sorted(at))
    event = sessions if isinstance(sessions, EventSessions) else None
    for dialogue in dialogues:
        if event is not None and (place := event.units.get(dialogue.key)) is not None:
            yield place, _as_planned(dialogue, sessions, place)
            continue
        if event is not None and (dialogue.held_by is TesterType.PERSON or dialogue.key in event.left_out):
            continue  # one that ended since the sessions were listed is counted next time
        position = next((place for place in positions if _is_of(dialogue, sessions, place)), None)
        if position is None:
            label = f"dialogue `{dialogue.label}` ({dialogue.key})"
            message = f"{label} belongs to no session of this plan; start a run with --new-run"
            raise StoreError(message)
        yield position, _as_planned(dialogue, sessions, position)


def _is_of(dialogue: Dialogue, sessions: Sessions, place: int) -> bool:
    is_pair = sessions.pair_key(place) == dialogue.pair_key
    return is_pair and sessions.setting(place).application == dialogue.application


def _as_planned(dialogue: Dialogue, sessions: Sessions, position: int) -> Dialogue:
    setting, label = sessions.setting(position), sessions.label(position)
    persona = _persona(dialogue, sessions, position) if setting.kind is TesterKind.PERSONA else None
    was = (dialogue.label, dialogue.scenario, dialogue.cluster, dialogue.groups)
    if persona is dialogue.persona and was == (label, setting.scenario, setting.cluster, setting.groups):
        return dialogue  # held in this plan, as most are
    return replace(
        dialogue,
        label=label,
        scenario=setting.scenario,
        cluster=setting.cluster,
        groups=setting.groups,
        persona=persona,
    )


def _persona(dialogue: Dialogue, sessions: Sessions, position: int) -> Persona | None:
    """Return who was played, under the key of the present plan; equal pair keys mean equal words."""
    setting, played = sessions.setting(position), dialogue.persona
    if played is not None and played.key == setting.tester:
        return played
    tester = sessions[position].tester
    return tester if isinstance(tester, Persona) else None
