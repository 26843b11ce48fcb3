"""Measuring: a run's evidence is read back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from theodolite.assessment.sitting import person_of
from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation, AnnotatorKind
from theodolite.domain.annotator import Annotator, HandLabels
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.answer_table_builder import AnswerTableBuilder
from theodolite.domain.application import PromptedModel
from theodolite.domain.call import Call
from theodolite.domain.certificate import Certificate
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.event_sessions import EventSessions
from theodolite.domain.evidence import Evidence
from theodolite.domain.failure import Failure
from theodolite.domain.findings.role_break import RoleBreakRules
from theodolite.domain.identity import version_of
from theodolite.domain.people.event_record import EventRecord
from theodolite.domain.people.session import Session
from theodolite.domain.plan import Sessions
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.measurement.study.role_breaks import RoleBreakBook
from theodolite.measurement.study.spoken import RealismBook
from theodolite.ports.store import Store
from theodolite.testing.people import counted, failures_of
from theodolite.testing.topics import topic_tallies
from theodolite.usecases.calls import calls_of
from theodolite.usecases.coding import coding_room, notes_in
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
    """

    store: Store
    study: Study
    run: Run
    sessions: Sessions

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
            for failure in failures_of(self.study, self.store.held(self.study.name)):
                if at is None or self.sessions.find(failure.label) in at:
                    yield failure

    def calls(
        self, dialogues: Collection[Dialogue], annotations: Collection[Annotation], failures: Collection[Failure] = ()
    ) -> dict[str, tuple[Call, ...]]:
        """Return the calls that led to some records, by unit."""
        return calls_of(self.store, self.study, dialogues, annotations, failures)


def evidence_of(
    store: Store, study: Study, sessions: Sessions, run: Run, *, role_break_rules: RoleBreakRules | None = None
) -> Evidence:
    """Return everything that one run of a study holds; its records are read once, and none is kept.

    Args:
        store: The database.
        study: What was to be measured.
        sessions: The sessions of its plan.
        run: The run.
        role_break_rules: By what simulated users are looked at on the way, so that nobody
            has to read their words again; None where they are not.
    """
    archive = StoredArchive(store=store, study=study, run=run, sessions=sessions)
    builder = AnswerTableBuilder(sessions)
    role_breaks = RoleBreakBook(role_break_rules, study.scenarios) if role_break_rules else None
    spoken = RealismBook(sessions)
    samples = tuple(store.filed(LabelSample, LabelSample.subject(study.name)))
    wanted, drawn = {one.dialogue for sample in samples for one in sample.dialogues}, dict[str, int]()
    responses = responses_in(store, study)
    about, answered = {key for response in responses for key in response.dialogues}, dict[str, int]()
    for position, dialogue in archive.placed():
        builder.add_dialogue(dialogue, position)
        for keys, places in ((wanted, drawn), (about, answered)):
            if dialogue.key in keys:
                places[dialogue.key] = position
        spoken.look(dialogue)
        if role_breaks:
            role_breaks.look(dialogue)
    _add_labels(builder, archive)
    peopled = _add_assignments(builder, store, study, run, samples)
    found = Evidence(
        study=peopled,
        run=run,
        sessions=sessions,
        archive=archive,
        answers=builder.table(pools_of(peopled)),
        samples=samples,
        drawn=drawn,
        certificates=certificates_of(store, study),
        spending=store.spending(run) + store.live_spending(study.name, _paid_models(study)),
        role_breaks=role_breaks.checks() if role_breaks else None,
        spoken=spoken.sides(),
        schemas=store.schema_tallies(run),
        responses=responses,
        answered=answered,
        reviews=reviews_of(store, study),
        described=described_in(store, peopled),
        event=event_record_of(store, study),
        criteria=criteria_of(store, study.name),
        sittings=sittings_in(store, study),
    )
    return _with_own_words(store, replace(found, earlier_scores=earlier_scores(store, study, run, len(sessions))))


def _with_own_words(store: Store, evidence: Evidence) -> Evidence:
    """Return evidence with what red teamers noted, and with what was done about all answers in own words."""
    study, responses = evidence.study, evidence.responses
    notes = notes_in(study, store.held(study.name))
    work = coding_room(store, study, (*responses, *notes)).work if responses or notes else None
    return replace(evidence, notes=notes, coding=work)


def event_record_of(store: Store, study: Study) -> EventRecord:
    """Return what people left beside dialogues and answers; empty where nobody took part."""
    name, sessions = study.name, tuple(store.sessions(study.name))
    return EventRecord(
        sessions=sessions,
        turns=store.turn_counts(name) if sessions else {},
        dialogues=store.dialogue_counts(name) if sessions else {},
        guesses=tuple(store.guesses(study.name)) if sessions else (),
        tombstones=tuple(store.tombstones(study.name)),
        topics=topic_tallies(study, store.seats(name), sessions, store.avoided_topics(name)) if study.topics else (),
    )


def described_in(store: Store, study: Study) -> dict[str, dict[str, str]]:
    """Return what is known of annotators, by the study and by themselves: attribute to annotator to group."""
    found = {attribute: dict(group_of) for attribute, group_of in study.described.items()}
    for annotator in study.annotators:
        # Who labels by several guidelines is an annotator by each, whose name ends in it.
        own = store.profile(annotator.name) if annotator.by_hand else None
        person = annotator.name.removesuffix(f"-{annotator.guideline}")
        if annotator.by_hand and own is None and person != annotator.name:
            own = store.profile(person)
        for attribute, group in own.described.items() if own else ():
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


def responses_in(store: Store, study: Study) -> tuple[QuestionnaireResponse, ...]:
    """Return what testers answered after sessions that are about the study as it is written now, drafts included."""
    given = store.study_responses(study.name)
    about = {one.session.key for one in counted(study, store.held(study.name))} if given else set[str]()
    return tuple(one for one in given if one.session in about)


def _paid_models(study: Study) -> frozenset[str]:
    """Return the applications that are models, but for those that a script plays."""
    reached = {one.name: one.connection for one in study.applications}
    models = {name: how.model for name, how in reached.items() if isinstance(how, PromptedModel)}
    return frozenset(name for name, model in models.items() if not study.model(model).is_scripted)


def sittings_in(store: Store, study: Study) -> tuple[Session, ...]:
    """Return the sessions of people here that are about the study as it is written now, each once."""
    held = counted(study, store.held(study.name))
    return tuple({one.session.key: one.session for one in held if not one.session.brought}.values())


def annotations_in(store: Store, study: Study, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
    """Yield what annotators said of a run's dialogues, and then what people said by hand.

    Labels that answer another version of a guideline are left out: another
    guideline is another question.
    """
    yield from store.annotations(run, at)
    valid = {guideline.name: version_of(guideline) for guideline in study.guidelines}
    yield from (label for label in store.labels(run, at) if valid.get(label.guideline) == label.instrument_version)


def certificates_of(store: Store, study: Study) -> tuple[Certificate, ...]:
    """Return the latest certificate of each annotator, as it is now; one of an earlier version certifies nothing."""
    judges = [annotator for annotator in study.asked if annotator.kind is not AnnotatorKind.PERSON]
    filed = (store.filed(Certificate, study.annotator_version(judge.name))[-1:] for judge in judges)
    return tuple(certificate for latest in filed for certificate in latest)


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
