"""Cases: each planned session with everything that came of it.

A case is what a reader of a report opens: the dialogue where there is one, what
each annotator said about it, and what failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from theodolite.domain.annotation import Adjudication, Annotation, Answer, Outcome
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.evidence import Evidence
from theodolite.domain.failure import Failure
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import PlannedSession
from theodolite.domain.study import Study

REFERENCE = "reference"
"""Name that stands for the recorded final labels where annotators are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one annotator said to one question about one dialogue."""

    outcome: Outcome
    value: str | None = None
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One planned session and all that came of it.

    Attributes:
        index: Place in the plan, from 0.
        session: What was planned.
        dialogue: What was said; None where the session failed or has not been held.
        annotations: Annotator to annotation.
        adjudications: Guideline and question to final label.
        failures: What failed in it.
    """

    index: int
    session: PlannedSession
    dialogue: Dialogue | None
    annotations: Mapping[str, Annotation]
    adjudications: Mapping[tuple[str, str], Adjudication]
    failures: tuple[Failure, ...]

    def reading(self, annotator: str, guideline: str, question: str) -> Reading:
        """Return what an annotator, or the reference, says to a question."""
        if annotator == REFERENCE:
            final = self.adjudications.get((guideline, question))
            return Reading(outcome=final.outcome, value=final.value, raw=final.raw) if final else self._absent("")
        annotation = self.annotations.get(annotator)
        answer = _decisive(annotation, question) if annotation and annotation.guideline == guideline else None
        return _reading_of(answer) if answer else self._absent(annotator)

    def _absent(self, annotator: str) -> Reading:
        failed = any(failure.annotator in {"", annotator} for failure in self.failures)
        return Reading(outcome=Outcome.FAILED if failed else Outcome.MISSING)

    def failure_of(self, annotators: Iterable[str]) -> Failure | None:
        """Return the session's failure, or else the first one of these annotators."""
        wanted = set(annotators)
        session = next((failure for failure in self.failures if not failure.annotator), None)
        return session or next((failure for failure in self.failures if failure.annotator in wanted), None)


def _decisive(annotation: Annotation, question: str) -> Answer | None:
    """Return the answer about the dialogue or, where turns are asked about, one that says what is not known."""
    about_dialogue = annotation.answer(question)
    about_turns = [answer for answer in annotation.answers if answer.question == question]
    unknown = (answer for answer in about_turns if answer.outcome not in {Outcome.ANSWERED, Outcome.NOT_APPLICABLE})
    return about_dialogue or next(unknown, None) or next(iter(about_turns), None)


def _reading_of(answer: Answer) -> Reading:
    return Reading(outcome=answer.outcome, value=answer.value, raw=answer.raw)


def cases_of(evidence: Evidence) -> tuple[Case, ...]:
    """Return every planned session with what came of it, in order of the plan."""
    dialogues = {dialogue.label: dialogue for dialogue in evidence.dialogues}
    annotations: dict[str, dict[str, Annotation]] = defaultdict(dict)
    for annotation in evidence.annotations:
        annotations[annotation.dialogue][annotation.annotator] = annotation
    finals: dict[str, dict[tuple[str, str], Adjudication]] = defaultdict(dict)
    for final in evidence.adjudications:
        finals[final.dialogue][final.guideline, final.question] = final
    failures: dict[str, list[Failure]] = defaultdict(list)
    for failure in evidence.failures:
        failures[failure.label].append(failure)
    return tuple(
        Case(
            index=index,
            session=session,
            dialogue=(dialogue := dialogues.get(session.label)),
            annotations=annotations.get(dialogue.key, {}) if dialogue else {},
            adjudications=finals.get(dialogue.key, {}) if dialogue else {},
            failures=tuple(failures.get(session.label, ())),
        )
        for index, session in enumerate(evidence.sessions)
    )


def labellers(study: Study, guideline: str, application: str) -> tuple[Annotator, ...]:
    """Return who labels an application's dialogues under a guideline.

    Columns of a recorded file hold labels of recorded dialogues only.
    """
    recorded = _is_recorded(study, application)
    return tuple(
        annotator
        for annotator in study.annotators
        if annotator.guideline == guideline and (recorded or not isinstance(annotator.labelling, RecordedLabels))
    )


def lead_annotators(study: Study, guideline: str, application: str) -> tuple[str, ...]:
    """Return whose labels a guideline's rates are read by.

    The reference where the study names one; else everybody, side by side, as
    labels are never merged behind anyone's back. People who label by hand see a
    sample, and lead only where nobody else labels.
    """
    has_reference = study.reference is not None and study.reference.guideline == guideline
    if has_reference and _is_recorded(study, application):
        return (REFERENCE,)
    everybody = labellers(study, guideline, application)
    asked = tuple(annotator.name for annotator in everybody if not annotator.by_hand)
    return asked or tuple(annotator.name for annotator in everybody)


def _is_recorded(study: Study, application: str) -> bool:
    return any(a.name == application and isinstance(a.connection, RecordedFile) for a in study.applications)


def title_of(study: Study, annotator: str) -> str:
    """Return what people call an annotator."""
    if annotator == REFERENCE:
        return "final labels"
    return next((known.title or known.name for known in study.annotators if known.name == annotator), annotator)


def rules_of(study: Study) -> tuple[tuple[Guideline, DefectRule], ...]:
    """Return all defect rules with their guidelines, in order of the study file."""
    return tuple((guideline, rule) for guideline in study.guidelines for rule in guideline.defect_rules)
