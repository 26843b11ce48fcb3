"""Labels: what one annotator said of each planned session, and what became of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from theodolite.domain.annotation import Adjudication, Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import RecordedLabels
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.estimate import Outcomes
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.plan import PlannedSession
from theodolite.domain.study import Study

REFERENCE: Final = "reference"
"""What the recorded final labels are called where annotators are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where labels come from: an annotator, or the study's final labels.

    Attributes:
        name: Name of the annotator; `reference` for final labels.
        kind: Person, model or rule; None for final labels.
        version: Content hash.
        by_hand: Whether a person labels a sample by hand, outside of any run.
    """

    name: str
    kind: AnnotatorKind | None
    version: str
    by_hand: bool = False

    @property
    def is_person(self) -> bool:
        """Whether a person gave the labels."""
        return self.kind is AnnotatorKind.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everybody who labels one application under one guideline.

    Attributes:
        reference: The final labels, where the study has them.
        annotators: The annotators in the order of the study.
    """

    reference: Source | None
    annotators: tuple[Source, ...]

    @property
    def everybody(self) -> tuple[Source, ...]:
        """All of them who look at every dialogue, the reference first.

        The sample that people label by hand is drawn by what judges say, so that
        a plain share of it is a share of nothing; they count where nobody else labels.
        """
        asked = tuple(source for source in self.annotators if not source.by_hand)
        return ((self.reference,) if self.reference else ()) + (asked or self.annotators)

    @property
    def authorities(self) -> tuple[Source, ...]:
        """Whose word counts most: the reference, or everybody where there is none."""
        return (self.reference,) if self.reference else self.everybody


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one source says of one planned session.

    Attributes:
        session: The planned session.
        outcome: What became of the question.
        value: The label; None unless the outcome is `ANSWERED`.
    """

    session: PlannedSession
    outcome: Outcome
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """The evidence, found by what it is about.

    Attributes:
        dialogues: Label to dialogue.
        annotations: Key of the dialogue and annotator to annotation.
        adjudications: Key of the dialogue, guideline and question to final label.
        failed: Labels and annotators of failures; no annotator where testing failed.
    """

    dialogues: Mapping[str, Dialogue]
    annotations: Mapping[tuple[str, str], Annotation]
    adjudications: Mapping[tuple[str, str, str], Adjudication]
    failed: frozenset[tuple[str, str]]


def register(evidence: Evidence) -> Register:
    """Return the evidence of a run, ready to be looked up."""
    return Register(
        dialogues={dialogue.label: dialogue for dialogue in evidence.dialogues},
        annotations={(annotation.dialogue, annotation.annotator): annotation for annotation in evidence.annotations},
        adjudications={(final.dialogue, final.guideline, final.question): final for final in evidence.adjudications},
        failed=frozenset((failure.label, failure.annotator) for failure in evidence.failures),
    )


def sources(study: Study, guideline: Guideline, application: Application) -> Sources:
    """Return everybody who is to label an application's dialogues under a guideline.

    Columns of a recorded file hold labels of recorded dialogues only.
    """
    recorded = isinstance(application.connection, RecordedFile)
    reference = study.reference if recorded else None
    return Sources(
        reference=Source(name=REFERENCE, kind=None, version=version_of(reference))
        if reference and reference.guideline == guideline.name
        else None,
        annotators=tuple(
            Source(
                name=annotator.name,
                kind=annotator.kind,
                version=study.annotator_version(annotator.name),
                by_hand=annotator.by_hand,
            )
            for annotator in study.annotators
            if annotator.guideline == guideline.name
            and (recorded or not isinstance(annotator.labelling, RecordedLabels))
        ),
    )


def asked_sessions(evidence: Evidence, application: Application, guideline: Guideline) -> tuple[PlannedSession, ...]:
    """Return the planned sessions of an application that are labelled by a guideline, in order of the plan."""
    asked = {name for name in _scenarios(evidence) if evidence.study.asks(guideline.name, name)}
    return tuple(
        session
        for session in evidence.sessions
        if session.application == application.name and session.scenario in asked
    )


def _scenarios(evidence: Evidence) -> frozenset[str]:
    return frozenset(session.scenario for session in evidence.sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One question of one guideline, and the sessions that it is asked about.

    Attributes:
        register: Where the labels are looked up.
        guideline: The guideline.
        question: The question.
        sessions: The planned sessions; the denominator.
        rule: The rule that picks the turn, for questions that are asked at each turn.
    """

    register: Register
    guideline: Guideline
    question: Question
    sessions: tuple[PlannedSession, ...]
    rule: DefectRule | None = None

    def readings(self, source: Source) -> tuple[Reading, ...]:
        """Return what a source says of each session, in order of the plan."""
        return tuple(self._reading(source, session) for session in self.sessions)

    def _reading(self, source: Source, session: PlannedSession) -> Reading:
        dialogue = self.register.dialogues.get(session.label)
        given = self._given(source, dialogue) if dialogue else None
        if given is None:
            failed = (session.label, source.name if dialogue else "") in self.register.failed
            return Reading(session=session, outcome=Outcome.FAILED if failed else Outcome.MISSING)
        if given.value is not None and not self.question.scale.admits(given.value):
            return Reading(session=session, outcome=Outcome.UNPARSEABLE)
        return Reading(session=session, outcome=given.outcome, value=given.value)

    def _given(self, source: Source, dialogue: Dialogue) -> Answer | Adjudication | None:
        if source.kind is None:
            return self.register.adjudications.get((dialogue.key, self.guideline.name, self.question.name))
        annotation = self.register.annotations.get((dialogue.key, source.name))
        if annotation is None or annotation.guideline != self.guideline.name:
            return None
        if self.question.level is QuestionLevel.DIALOGUE:
            return annotation.answer(self.question.name)
        return self._weightiest([answer for answer in annotation.answers if answer.question == self.question.name])

    def _weightiest(self, answers: Sequence[Answer]) -> Answer | None:
        """Return the answer about the turn that decides: a defect, else one that is not known to be none."""
        for answer in answers:
            if self.rule and answer.value is not None and self._is_defect(self.rule, answer.value):
                return answer
        unknown = (answer for answer in answers if answer.outcome not in {Outcome.ANSWERED, Outcome.NOT_APPLICABLE})
        known = (answer for answer in answers if answer.outcome is Outcome.ANSWERED)
        return next(unknown, None) or next(known, None) or next(iter(answers), None)

    def _is_defect(self, rule: DefectRule, value: str) -> bool:
        return self.question.scale.admits(value) and rule.is_defect(value, self.question.scale)


def account(outcomes: Iterable[Outcome]) -> Outcomes:
    """Return how many units came to which outcome."""
    counts = dict.fromkeys(Outcome, 0)
    for outcome in outcomes:
        counts[outcome] += 1
    return Outcomes(
        planned=sum(counts.values()),
        used=counts[Outcome.ANSWERED],
        missing=counts[Outcome.MISSING],
        failed=counts[Outcome.FAILED],
        refused=counts[Outcome.REFUSED],
        unparseable=counts[Outcome.UNPARSEABLE],
        not_applicable=counts[Outcome.NOT_APPLICABLE],
    )


def versions(guideline: Guideline, labelled_by: Iterable[Source]) -> dict[str, str]:
    """Return the content hashes of the instruments that a number rests on, by name."""
    return dict(_versions(guideline, labelled_by))


def _versions(guideline: Guideline, labelled_by: Iterable[Source]) -> Iterator[tuple[str, str]]:
    yield f"guideline {guideline.name}", version_of(guideline)
    for source in labelled_by:
        name = source.name if source.kind is None else f"annotator {source.name}"
        yield name, source.version
