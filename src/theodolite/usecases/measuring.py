"""Evidence of a run for its measurement: calls, scores of earlier runs, reviews of risks and stated criteria."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from theodolite.assessment.annotating import AnnotationTask, annotate
from theodolite.assessment.manual_annotation import person_of
from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation, AnnotatorKind
from theodolite.domain.annotator import Annotator, HandLabels
from theodolite.domain.answer_rules import label_of, pools_of
from theodolite.domain.choices import Identification
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.estimate import ValidationReport
from theodolite.domain.evidence import AnswerTableBuilder, EventEvidence, Evidence
from theodolite.domain.findings.order import RunScores
from theodolite.domain.findings.realism import RoleBreakRules
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.flow import AskModel, JournalEntry, Message, Request, Returned, Waiting, advance, begin
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import QuestionLevel, ScaleKind, decimal_of
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.plan import EventSessions, Sessions
from theodolite.domain.run import Failure, Run, RunState
from theodolite.domain.status import Call
from theodolite.domain.study import Study
from theodolite.domain.study_parts import CriteriaSubject, StatedCriteria
from theodolite.measurement.study.realism import RealismBook, RoleBreakBook
from theodolite.ports.store import Store
from theodolite.testing.people import failures_of
from theodolite.usecases.running import as_planned, below_half


def calls_of(
    store: Store,
    study: Study,
    dialogues: Collection[Dialogue],
    annotations: Collection[Annotation],
    failures: Collection[Failure] = (),
) -> dict[str, tuple[Call, ...]]:
    """Return the calls that led to some records, by unit; units without calls are omitted.

    Args:
        store: The database.
        study: Study of the records.
        dialogues: The dialogues. Their calls have no prompt, because turns contain it.
        annotations: Annotations of these dialogues.
        failures: Failed units; their calls have no prompt.
    """
    known = {dialogue.key: dialogue for dialogue in dialogues}
    question = {annotation.unit: annotation for annotation in annotations if annotation.unit}
    units = dict.fromkeys([*known, *question, *(failure.unit for failure in failures)])
    result: dict[str, tuple[Call, ...]] = {}
    for unit, journal in store.journals(tuple(units)).items():
        if unit in question and journal:
            result[unit] = _judged(_task(study, question[unit], known), journal)
        elif journal:
            result[unit] = tuple(Call(reply=entry.reply) for entry in journal)
    return result


def _task(study: Study, annotation: Annotation, dialogues: Mapping[str, Dialogue]) -> AnnotationTask:
    annotator, dialogue = study.annotator(annotation.annotator), dialogues[annotation.dialogue]
    return AnnotationTask(
        unit=annotation.unit,
        annotator=annotator,
        annotator_version=annotation.annotator_version,
        guideline=study.guideline(annotator.guideline),
        guideline_version=annotation.instrument_version,
        dialogue=dialogue,
        rows=(),  # reading a column makes no call
        below_half=below_half,
        packet=study.scenario(dialogue.scenario).packet,
    )


def _judged(task: AnnotationTask, journal: Sequence[JournalEntry]) -> tuple[Call, ...]:
    """Return the calls of an annotation; from the first request that has changed on, prompts are not known."""
    calls, flow = [], annotate(task)
    state: Waiting | Returned[Annotation] | None = begin(flow)
    for entry in journal:
        if isinstance(state, Waiting) and version_of(state.request) == entry.request_hash:
            calls.append(Call(reply=entry.reply, prompt=_prompt(state.request)))
            # The outcome of the last reply is in the annotation.
            state = advance(flow, state, entry.reply) if entry is not journal[-1] else None
        else:
            calls.append(Call(reply=entry.reply, prompt=None))
            state = None
    flow.close()
    return tuple(calls)


def _prompt(request: Request) -> tuple[Message, ...]:
    return request.messages if isinstance(request, AskModel) else ()


MOST_RUNS: Final = 11
"""Maximum number of earlier runs, the latest ones; count."""

MOST_DIALOGUES: Final = 20_000
"""Maximum number of dialogues of earlier runs, so that a large study's report stays fast; count."""


def earlier_scores(store: Store, study: Study, run: Run, n_dialogues: int) -> tuple[RunScores, ...]:
    """Return the scores of earlier finished runs, the first run first.

    Labels that answer another version of a guideline are left out: another
    guideline is another question. `theodolite monitor` reads all runs.

    Args:
        store: The workspace's database.
        study: The study as currently written.
        run: The run that is reported.
        n_dialogues: Dialogues of one run; count.
    """
    guidelines = {guideline.name: guideline for guideline in study.guidelines if _question(guideline)}
    if not guidelines:
        return ()
    finished = [
        guideline
        for guideline in store.runs(study.name)
        if guideline.state is RunState.FINISHED and guideline.number < run.number
    ]
    n_read = min(MOST_RUNS, MOST_DIALOGUES // max(1, n_dialogues))
    seen: set[tuple[str, str, str]] = set()
    # Older runs first: a result that a run reused counts where it was measured.
    return tuple(
        scores for guideline in finished[-n_read:] if n_read for scores in _of_run(store, guideline, guidelines, seen)
    )


def _question(guideline: Guideline) -> str:
    """Return the guideline's own question if it is answered once per dialogue by a number; else None."""
    question = guideline.question
    is_scored = question.scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}
    return question.name if is_scored and question.level is QuestionLevel.DIALOGUE else ""


