"""From units of work to the flows that do them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from theodolite.assessment.annotating import AnnotationTask, adjudication, annotate
from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue, TesterType
from theodolite.domain.flow import Flow
from theodolite.domain.identity import version_of
from theodolite.domain.passage import Search
from theodolite.domain.plan import Sessions
from theodolite.domain.run import Unit
from theodolite.domain.study import Study
from theodolite.testing.sessions import SessionTask, run_session
from theodolite.testing.strategies.approach import Approach
from theodolite.testing.strategies.catalogue import APPROACHES
from theodolite.usecases.numbers import below_half

if TYPE_CHECKING:  # they are handed over by whoever has loaded them
    from theodolite.domain.recording import RecordedDialogue


class StudyFlows:
    """Begins the flows of one study.

    Args:
        study: What was written down.
        sessions: What its plan holds.
        recordings: Dialogues of the recorded applications.
        searches: Name of a scenario to what searches its corpus.
        approaches: Strategies of red teaming by name.
    """

    def __init__(
        self,
        study: Study,
        sessions: Sessions,
        recordings: Sequence[RecordedDialogue],
        *,
        searches: Mapping[str, Search] | None = None,
        approaches: Mapping[str, Approach] = APPROACHES,
    ) -> None:
        self._study = study
        self._searches = searches or {}
        self._approaches = approaches
        self._sessions = sessions
        self._rows: Mapping[tuple[str, str, int], Sequence[Mapping[str, str]]] = {
            (recording.application, recording.key, recording.repeat): recording.rows for recording in recordings
        }

    def session(self, unit: Unit) -> Flow[Dialogue]:
        """Return the flow that holds a session."""
        session = self._sessions[unit.position]
        scenario = self._study.scenario(session.scenario)
        task = SessionTask(
            key=unit.key,
            session=session,
            scenario=scenario,
            application_version=self._application_versions[session.application],
            scenario_version=self._scenario_versions.get(scenario.name) or version_of(scenario),
            # Whoever answered a recorded prompt searched elsewhere, or not at all.
            search=None if session.held_by is TesterType.RECORDED else self._searches.get(scenario.name),
            approaches=self._approaches,
        )
        return run_session(task)

    def annotation(self, unit: Unit, dialogue: Dialogue) -> Flow[Annotation]:
        """Return the flow by which an annotator answers about a dialogue."""
        annotator = self._study.annotator(unit.annotator)
        guideline = self._study.guideline(annotator.guideline)
        task = AnnotationTask(
            unit=unit.key,
            annotator=annotator,
            annotator_version=self._annotator_versions[annotator.name],
            guideline=guideline,
            guideline_version=self._guideline_versions[guideline.name],
            dialogue=dialogue,
            rows=self._rows_of(unit.position),
            below_half=below_half,
            packet=self._study.scenario(dialogue.scenario).packet,
        )
        return annotate(task)

    def adjudications(self, dialogues: Iterable[tuple[int, Dialogue]]) -> tuple[Adjudication, ...]:
        """Return the final labels that the recorded rows bring for dialogues, given with their positions."""
        reference = self._study.reference
        if reference is None:
            return ()
        guideline = self._study.guideline(reference.guideline)
        return tuple(
            adjudication(reference, guideline, dialogue, self._rows_of(place)) for place, dialogue in dialogues
        )

    def _rows_of(self, position: int) -> Sequence[Mapping[str, str]]:
        """Return the rows of a recorded dialogue, by turn; none for one that a run or another file brings."""
        setting = self._sessions.setting(position)
        if setting.held_by is not TesterType.RECORDED:
            return ()
        return self._rows.get((setting.application, setting.tester, self._sessions[position].repeat), ())

    @cached_property
    def _application_versions(self) -> dict[str, str]:
        return {a.name: self._study.application_version(a.name) for a in self._study.applications}

    @cached_property
    def _scenario_versions(self) -> dict[str, str]:
        return {scenario.name: version_of(scenario) for scenario in self._study.scenarios}

    @cached_property
    def _annotator_versions(self) -> dict[str, str]:
        return {a.name: self._study.annotator_version(a.name) for a in self._study.annotators}

    @cached_property
    def _guideline_versions(self) -> dict[str, str]:
        return {guideline.name: version_of(guideline) for guideline in self._study.guidelines}
