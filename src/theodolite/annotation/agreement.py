"""Progress and agreement of a queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from theodolite.annotation.queues import judges_of
from theodolite.annotation.records import RecordCache
from theodolite.annotation.review import shifts
from theodolite.domain.annotating.discrepancy import RoomShift
from theodolite.domain.annotating.quality import BesidePeople, JudgeStatus, judge_key
from theodolite.domain.annotating.work import ItemState
from theodolite.domain.errors import InputError
from theodolite.domain.findings.agreement import (
    CategoryProgress,
    DayAgreement,
    GroupAgreement,
    PairAgreement,
    PlannedPasses,
    QuestionAgreement,
    RaterAgreement,
    UnitSpread,
)
from theodolite.domain.findings.number import Undefined
from theodolite.domain.findings.order import OrderEffect
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.shown_order import has_suggestions
from theodolite.measurement.annotator_agreement import (
    agreement_per_day,
    groups_of_annotators,
    judge_beside_people,
    model_agreements,
    pair_agreements,
    planned_passes,
    question_agreement,
    rater_agreements,
    self_agreement,
    spreads,
)
from theodolite.measurement.answer_arrays import AnnotationFacts, AnswerArrays, AnswerGroup, QueueAnswers, answer_arrays
from theodolite.measurement.probes import order_effects, suggestion_effects
from theodolite.store.annotation_queue import (
    BY_JUDGE,
    SUBMITTED,
    Listed,
    annotations_of,
    n_withdrawn,
    queue_of,
    state_of,
)
from theodolite.store.event_sessions import profiles_of
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow
from theodolite.store.models.runs import ParticipantRow
from theodolite.store.statements import fetched, per_quarter_hour

_MICROSECONDS, _SECOND = 1_000_000, 2

_NOBODY = answer_arrays(())


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyAgreement:
    """The agreement on the question that decides about defects in a category, day by day."""

    category: str
    question: str
    days: tuple[DayAgreement, ...]


MOST_AGE = timedelta(minutes=3)
"""Age of the daily agreement that pages show at most; the server computes it every minute for open pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllAnswers:
    """The answers of a category.

    Attributes:
        people: People's answers by question, each from their first annotation of a dialogue; without annotations
            that showed suggestions of a judge.
        everybody: The same with judges, under their names in the study; empty without annotations by judges.
        repeats: People's answers to dialogues that they annotated twice; empty if there are none.
        assisted: Answers of judges and people including annotations with suggestions; empty without a pre-annotation.
    """

    people: dict[str, AnswerArrays]
    everybody: dict[str, AnswerArrays]
    repeats: dict[str, AnswerArrays]
    assisted: dict[str, AnswerArrays]

    @staticmethod
    def of(answers: dict[str, AnswerArrays], question: str) -> AnswerArrays:
        """Return the answers to a question; empty if there are none."""
        return answers.get(question, _NOBODY)


def all_answers(records: RecordCache, queue: str, category: str, judge_version: str = "") -> AllAnswers:
    """Return the answers in a category, in the versions that its items use.

    Computed once for each state of the answers; another request only
    checks whether anything has changed.

    Args:
        records: Store of the study.
        queue: Token of the queue.
        category: Name of the category.
        judge_version: Only this version of a judge, compared with people; empty for the latest of each judge.
    """
    row = queue_of(queue)
    key = ("answers", row.pk, category, judge_version)
    state = state_of(row, category)
    return records.figure(key, state, lambda _: _answers(records, row, category, judge_version))