def _of_run(
    store: Store, run: Run, guidelines: dict[str, Guideline], seen: set[tuple[str, str, str]]
) -> Iterator[RunScores]:
    versions = {name: version_of(guideline) for name, guideline in guidelines.items()}
    answers: dict[tuple[str, str], dict[str, Annotation]] = {}
    for annotation in store.annotations(run):
        if versions.get(annotation.guideline) == annotation.instrument_version:
            answers.setdefault((annotation.guideline, annotation.annotator), {})[annotation.dialogue] = annotation
    if not answers:
        return
    order = [(dialogue.key, dialogue.application) for dialogue in store.dialogues(run)]
    for (guideline, annotator), by_dialogue in answers.items():
        question = _question(guidelines[guideline])
        for application in dict.fromkeys(name for _, name in order):
            own = [by_dialogue[key] for key, name in order if name == application and key in by_dialogue]
            measured = [(item.dialogue, item.annotator_version, item.instrument_version) for item in own]
            n_repeated = sum(item in seen for item in measured)
            seen.update(measured)
            if own:
                yield RunScores(
                    run=run.number,
                    started=run.started,
                    application=application,
                    guideline=guideline,
                    question=question,
                    annotator=annotator,
                    annotator_version=own[-1].annotator_version,
                    values=tuple(_score(item, guidelines[guideline]) for item in own),
                    n_repeated=n_repeated,
                )


def _score(annotation: Annotation, guideline: Guideline) -> float | None:
    label = label_of(annotation, guideline.question, guideline.defect_rules)
    return decimal_of(label.value) if label is not None and label.value is not None else None


def keep_review(store: Store, study: Study, run: Run, review: CombinedReview) -> None:
    """Store a combined review; a later one of the same session and risk replaces it, and the earlier one is kept.

    Args:
        store: The database.
        study: The study.
        run: Run with labels that show who annotates.
        review: Result of the review.

    Raises:
        InputError: If the risk needs no combined review, or the reviewer has annotated dialogues of the study.
    """
    requested = [risk.name for risk in study.risks if risk.identified_by is Identification.BOTH]
    if review.risk not in requested:
        message = (
            f"risk `{review.risk}` is not identified by questionnaire and dialogue; those are {requested or 'none'}"
        )
        raise InputError(message)
    names = {label.annotator for label in store.labels(run)}
    if any(name == review.reviewer or name.startswith(f"{review.reviewer}-") for name in names):
        message = "who annotates dialogues of the study must see no questionnaire; a combined review is for others"
        raise InputError(message)
    same = [item for item in reviews_of(store, study) if (item.risk, item.session) == (review.risk, review.session)]
    store.file(CombinedReview.subject(study.name), replace(review, revision=len(same) + 1))


def reviews_of(store: Store, study: Study) -> tuple[CombinedReview, ...]:
    """Return all combined reviews of a study, the oldest first."""
    return tuple(store.filed(CombinedReview, CombinedReview.subject(study.name)))


def state_criteria(
    store: Store,
    study: str,
    about: CriteriaSubject,
    text: str,
    *,
    by: str,
    now: datetime,
    why: str = "",
    follows: int = 0,
) -> StatedCriteria:
    """Store a statement as the current one.

    Args:
        store: The database.
        study: Name of the study.
        about: Subject of the criteria.
        text: The criteria, in words.
        by: Opaque key or name of their author.
        now: The time; UTC.
        why: Change and reason; required from the second statement on.
        follows: Revision that the editor started from; 0 for none.

    Raises:
        Conflict: If another person has stated others meanwhile.
        InputError: If there is no text, nothing has changed, or no reason is stated.
    """
    earlier = [item for item in criteria_of(store, study) if item.about is about]
    last = earlier[-1] if earlier else None
    if (last.revision if last else 0) != follows:
        message = f"somebody has stated revision {last.revision if last else 0} meanwhile; look at it, then go on"
        raise Conflict(message)
    if last and last.text == text.strip():
        message = f"the criteria of {about.value} say this already"
        raise InputError(message)
    if last and not why.strip():
        message = "say in a few words what has changed and why; the documentation tells it"
        raise InputError(message)
    made = StatedCriteria(
        study=study, about=about, text=text.strip(), revision=follows + 1, by=by, at=now, why=why.strip()
    )
    store.file(StatedCriteria.subject(study), made)
    return made


