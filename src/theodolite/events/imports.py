"""Import: dialogues from elsewhere join the run of a study, beside those of participants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.dialogue import Dialogue, Ending, TesterType, Turn, material_with
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.live import BroughtDialogue, BroughtIn, BroughtResult, LiveDialogueSummary
from theodolite.domain.session import Session, SessionState
from theodolite.events.context import EventContext
from theodolite.testing.people import counted, person_unit, scenario_sight
from theodolite.testing.sessions import with_shared_context

STRATUM = "brought in"
"""Stratum of imported sessions, which no level of a study plans, so that they fill no planned cell."""


def import_dialogues(event: EventContext, imported: Sequence[BroughtDialogue], *, store: bool = True) -> BroughtIn:
    """Import dialogues; those that were imported before do not change.

    They are dialogues of the study like any other: annotators and judges receive them,
    and each counts at its level. Their testers are no participants, so they are not part
    of the record of the event.

    Args:
        event: The study, and the run that they join.
        imported: The dialogues.
        store: Whether to store them; otherwise only the result is computed.

    Raises:
        Conflict: If participants started dialogues in the meantime; try again.
    """
    held = event.dialogues.summaries(event.study.name)
    known = {one.key for one in held}
    keyed = {_key(event, one): one for one in imported}
    new = {key: one for key, one in keyed.items() if key not in known}
    entry = _Entry(
        event=event,
        ordinal=max((one.ordinal for one in held), default=-1) + 1,
        place=len(counted(event.study, held)),
        met=Counter((one.session.participant, one.session.level) for one in held),
    )
    results = [entry.result(key, one) for key, one in new.items()]
    if store and results:
        event.dialogues.add_imported(event.run, results, now=event.clock.now())
    return BroughtIn(new=tuple(result.unit.label for result in results), known=len(imported) - len(new))


def _key(event: EventContext, one: BroughtDialogue) -> str:
    """Return the key of a dialogue, which is equal for equal texts in the same cell of a study."""
    where = one.application, one.scenario, one.level.value
    return digest("brought", event.study.name, *where, one.item, str(one.repeat), canonical_json(one.turns))


@dataclass(slots=True, kw_only=True)
class _Entry:
    """Numbers imported dialogues in order.

    Attributes:
        event: The study and its run.
        ordinal: Position of the next one among all dialogues of participants in the study.
        place: Position of the next one among those that count.
        met: Sessions of each tester and level so far; counts.
    """

    event: EventContext
    ordinal: int
    place: int
    met: Counter[tuple[str, object]]

    def result(self, key: str, one: BroughtDialogue) -> BroughtResult:
        """Return a dialogue with its session and unit."""
        held = LiveDialogueSummary(
            key=key,
            session=self._session(key, one),
            number=1,
            ordinal=self.ordinal,
            ending=Ending.TESTER_LEFT if one.held_by is TesterType.PERSON else Ending.SCRIPT_END,
            turns=len(one.turns),
            held_by=one.held_by,
        )
        unit = person_unit(self.event.run, held, self.place, self.event.plan.n_sessions)
        self.ordinal, self.place = self.ordinal + 1, self.place + 1
        return BroughtResult(held=held, unit=unit, dialogue=_dialogue(self.event, held, unit.key, unit.label, one))

    def _session(self, key: str, one: BroughtDialogue) -> Session:
        study = self.event.study
        who = digest("brought tester", study.name, one.tester) if one.tester else digest("brought alone", key)
        position = self.met[who, one.level]
        self.met[who, one.level] += 1
        return Session(
            key=digest("brought session", key),
            study=study.name,
            edition=version_of(study),
            run=self.event.run.key,
            participant=who,
            level=one.level,
            scenario=one.scenario,
            scenario_version=scenario_sight(study.scenario(one.scenario)),
            application=one.application,
            application_version=study.application_version(one.application),
            seat=0,
            place=position,
            stratum=STRATUM,
            state=SessionState.COMPLETE,
            brought=True,
        )


def _dialogue(event: EventContext, held: LiveDialogueSummary, key: str, label: str, one: BroughtDialogue) -> Dialogue:
    scenario = event.study.scenario(one.scenario)
    context, turns = with_shared_context(
        [
            Turn(
                number=number,
                prompt=turn.prompt,
                response=turn.response,
                withheld=turn.withheld,
                context=turn.context,
            )
            for number, turn in enumerate(one.turns, 1)
        ]
    )
    requested = canonical_json([turn.prompt for turn in one.turns])
    return Dialogue(
        key=key,
        label=label,
        application=one.application,
        application_version=held.session.application_version,
        scenario=one.scenario,
        scenario_version=version_of(scenario),
        level=one.level,
        held_by=one.held_by,
        pair_key=digest("brought", one.level.value, one.scenario, one.item, str(one.repeat), requested),
        cluster=held.session.participant,
        turns=turns,
        ending=held.ending or Ending.SCRIPT_END,
        repeat=one.repeat,
        context=material_with(event.material(scenario.name), context),
    )
