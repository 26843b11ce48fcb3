"""The event of a study: its store, its applications, and dialogues imported into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from zoneinfo import ZoneInfo

from theodolite.config.loading import LoadedStudy
from theodolite.domain.dialogue import Dialogue, Ending, Level, Search, TesterType, Turn, found_text, material_with
from theodolite.domain.errors import InputError
from theodolite.domain.event import LevelPlan
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.live import BroughtDialogue, BroughtIn, BroughtResult, LiveDialogueSummary
from theodolite.domain.plan import Plan
from theodolite.domain.run import Run
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study import Study
from theodolite.execution.clients import Clients
from theodolite.ports.progress import Clock
from theodolite.testing.assigning import people_levels
from theodolite.testing.availability import Hours, hours_of
from theodolite.testing.people import counted, person_unit, scenario_sight
from theodolite.testing.sessions import with_shared_context

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore
    from theodolite.store.event_dialogues import LiveDialogueRepository
    from theodolite.store.event_responses import ResponseRepository
    from theodolite.store.event_sessions import ParticipantRepository, SessionRepository


EventStore: TypeAlias = "DjangoStore"
"""The store of an event, for callers that may not import `store`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContext:
    """One event that is open.

    Attributes:
        study: The study, in the release in which the event was opened.
        plan: The same study fully drawn.
        run: The run that dialogues of participants join.
        store: The database of the workspace.
        clock: Returns the current time.
        searches: Search over the corpus of each scenario, by name of the scenario.
        keeps_hours: Whether the schedule of the study is enforced; not if the event was opened
            ahead of it, for example for a rehearsal.
    """

    study: Study
    plan: Plan
    run: Run
    store: DjangoStore
    clock: Clock
    searches: Mapping[str, Search] = field(default_factory=dict)
    keeps_hours: bool = True

    @property
    def participants(self) -> ParticipantRepository:
        """Consent, avoided topics and profiles."""
        return self.store.events.participants

    @property
    def sessions(self) -> SessionRepository:
        """Sessions and allocated slots."""
        return self.store.events.sessions

    @property
    def dialogues(self) -> LiveDialogueRepository:
        """Live dialogues and their turns."""
        return self.store.events.dialogues

    @property
    def responses(self) -> ResponseRepository:
        """Questionnaire responses and guesses."""
        return self.store.events.responses

    def sessions_of(self, participant: str) -> list[Session]:
        """Return the sessions of a participant in this study, in the order in which they were created."""
        return [session for session in self.sessions.of_participant(participant) if session.study == self.study.name]

    def material(self, scenario: str, *found: str) -> str:
        """Return the source material of a scenario, with the results of searches for it."""
        return material_with(self.study.scenario(scenario).context, *found)

    def found(self, scenario: str, prompt: str) -> str:
        """Return a prompt's matches in the corpus of a scenario; empty if it has none."""
        search = self.searches.get(scenario)
        return found_text(prompt, search(prompt)) if search else ""

    def level_plan(self, level: Level) -> LevelPlan:
        """Return the plan of a level.

        Raises:
            InputError: If no people take part in the level.
        """
        for plan in people_levels(self.study):
            if plan.level is level:
                return plan
        message = f"no people take part in {level.value}; give the level some in the study: `people: 20`"
        raise InputError(message)

    def hours(self, level: Level) -> Hours:
        """Return when a level is open; always, if the study has no schedule or the schedule is suspended."""
        plan = next((plan for plan in people_levels(self.study) if plan.level is level), None)
        if plan is None or not self.keeps_hours:
            return Hours()
        event = self.study.event
        return hours_of(event, plan, ZoneInfo(event.zone if event else "UTC"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEvent:
    """An open event with its loaded study and its connections to applications.

    Attributes:
        event: The event.
        loaded: The study as it was read.
        connect: Returns connections to the applications; nothing is sent yet.
    """

    event: EventContext
    loaded: LoadedStudy
    connect: Callable[[], Clients] = field(repr=False)  # it carries keys


ContextOf = Callable[[Session], EventContext]
"""From a session to the event in the release for which the session was created."""


STRATUM = "brought in"
"""Stratum of imported sessions, which no level of a study plans, so that they fill no planned cell."""


def import_dialogues(event: EventContext, imported: Sequence[BroughtDialogue], *, store: bool = True) -> BroughtIn:
    """Import dialogues; those imported before are unchanged.

    They are dialogues of the study like any other: annotators and judges receive them,
    and each counts at its level. Their testers are no participants, so they are not part
    of the record of the event.

    Args:
        event: The study, and the run that they join.
        imported: The dialogues.
        store: Whether to store them; otherwise only the result is computed.

    Raises:
        Conflict: If participants started dialogues in the meantime; retry.
    """
    summaries = event.dialogues.summaries(event.study.name)
    known = {summary.key for summary in summaries}
    keyed = {_key(event, dialogue): dialogue for dialogue in imported}
    new = {key: one for key, one in keyed.items() if key not in known}
    entry = _Entry(
        event=event,
        ordinal=max((summary.ordinal for summary in summaries), default=-1) + 1,
        place=len(counted(event.study, summaries)),
        met=Counter((summary.session.participant, summary.session.level) for summary in summaries),
    )
    results = [entry.result(key, one) for key, one in new.items()]
    if store and results:
        event.dialogues.add_imported(event.run, results, now=event.clock.now())
    return BroughtIn(new=tuple(result.unit.label for result in results), known=len(imported) - len(new))


def _key(event: EventContext, dialogue: BroughtDialogue) -> str:
    """Return the key of a dialogue, which is equal for equal texts in the same cell of a study."""
    where = dialogue.application, dialogue.scenario, dialogue.level.value
    return digest(
        "brought", event.study.name, *where, dialogue.item, str(dialogue.repeat), canonical_json(dialogue.turns)
    )


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

    def result(self, key: str, dialogue: BroughtDialogue) -> BroughtResult:
        """Return a dialogue with its session and unit."""
        summary = LiveDialogueSummary(
            key=key,
            session=self._session(key, dialogue),
            number=1,
            ordinal=self.ordinal,
            ending=Ending.TESTER_LEFT if dialogue.held_by is TesterType.PERSON else Ending.SCRIPT_END,
            turns=len(dialogue.turns),
            held_by=dialogue.held_by,
        )
        unit = person_unit(self.event.run, summary, self.place, self.event.plan.n_sessions)
        self.ordinal, self.place = self.ordinal + 1, self.place + 1
        return BroughtResult(
            held=summary, unit=unit, dialogue=_dialogue(self.event, summary, unit.key, unit.label, dialogue)
        )

    def _session(self, key: str, dialogue: BroughtDialogue) -> Session:
        study = self.event.study
        who = digest("brought tester", study.name, dialogue.tester) if dialogue.tester else digest("brought alone", key)
        position = self.met[who, dialogue.level]
        self.met[who, dialogue.level] += 1
        return Session(
            key=digest("brought session", key),
            study=study.name,
            study_version=version_of(study),
            run=self.event.run.key,
            participant=who,
            level=dialogue.level,
            scenario=dialogue.scenario,
            scenario_version=scenario_sight(study.scenario(dialogue.scenario)),
            application=dialogue.application,
            application_version=study.application_version(dialogue.application),
            slot=0,
            place=position,
            stratum=STRATUM,
            state=SessionState.COMPLETE,
            brought=True,
        )


def _dialogue(
    event: EventContext, summary: LiveDialogueSummary, key: str, label: str, dialogue: BroughtDialogue
) -> Dialogue:
    scenario = event.study.scenario(dialogue.scenario)
    context, turns = with_shared_context(
        [
            Turn(
                number=number,
                prompt=turn.prompt,
                response=turn.response,
                withheld=turn.withheld,
                context=turn.context,
            )
            for number, turn in enumerate(dialogue.turns, 1)
        ]
    )
    requested = canonical_json([turn.prompt for turn in dialogue.turns])
    return Dialogue(
        key=key,
        label=label,
        application=dialogue.application,
        application_version=summary.session.application_version,
        scenario=dialogue.scenario,
        scenario_version=version_of(scenario),
        level=dialogue.level,
        held_by=dialogue.held_by,
        pair_key=digest(
            "brought", dialogue.level.value, dialogue.scenario, dialogue.item, str(dialogue.repeat), requested
        ),
        cluster=summary.session.participant,
        turns=turns,
        ending=summary.ending or Ending.SCRIPT_END,
        repeat=dialogue.repeat,
        context=material_with(event.material(scenario.name), context),
    )