def criteria_of(store: Store, study: str) -> tuple[StatedCriteria, ...]:
    """Return all statements of a study, in the order in which they were made."""
    return tuple(store.filed(StatedCriteria, StatedCriteria.subject(study)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArchive:
    """The records of one run, read from the store.

    Attributes:
        store: The database.
        study: The study to measure.
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
        """Yield the dialogues."""
        return (dialogue for _, dialogue in self.placed(at))

    def placed(self, at: Collection[int] | None = None) -> Iterator[tuple[int, Dialogue]]:
        """Yield the dialogues with their position in the plan."""
        return as_planned(self.store.dialogues(self.run, at), self.sessions, at)

    def annotations(self, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield annotators' answers."""
        return annotations_in(self.store, self.study, self.run, at)

    def adjudications(self, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels."""
        return self.store.adjudications(self.run, at)

    def failures(self, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the units without a result."""
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
"""The evidence of a study without participants."""


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
    """Return the evidence of one run of a study; its records are read once, and none is kept in memory.

    Args:
        store: The database.
        study: The study to measure.
        sessions: The sessions of its plan.
        run: The run.
        role_break_rules: Rules that check simulated users during the pass, so that
            their texts need not be read again; None for no check.
        event: Contributions of the study's participants.
    """
    archive = StoredArchive(store=store, study=study, run=run, sessions=sessions, people=event.dialogues)
    builder, realism_book = AnswerTableBuilder(sessions), RealismBook(sessions)
    role_breaks = RoleBreakBook(role_break_rules, study.scenarios) if role_break_rules else None
    samples = tuple(store.filed(LabelSample, LabelSample.subject(study.name)))
    sampled = _Positions({item.dialogue for sample in samples for item in sample.dialogues})
    answered = _Positions({key for response in event.responses for key in response.dialogues})
    for position, dialogue in archive.placed():
        builder.add_dialogue(dialogue, position)
        sampled.look(dialogue, position)
        answered.look(dialogue, position)
        realism_book.look(dialogue)
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
        drawn=sampled.found,
        validation_reports=validation_reports_of(store, study),
        spending=store.spending(run) + event.spending,
        spending_parts=store.spending_parts(run),
        role_breaks=role_breaks.checks() if role_breaks else None,
        spoken=realism_book.sides(),
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
    """Return the known attributes of annotators, by the study and by themselves: attribute to annotator to group."""
    result = {attribute: dict(group_of) for attribute, group_of in study.annotator_attributes.items()}
    for annotator in study.annotators:
        # An annotator with several guidelines counts as one for each; its name ends in the guideline's.
        own = store.profile(annotator.name) if annotator.by_hand else None
        person = annotator.name.removesuffix(f"-{annotator.guideline}")
        if annotator.by_hand and own is None and person != annotator.name:
            own = store.profile(person)
        for attribute, group in own.annotator_attributes.items() if own else ():
            result.setdefault(attribute, {})[annotator.name] = group
    return result


def _add_labels(builder: AnswerTableBuilder, archive: StoredArchive) -> None:
    """Add the annotations, final labels and failures of a run with dialogues that were added before."""
    for annotation in archive.annotations():
        builder.add_annotation(annotation)
    for final in archive.adjudications():
        builder.add_final_label(final)
    for failure in archive.failures():
        builder.add_failure(failure)


def _add_assignments(
    builder: AnswerTableBuilder, store: Store, study: Study, run: Run, samples: Iterable[LabelSample]
) -> Study:
    """Add the dialogues assigned to each person not in the study file; return the study with all people.

    They are the dialogues that a person has labelled or reserved. A person in the file is to label
    every dialogue; others only their annotations from the queue or a label file.
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


def study_with_people(store: Store, study: Study, run: Run) -> Study:
    """Return a study that includes all people who labelled dialogues of a run by hand among its annotators."""
    return with_people(study, {label.annotator: label.guideline for label in store.labels(run)})


def annotations_in(store: Store, study: Study, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
    """Yield the annotations of a run's dialogues, and then people's labels by hand.

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
    """Return a study that includes all people who labelled by hand among its annotators.

    Args:
        study: The study from its file.
        labelled: Guideline of each person who labelled by hand.
    """
    known = {annotator.name for annotator in study.annotators}
    guidelines = {guideline.name for guideline in study.guidelines}
    result = {annotator: guideline for annotator, guideline in labelled.items() if guideline in guidelines}
    people = tuple(_by_hand(name, guideline) for name, guideline in result.items() if name not in known)
    return replace(study, annotators=(*study.annotators, *people)) if people else study


def with_representative_people(study: Study, labelled: Collection[str], samples: Iterable[LabelSample]) -> Study:
    """Return a study whose human labels represent all dialogues, unless a judge's labels determined the sample.

    Args:
        study: The study, including all people who labelled by hand.
        labelled: Names of people who labelled by hand.
        samples: The samples that were drawn.
    """
    sampled = {sample.guideline for sample in samples if sample.judge}
    annotators = tuple(
        replace(annotator, labelling=HandLabels(is_representative=True))
        if annotator.by_hand and annotator.name in labelled and annotator.guideline not in sampled
        else annotator
        for annotator in study.annotators
    )
    return replace(study, annotators=annotators)


def _by_hand(name: str, guideline: str) -> Annotator:
    """Return a person who is not in the file; reports leave out the guideline that a name may end in."""
    title = name.removesuffix(f"-{guideline}") if name.endswith(f"-{guideline}") else ""
    return Annotator(name=name, title=title, kind=AnnotatorKind.PERSON, guideline=guideline, labelling=HandLabels())
