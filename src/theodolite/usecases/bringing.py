"""Bringing in: dialogues that were held elsewhere join the run of a study, beside those of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.brought import BroughtDialogue, BroughtIn, BroughtResult
from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, Turn
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.live import HeldDialogue
from theodolite.domain.passage import material_with
from theodolite.domain.people.session import Session, SessionState
from theodolite.testing.people import counted, scenario_sight
from theodolite.testing.sessions.talk import with_shared_context
from theodolite.usecases.ledger import person_unit
from theodolite.usecases.people.venue import Venue

STRATUM = "brought in"
"""Stratum of their seats, which no level of a study plans: they fill nobody's cell."""


def bring_in(venue: Venue, brought: Sequence[BroughtDialogue], *, store: bool = True) -> BroughtIn:
    """Bring dialogues in that were held elsewhere; those that are there already stay as they are.

    They are dialogues of the study like any other: annotators and judges get them,
    and each counts at its level. Their testers come to no page, so that they have
    no part in what an event tells of its people.

    Args:
        venue: The study, and the run that they join.
        brought: The dialogues.
        store: Whether to keep them; else it is only told what would come.

    Raises:
        Conflict: If people began dialogues while these were entered; try again.
    """
    held = venue.store.held(venue.study.name)
    known = {one.key for one in held}
    keyed = {_key(venue, one): one for one in brought}
    new = {key: one for key, one in keyed.items() if key not in known}
    entry = _Entry(
        venue=venue,
        ordinal=max((one.ordinal for one in held), default=-1) + 1,
        place=len(counted(venue.study, held)),
        met=Counter((one.session.participant, one.session.level) for one in held),
    )
    results = [entry.result(key, one) for key, one in new.items()]
    if store and results:
        venue.store.bring(venue.run, results, now=venue.clock.now())
    return BroughtIn(new=tuple(one.unit.label for one in results), known=len(brought) - len(new))


def _key(venue: Venue, one: BroughtDialogue) -> str:
    """Return the key of a dialogue: the same words in the same place of a study are the same dialogue."""
    where = one.application, one.scenario, one.level.value
    return digest("brought", venue.study.name, *where, one.item, str(one.repeat), canonical_json(one.turns))


@dataclass(slots=True, kw_only=True)
class _Entry:
    """Numbers dialogues one after the other.

    Attributes:
        venue: The study and its run.
        ordinal: Place of the next one among all dialogues of people in the study.
        place: Place of the next one among those that count.
        met: Sessions of each tester and level so far; counts.
    """

    venue: Venue
    ordinal: int
    place: int
    met: Counter[tuple[str, object]]

    def result(self, key: str, one: BroughtDialogue) -> BroughtResult:
        """Return a dialogue with its session and unit."""
        held = HeldDialogue(
            key=key,
            session=self._session(key, one),
            number=1,
            ordinal=self.ordinal,
            ending=Ending.TESTER_LEFT if one.held_by is HeldBy.PERSON else Ending.SCRIPT_END,
            turns=len(one.turns),
            held_by=one.held_by,
        )
        unit = person_unit(self.venue.run, held, self.place, self.venue.plan.n_sessions)
        self.ordinal, self.place = self.ordinal + 1, self.place + 1
        return BroughtResult(held=held, unit=unit, dialogue=_dialogue(self.venue, held, unit.key, unit.label, one))

    def _session(self, key: str, one: BroughtDialogue) -> Session:
        study = self.venue.study
        who = digest("brought tester", study.name, one.tester) if one.tester else digest("brought alone", key)
        place = self.met[who, one.level]
        self.met[who, one.level] += 1
        return Session(
            key=digest("brought session", key),
            study=study.name,
            edition=version_of(study),
            run=self.venue.run.key,
            participant=who,
            level=one.level,
            scenario=one.scenario,
            scenario_version=scenario_sight(study.scenario(one.scenario)),
            application=one.application,
            application_version=study.application_version(one.application),
            seat=0,
            place=place,
            stratum=STRATUM,
            state=SessionState.COMPLETE,
            brought=True,
        )


def _dialogue(venue: Venue, held: HeldDialogue, key: str, label: str, one: BroughtDialogue) -> Dialogue:
    scenario = venue.study.scenario(one.scenario)
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
    asked = canonical_json([turn.prompt for turn in one.turns])
    return Dialogue(
        key=key,
        label=label,
        application=one.application,
        application_version=held.session.application_version,
        scenario=one.scenario,
        scenario_version=version_of(scenario),
        level=one.level,
        held_by=one.held_by,
        pair_key=digest("brought", one.level.value, one.scenario, one.item, str(one.repeat), asked),
        cluster=held.session.participant,
        turns=turns,
        ending=held.ending or Ending.SCRIPT_END,
        repeat=one.repeat,
        context=material_with(venue.material(scenario.name), context),
    )