def _answers(records: RecordCache, row: QueueRow, category: str, judge_version: str) -> AllAnswers:
    study = records.study(row.study_content_id)
    models = frozenset(judge.name for judge in judges_of(study))
    table, read = _table(records, row, category), _annotators(row, category, models, judge_version)
    annotations = {number: annotation for number, annotation in read.items() if not has_suggestions(annotation.shown)}
    of_people = {number: annotation for number, annotation in annotations.items() if annotation.annotator not in models}
    has_judges = len(of_people) < len(annotations)
    people = table.arrays(of_people)
    again = table.arrays(of_people, replicates=_SECOND) if table.replicates > 1 else {}
    n_again, n_first = (sum(map(len, result.values())) for result in (again, people))
    return AllAnswers(
        people=people,
        everybody=table.arrays(annotations) if has_judges else {},
        repeats=again if n_again > n_first else {},
        assisted=table.arrays(read) if records.design(row.design_id).process.pre_annotation else {},
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """State of the answers: number of annotations, number of the last one, number of withdrawals."""

    table: QueueAnswers
    n: int
    last: int
    n_withdrawn: int


_NOTHING = _Known(QueueAnswers(), 0, 0, 0)


def _table(records: RecordCache, queue: QueueRow, category: str) -> QueueAnswers:
    """Return the answers of every annotation of a category; only new ones are read."""
    annotations = AnnotationRow.objects.filter(annotations_of(queue, category))
    counts = annotations.aggregate(n=Count("id"), last=Max("id"))
    n_missing = n_withdrawn(queue, category)
    state = (queue.design_id, counts["n"], counts["last"], n_missing)
    key = ("table", queue.pk, category)
    return records.figure(key, state, lambda known: _grown(known, annotations, n_missing)).table


def _grown(known: _Known | None, annotations: QuerySet[AnnotationRow], n_withdrawn: int) -> _Known:
    known = known or _NOTHING
    counts = annotations.aggregate(n=Count("id"), last=Max("id"), before=Count("id", filter=Q(id__lte=known.last)))
    if (counts["before"], n_withdrawn) != (known.n, known.n_withdrawn):
        known = _NOTHING  # some were removed or arrived late with an earlier number
    new = annotations.filter(id__gt=known.last, id__lte=counts["last"] or 0)
    rows = AnswerRow.objects.filter(annotation_id__in=new.values("id")).annotate(at=Coalesce("turn", 0)).order_by()
    listed = rows.values_list("question", "at", "value", "replicate").annotate(annotations=Listed("annotation_id"))
    groups = [AnswerGroup(*group) for group in fetched(listed)]
    return _Known(known.table.grown(groups), counts["n"], counts["last"] or 0, n_withdrawn)


def _annotators(queue: QueueRow, category: str, models: frozenset[str], version: str) -> dict[int, AnnotationFacts]:
    """Return annotator, dialogue and time of each annotation that counts: the latest of each annotator and dialogue."""
    reservations = ReservationRow.objects.filter(
        ~BY_JUDGE, item__queue=queue, item__category=category, annotation__isnull=False
    )
    claimed = {
        number: (person, state, at)
        for number, person, state, at in fetched(
            reservations.values_list("annotation_id", "participant__key", "state", "submitted")
        )
    }
    rows = AnnotationRow.objects.filter(annotations_of(queue, category))
    if version:
        rows = rows.filter(~Q(annotator__in=models) | Q(annotator_version=version))
    columns = rows.order_by("revision", "id").values_list(
        "id", "dialogue_id", "annotator", "created", "shown", "sitting"
    )
    latest = {(dialogue, name): (number, *rest) for number, dialogue, name, *rest in fetched(columns)}
    result = {}
    for (dialogue, name), (number, made, shown, position) in latest.items():
        person, state, at = claimed.get(number, (name, SUBMITTED, made))
        if state == SUBMITTED:
            result[number] = AnnotationFacts(person, dialogue, (at or 0) / _MICROSECONDS, shown, position)
    return result


def progress(queue: str) -> list[CategoryProgress]:
    """Return the progress of each category of a queue, in the order in which they were opened."""
    rows = WorkItemRow.objects.filter(queue__token=queue).values("category")
    counted = rows.annotate(
        n=Count("id"),
        complete=Count("id", filter=Q(state__in=[ItemState.COMPLETE.value, ItemState.FROZEN.value])),
        frozen=Count("id", filter=Q(state=ItemState.FROZEN.value)),
        aside=Count("id", filter=Q(state=ItemState.ASIDE.value)),
        wanted=Sum("passes"),
        finished=Sum("done"),
        taken=Sum(F("live") - F("done")),
        differing=Count("id", filter=Q(disputed__gt=0)),
    )
    return [
        CategoryProgress(
            category=row["category"],
            n_items=row["n"],
            n_complete=row["complete"],
            n_frozen=row["frozen"],
            n_aside=row["aside"],
            n_passes=row["wanted"],
            n_done=row["finished"],
            n_reserved=row["taken"],
            n_disputed=row["differing"],
        )
        for row in counted.order_by("category")
    ]


def agreement(records: RecordCache, queue: str, category: str) -> list[QuestionAgreement]:
    """Return people's agreement on each question of a category, with its history."""
    guideline = guideline_of(records, queue, category)
    row = queue_of(queue)
    return records.figure(
        ("agreement", row.pk, category),
        state_of(row, category),
        lambda _: _agreement(guideline, category, all_answers(records, queue, category)),
    )


def _agreement(guideline: Guideline, category: str, answers_by_annotator: AllAnswers) -> list[QuestionAgreement]:
    return [
        question_agreement(category, question, AllAnswers.of(answers_by_annotator.people, question.name))
        for question in guideline.instrument.questions
        if question.scale.kind is not ScaleKind.TEXT
    ]


def annotations_per_quarter_hour(queue: str) -> dict[datetime, int]:
    """Return the number of people's submitted annotations in each quarter of an hour, by its start; counts."""
    judges = ParticipantRow.objects.filter(key__startswith=judge_key(""))
    rows = ReservationRow.objects.filter(item__queue__token=queue, state=SUBMITTED).exclude(participant__in=judges)
    return per_quarter_hour(rows, "submitted")


def daily_agreement(
    records: RecordCache, queue: str, category: str, zone: ZoneInfo, *, now: datetime, most_age: timedelta = MOST_AGE
) -> DailyAgreement | None:
    """Return people's daily agreement on the question that decides about defects in a category.

    Pages take a figure that is not too old, so that none of them reads all answers; the server computes it
    between requests.

    Args:
        records: Store of the study.
        queue: Token of the queue.
        category: Name of the category.
        zone: Time zone of the days.
        now: The present moment.
        most_age: Maximum age of a figure that is not computed again.

    Returns:
        None if the category asks for free texts only.
    """
    question = _deciding_question(guideline_of(records, queue, category))
    if question is None:
        return None
    row = queue_of(queue)
    key = ("daily agreement", row.pk, category, zone.key)
    known: tuple[datetime, DailyAgreement] | None = records.latest(("computed", *key))
    if known is not None and timedelta() <= now - known[0] <= most_age:
        return known[1]

    def computed(_: object) -> DailyAgreement:
        answers = AllAnswers.of(all_answers(records, queue, category).people, question.name)
        return DailyAgreement(
            category=category, question=question.name, days=agreement_per_day(question, answers, zone)
        )

    def dated(_: object) -> tuple[datetime, DailyAgreement]:
        return now, records.figure(key, state_of(row, category), computed)

    return records.figure(("computed", *key), now, dated)[1]


def _deciding_question(guideline: Guideline) -> Question | None:
    """Return the question of the first defect rule that has labels, else the first question with labels."""
    choice_questions = [
        question for question in guideline.instrument.questions if question.scale.kind is not ScaleKind.TEXT
    ]
    decisive = [rule.question for rule in guideline.defect_rules]
    by_name = {question.name: question for question in choice_questions}
    return next(
        (by_name[name] for name in decisive if name in by_name), choice_questions[0] if choice_questions else None
    )


def orders(records: RecordCache, queue: str, category: str) -> dict[str, list[OrderEffect]]:
    """Return the effects of order and suggestions on people's answers, for each question; empty without data."""
    guideline = guideline_of(records, queue, category)
    row = queue_of(queue)
    judge = _suggesting_judge(records, row)

    def effects(question: Question) -> list[OrderEffect]:
        answers = all_answers(records, queue, category)
        return [
            *suggestion_effects(guideline, question, AllAnswers.of(answers.assisted, question.name), judge),
            *order_effects(guideline, question, AllAnswers.of(answers.people, question.name)),
        ]

    return records.figure(
        ("orders", row.pk, category),
        state_of(row, category),
        lambda _: {
            question.name: result for question in guideline.instrument.questions if (result := effects(question))
        },
    )


def _suggesting_judge(records: RecordCache, queue: QueueRow) -> str:
    """Return the name of the judge whose answers annotators see as suggestions; empty for none."""
    plan = records.design(queue.design_id).process.pre_annotation
    return plan.judge if plan else ""


def beside_people(records: RecordCache, queue: str, judge: JudgeStatus) -> tuple[BesidePeople, ...]:
    """Return the agreement of a judge's current version with people, for each question."""
    guideline = guideline_of(records, queue, judge.guideline)
    answers = all_answers(records, queue, judge.guideline, judge_version=judge.version).everybody
    return tuple(
        judge_beside_people(question, AllAnswers.of(answers, question.name), judge.judge)
        for question in guideline.instrument.questions
        if question.scale.kind is not ScaleKind.TEXT
    )


def attributes(queue: str) -> dict[str, dict[str, str]]:
    """Return the self-described groups of a queue's annotators: attribute to annotator to group."""
    rows = ReservationRow.objects.filter(item__queue__token=queue, state=SUBMITTED)
    people = sorted(set(rows.values_list("participant__key", flat=True)))
    result: dict[str, dict[str, str]] = defaultdict(dict)
    for person, profile in profiles_of(people).items():
        for name, value in profile.attributes.items():
            result[name][person] = value
    return result


def calibration(records: RecordCache, queue: str) -> list[tuple[str, QuestionAgreement, QuestionAgreement]]:
    """Return the agreement before and after calibration, for each calibrated version and question."""
    results: dict[tuple[str, str], list[RoomShift]] = defaultdict(list)
    for shift in shifts(queue):
        results[shift.version, shift.question].append(shift)
    result = []
    for (version, name), changed in results.items():
        guideline = records.guideline(version)
        question = guideline.instrument.question(name)
        before = answer_arrays(
            (room_shift.participant, (room_shift.room, room_shift.turn), room_shift.room, room_shift.before)
            for room_shift in changed
        )
        after = answer_arrays(
            (room_shift.participant, (room_shift.room, room_shift.turn), room_shift.room, room_shift.after)
            for room_shift in changed
        )
        if question.scale.kind is not ScaleKind.TEXT:
            result.append(
                (
                    version,
                    question_agreement(guideline.name, question, before),
                    question_agreement(guideline.name, question, after),
                )
            )
    return result


def item_tokens(queue: str, category: str, dialogues: Sequence[int]) -> dict[int, str]:
    """Return the token of the work item of each dialogue in a category, by the dialogue's number."""
    items = WorkItemRow.objects.filter(queue__token=queue, category=category, dialogue_id__in=dialogues)
    return {number: token or "" for number, token in items.values_list("dialogue_id", "token")}


def guideline_of(records: RecordCache, queue: str, category: str) -> Guideline:
    """Return the questions of a category of a queue.

    Raises:
        InputError: If the queue has no such category.
    """
    result = records.design(queue_of(queue).design_id).category(category)
    if result is None:
        message = f"the queue has no category {category!r}"
        raise InputError(message)
    return records.guideline(result.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFigures:
    """The answers to one question, with their agreement.

    Attributes:
        queue: Token of the queue.
        category: Name of the category.
        guideline: Guideline of the category.
        asked: The question.
        people: Each person's first answers to each dialogue.
        everybody: The same with judges.
        repeats: People's answers to dialogues that they annotated twice; None if there are none.
        models: Names of judges.
        assisted: The same as `everybody`, with annotations that showed suggestions; empty without a pre-annotation.
        suggested_by: Name of the judge of the pre-annotation; empty for none.
    """

    queue: str
    category: str
    guideline: Guideline
    asked: Question
    people: AnswerArrays
    everybody: AnswerArrays
    repeats: AnswerArrays | None
    models: frozenset[str]
    assisted: AnswerArrays
    suggested_by: str

    def agreement(self) -> QuestionAgreement:
        """Return the agreement between people."""
        return question_agreement(self.category, self.asked, self.people)

    def repeated(self) -> QuestionAgreement | None:
        """Return people's agreement with themselves on repeated dialogues; None if there are none."""
        return None if self.repeats is None else self_agreement(self.category, self.asked, self.repeats)

    def raters(self) -> tuple[RaterAgreement, ...]:
        """Return each annotator's labels and their agreement with others, sorted by name and never by merit."""
        return rater_agreements(self.asked, self.people)

    def divided(self) -> tuple[UnitSpread, ...]:
        """Return the distribution of the labels of each dialogue or turn, the most divided first."""
        return spreads(self.asked, self.people)

    def pairs(self, of: str = "") -> tuple[PairAgreement, ...]:
        """Return the agreement of each pair of people, or of one person with every other."""
        return pair_agreements(self.asked, self.people, of=of)

    def models_beside_people(self) -> tuple[PairAgreement, ...]:
        """Return the agreement of judges with each person on the same dialogues of a run."""
        return model_agreements(self.asked, self.everybody, self.models)

    def plan(self, half_width: float) -> tuple[PlannedPasses, ...] | Undefined:
        """Return the number of dialogues, with 1, 2, ... annotations each, for an interval of a required half-width."""
        return planned_passes(self.asked, self.people, half_width)

    def orders(self) -> list[OrderEffect]:
        """Return the effects of order and suggestions on people's answers; empty without data."""
        suggested = suggestion_effects(self.guideline, self.asked, self.assisted, self.suggested_by)
        return [*suggested, *order_effects(self.guideline, self.asked, self.people)]

    def groups(self, attribute: str) -> tuple[GroupAgreement, ...]:
        """Return the agreement of annotators in each self-described group with each other and with the others."""
        return groups_of_annotators(self.asked, self.people, attributes(self.queue).get(attribute, {}))


def question_figures(records: RecordCache, queue: str, category: str, question: str) -> QuestionFigures:
    """Read the answers to one question, with a constant number of queries.

    Raises:
        InputError: If the queue has no such category, or the category has no such question.
    """
    guideline = guideline_of(records, queue, category)
    requested = guideline.instrument.question(question)
    result = all_answers(records, queue, category)
    return QuestionFigures(
        queue=queue,
        category=category,
        guideline=guideline,
        asked=requested,
        people=AllAnswers.of(result.people, question),
        everybody=AllAnswers.of(result.everybody, question),
        repeats=result.repeats.get(question),
        models=frozenset(judge.name for judge in judges_of(records.study(queue_of(queue).study_content_id))),
        assisted=AllAnswers.of(result.assisted, question),
        suggested_by=_suggesting_judge(records, queue_of(queue)),
    )
