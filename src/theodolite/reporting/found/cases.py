"""Cases: each planned session with everything that came of it, as counts and lists see it.

Whoever wants to read the words asks the archive for a `CaseRecord` of the session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from theodolite.domain.annotation import Adjudication, Annotation, Outcome
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.application import RecordedFile
from theodolite.domain.call import Call
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.evidence import Evidence
from theodolite.domain.failure import Failure
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import PlannedSession, Setting
from theodolite.domain.register import Failed, Holding, Register, Said
from theodolite.domain.study import Study

REFERENCE = "reference"
"""Name that stands for the recorded final labels where annotators are named."""

_AT_ONCE = 200
"""Sessions whose records are read together; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one annotator said to one question about one dialogue."""

    outcome: Outcome
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One planned session and all that came of it, the words left out.

    Attributes:
        index: Place in the plan, from 0.
        register: Where all is looked up.
    """

    index: int
    register: Register

    @property
    def setting(self) -> Setting:
        """What was planned, and shared with its repeats."""
        return self.register.settings[self.index]

    @property
    def label(self) -> str:
        """What people call the dialogue."""
        return self.register.sessions.label(self.index)

    @property
    def pair_key(self) -> str:
        """Hash of what the tester's side sees and the repeat."""
        return self.register.sessions.pair_key(self.index)

    @property
    def holding(self) -> Holding | None:
        """What is known of the dialogue; None where the session failed or has not been held."""
        return self.register.held[self.index]

    @property
    def failures(self) -> tuple[Failed, ...]:
        """What failed in it."""
        return self.register.failures.get(self.index, ())

    def has_annotation(self, annotator: str) -> bool:
        """Tell whether an annotator gave an annotation."""
        column = self.register.annotated.get(annotator)
        return column is not None and bool(column[self.index])

    def answers(self) -> Iterator[tuple[str, str, Said]]:
        """Yield everything that annotators said, each with its guideline and question."""
        for (_, guideline, question), column in self.register.columns.items():
            for said in column[self.index] or ():
                yield guideline, question, said

    def reading(self, annotator: str, guideline: str, question: str) -> Reading:
        """Return what an annotator, or the reference, says to a question."""
        if annotator == REFERENCE:
            final = self.register.final(self.index, guideline, question)
            return Reading(outcome=final.outcome, value=final.value) if final else self._absent("")
        said = _decisive(self.register.said(self.index, annotator, guideline, question))
        return Reading(outcome=said.outcome, value=said.value) if said else self._absent(annotator)

    def _absent(self, annotator: str) -> Reading:
        failed = any(failure.annotator in {"", annotator} for failure in self.failures)
        return Reading(outcome=Outcome.FAILED if failed else Outcome.MISSING)

    def failure_of(self, annotators: Iterable[str]) -> Failed | None:
        """Return the session's failure, or else the first one of these annotators."""
        wanted = set(annotators)
        session = next((failure for failure in self.failures if not failure.annotator), None)
        return session or next((failure for failure in self.failures if failure.annotator in wanted), None)


def _decisive(answers: Sequence[Said]) -> Said | None:
    """Return the answer about the dialogue or, where turns are asked about, one that says what is not known."""
    about_dialogue = next((said for said in answers if said.turn is None), None)
    unknown = (said for said in answers if said.outcome not in {Outcome.ANSWERED, Outcome.NOT_APPLICABLE})
    return about_dialogue or next(unknown, None) or next(iter(answers), None)


def cases_of(register: Register) -> tuple[Case, ...]:
    """Return every planned session with what came of it, in order of the plan."""
    return tuple(Case(index, register) for index in range(len(register)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """One planned session and all that came of it, to be read.

    Attributes:
        index: Place in the plan, from 0.
        session: What was planned.
        dialogue: What was said; None where the session failed or has not been held.
        annotations: Annotator to annotation.
        adjudications: Guideline and question to final label.
        failures: What failed in it.
        calls: Unit to the calls that led to its record; empty unless they were asked for.
    """

    index: int
    session: PlannedSession
    dialogue: Dialogue | None
    annotations: Mapping[str, Annotation]
    adjudications: Mapping[tuple[str, str], Adjudication]
    failures: tuple[Failure, ...]
    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)


def records_at(evidence: Evidence, places: Collection[int], *, with_calls: bool = False) -> Iterator[CaseRecord]:
    """Yield the records of some places of the plan, in its order; a few hundred at a time are in memory.

    Args:
        evidence: Everything that the run holds.
        places: Places in the plan, from 0.
        with_calls: Whether the calls that led to them are wanted too.
    """
    rest = iter(sorted(places))
    while part := list(islice(rest, _AT_ONCE)):
        yield from _records(evidence, part, with_calls=with_calls)


def _session_of(dialogue: Dialogue | None) -> PlannedSession | None:
    """Return what was planned where a dialogue says all of it, so that nobody has to be completed a second time."""
    if dialogue is None or dialogue.persona is None:
        return None
    return PlannedSession(
        label=dialogue.label,
        application=dialogue.application,
        scenario=dialogue.scenario,
        tester=dialogue.persona,
        level=dialogue.level,
        held_by=dialogue.held_by,
        pair_key=dialogue.pair_key,
        cluster=dialogue.cluster,
        repeat=dialogue.repeat,
        groups=dialogue.groups,
    )


def _records(evidence: Evidence, places: Sequence[int], *, with_calls: bool) -> Iterator[CaseRecord]:
    archive, sessions = evidence.archive, evidence.sessions
    dialogues = {dialogue.label: dialogue for dialogue in archive.dialogues(places)}
    annotations: dict[str, dict[str, Annotation]] = defaultdict(dict)
    for annotation in archive.annotations(places):
        annotations[annotation.dialogue][annotation.annotator] = annotation
    finals: dict[str, dict[tuple[str, str], Adjudication]] = defaultdict(dict)
    for final in archive.adjudications(places):
        finals[final.dialogue][final.guideline, final.question] = final
    failures: dict[str, list[Failure]] = defaultdict(list)
    for failure in archive.failures(places):
        failures[failure.label].append(failure)
    calls: Mapping[str, tuple[Call, ...]] = {}
    if with_calls:
        given = [annotation for group in annotations.values() for annotation in group.values()]
        failed = [failure for group in failures.values() for failure in group]
        calls = archive.calls(tuple(dialogues.values()), given, failed)
    for index in places:
        dialogue = dialogues.get(sessions.label(index))
        session = _session_of(dialogue) or sessions[index]
        yield CaseRecord(
            index=index,
            session=session,
            dialogue=dialogue,
            annotations=annotations.get(dialogue.key, {}) if dialogue else {},
            adjudications=finals.get(dialogue.key, {}) if dialogue else {},
            failures=tuple(failures.get(session.label, ())),
            calls=calls,
        )


def labellers(study: Study, guideline: str, application: str) -> tuple[Annotator, ...]:
    """Return who labels an application's dialogues under a guideline.

    Columns of a recorded file hold labels of recorded dialogues only. Who answers
    another question than the guideline's first rule decides by does not count.
    """
    recorded = _is_recorded(study, application)
    asked = [annotator for annotator in study.annotators if annotator.guideline == guideline]
    return tuple(
        annotator
        for annotator in asked
        if annotator.answers(study.guideline(guideline).question.name)
        and (recorded or not isinstance(annotator.labelling, RecordedLabels))
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
