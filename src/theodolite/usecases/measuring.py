"""Measuring: a run's evidence is read back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from theodolite.assessment.manual_annotation import person_of
from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation, AnnotatorKind
from theodolite.domain.annotator import Annotator, HandLabels
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.answer_table_builder import AnswerTableBuilder
from theodolite.domain.call import Call
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.event_sessions import EventSessions
from theodolite.domain.evidence import EventEvidence, Evidence
from theodolite.domain.failure import Failure
from theodolite.domain.findings.role_break import RoleBreakRules
from theodolite.domain.identity import version_of
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.plan import Sessions
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.domain.validation_report import ValidationReport
from theodolite.measurement.study.realism import RealismBook
from theodolite.measurement.study.role_breaks import RoleBreakBook
from theodolite.ports.store import Store
from theodolite.testing.people import failures_of
from theodolite.usecases.calls import calls_of
from theodolite.usecases.earlier_runs import earlier_scores
from theodolite.usecases.placing import as_planned
from theodolite.usecases.reviewing_risks import reviews_of
from theodolite.usecases.stating_criteria import criteria_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArchive:
    """The records of one run, read from the store.

    Attributes:
        store: The database.
        study: What was to be measured.
        run: The run.
        sessions: The sessions of its plan.
        people: The dialogues of participants in the study, without texts.
    """

    store: Store
    study: Study
    run: Run
    sessions: Sessions
    people: Sequence[LiveDialogueSummary] = ()

    def dialogues(self, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield what was said."""
        return (dialogue for _, dialogue in self.placed(at))

    def placed(self, at: Collection[int] | None = None) -> Iterator[tuple[int, Dialogue]]:
        """Yield what was said, with its position in the plan."""
        return as_planned(self.store.dialogues(self.run, at), self.sessions, at)

    def annotations(self, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield what annotators answered."""
        return annotations_in(self.store, self.study, self.run, at)

    def adjudications(self, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels."""
        return self.store.adjudications(self.run, at)

    def failures(self, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the units that brought nothing."""
        yield from self.store.failures(self.run, at)
        if isinstance(self.sessions, EventSessions):
            for failure in failures_of(self.study, self.people):
                if at is None or self.sessions.find(failure.label) in at:
                    yield failure

    def calls(
        self, dialogues: Collection[Dialogue], annotations: Collection[Annotation], failures: Collection[Failure] = ()
    ) -> dict[str, tuple[Call, ...]]:
        """Return the calls that led to some records, by unit."""
        return calls_of(self.store, self.study, dialogues, annotations, failures)


NO_EVENT = EventEvidence()
"""The evidence of a study in which nobody took part."""


@dataclass(frozen=True, slots=True)
class _Positions:
    """The positions in the plan of some dialogues, by key."""

    keys: Collection[str]
    found: dict[str, int] = field(default_factory=dict)

    def look(self, dialogue: Dialogue, position: int) -> None:
        """Note the position of a dialogue if it is one of them."""
        if dialogue.key in self.keys:
            self.found[dialogue.key] = position


def evidence_of(
    store: Store,
    study: Study,
    sessions: Sessions,
    run: Run,
    *,
    role_break_rules: RoleBreakRules | None = None,
    event: EventEvidence = NO_EVENT,
) -> Evidence:
    """Return everything that one run of a study holds; its records are read once, and none is kept.

    Args:
        store: The database.
        study: What was to be measured.
        sessions: The sessions of its plan.
        run: The run.
        role_break_rules: By what simulated users are looked at on the way, so that nobody
            has to read their words again; None where they are not.
        event: What participants of the study contributed.
    """
    archive = StoredArchive(store=store, study=study, run=run, sessions=sessions, people=event.dialogues)
    builder = AnswerTableBuilder(sessions)
    role_breaks = RoleBreakBook(role_break_rules, study.scenarios) if role_break_rules else None
    spoken = RealismBook(sessions)
    samples = tuple(store.filed(LabelSample, LabelSample.subject(study.name)))
    drawn = _Positions({one.dialogue for sample in samples for one in sample.dialogues})
    answered = _Positions({key for response in event.responses for key in response.dialogues})
    for position, dialogue in archive.placed():
        builder.add_dialogue(dialogue, position)
        drawn.look(dialogue, position)
        answered.look(dialogue, position)
        spoken.look(dialogue)
        if role_breaks:
            role_breaks.look(dialogue)
    _add_labels(builder, archive)
    peopled = _add_assignments(builder, store, study, run, samples)
    return Evidence(
        study=peopled,
        run=run,
        sessions=sessions,
        archive=archive,
        answers=builder.table(pools_of(peopled)),
        samples=samples,
        drawn=drawn.found,
        validation_reports=validation_reports_of(store, study),
        spending=store.spending(run) + event.spending,
        role_breaks=role_breaks.checks() if role_breaks else None,
        spoken=spoken.sides(),
        schemas=store.schema_tallies(run),
        responses=event.responses,
        notes=event.notes,
        coding=event.coding,
        answered=answered.found,
        reviews=reviews_of(store, study),
        annotator_attributes=annotator_attributes_in(store, peopled),
        event=event.record,
        criteria=criteria_of(store, study.name),
        sittings=event.sessions,
        earlier_scores=earlier_scores(store, study, run, len(sessions)),
    )


def annotator_attributes_in(store: Store, study: Study) -> dict[str, dict[str, str]]:
    """Return what is known of annotators, by the study and by themselves: attribute to annotator to group."""
    found = {attribute: dict(group_of) for attribute, group_of in study.annotator_attributes.items()}
    for annotator in study.annotators:
        # Who labels by several guidelines is an annotator by each, whose name ends in it.
        own = store.profile(annotator.name) if annotator.by_hand else None
        person = annotator.name.removesuffix(f"-{annotator.guideline}")
        if annotator.by_hand and own is None and person != annotator.name:
            own = store.profile(person)
        for attribute, group in own.annotator_attributes.items() if own else ():
            found.setdefault(attribute, {})[annotator.name] = group
    return found


def _add_labels(builder: AnswerTableBuilder, archive: StoredArchive) -> None:
    """Add the annotations, final labels and failures of a run, whose dialogues were added before."""
    for annotation in archive.annotations():
        builder.add_annotation(annotation)
    for final in archive.adjudications():
        builder.add_final_label(final)
    for failure in archive.failures():
        builder.add_failure(failure)


def _add_assignments(
    builder: AnswerTableBuilder, store: Store, study: Study, run: Run, samples: Iterable[LabelSample]
) -> Study:
    """Add the dialogues assigned to each person whom the study file does not name; return the study with all people.

    They are the dialogues that a person has labelled or reserved. A person in the file is to label
    every dialogue; anybody else only what they took from the queue or a label file.
    """
    by_hand = [(label.annotator, label.guideline, label.dialogue) for label in store.labels(run)]
    named = {annotator.name for annotator in study.annotators}
    for annotator, _, dialogue in by_hand:
        if annotator not in named:
            builder.add_assignment(annotator, dialogue)
    guidelines = {guideline.name for guideline in study.guidelines}
    for participant, guideline, dialogue in store.open_assignments(study.name):
        person = person_of(study, participant, guideline).name if guideline in guidelines else ""
        if person and person not in named:
            builder.add_assignment(person, dialogue)
    labelled = {annotator: guideline for annotator, guideline, _ in by_hand}
    return with_representative_people(with_people(study, labelled), labelled, samples)


def annotations_in(store: Store, study: Study, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
    """Yield what annotators said of a run's dialogues, and then what people said by hand.

    Labels that answer another version of a guideline are left out: another
    guideline is another question.
    """
    yield from store.annotations(run, at)
    valid = {guideline.name: version_of(guideline) for guideline in study.guidelines}
    yield from (label for label in store.labels(run, at) if valid.get(label.guideline) == label.instrument_version)


def validation_reports_of(store: Store, study: Study) -> tuple[ValidationReport, ...]:
    """Return the latest validation report of the current version of each annotator."""
    judges = [annotator for annotator in study.asked if annotator.kind is not AnnotatorKind.PERSON]
    filed = (store.filed(ValidationReport, study.annotator_version(judge.name))[-1:] for judge in judges)
    return tuple(validation_report for latest in filed for validation_report in latest)


def with_people(study: Study, labelled: Mapping[str, str]) -> Study:
    """Return a study with everybody who labelled by hand among its annotators, named in its file or not.

    Args:
        study: The study as its file says.
        labelled: Annotator to guideline, of everybody who labelled by hand.
    """
    known = {annotator.name for annotator in study.annotators}
    guidelines = {guideline.name for guideline in study.guidelines}
    found = {annotator: guideline for annotator, guideline in labelled.items() if guideline in guidelines}
    people = tuple(_by_hand(name, guideline) for name, guideline in found.items() if name not in known)
    return replace(study, annotators=(*study.annotators, *people)) if people else study


def with_representative_people(study: Study, labelled: Collection[str], samples: Iterable[LabelSample]) -> Study:
    """Return a study whose people speak for all dialogues by their labels, but where a judge's verdicts drew a sample.

    Args:
        study: The study with everybody who labelled by hand.
        labelled: Names of those who labelled by hand.
        samples: The samples that were drawn.
    """
    drawn = {sample.guideline for sample in samples if sample.judge}
    annotators = tuple(
        replace(one, labelling=HandLabels(is_representative=True))
        if one.by_hand and one.name in labelled and one.guideline not in drawn
        else one
        for one in study.annotators
    )
    return replace(study, annotators=annotators)


def _by_hand(name: str, guideline: str) -> Annotator:
    """Return a person whom the file does not name; reports leave out the guideline that a name may end in."""
    title = name.removesuffix(f"-{guideline}") if name.endswith(f"-{guideline}") else ""
    return Annotator(name=name, title=title, kind=AnnotatorKind.PERSON, guideline=guideline, labelling=HandLabels())
