"""Quality of annotation: training, qualification tests, gold items and quality checks of annotators."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from django.db import transaction
from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum

from theodolite.annotation.agreement import all_answers
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import (
    drawn_test,
    examples_for,
    is_passed,
    marked,
    review_sample,
    score_beyond_chance,
    worked_examples,
)
from theodolite.domain.annotating.quality import (
    CategoryReadiness,
    Conscientiousness,
    GoldItem,
    KnownAnswer,
    Marked,
    Onboarding,
    QualificationResult,
    QualityReview,
    ReviewCandidate,
    ReviewVerdict,
)
from theodolite.domain.annotating.work import ItemState, QueueCategory, QueueDesign
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.findings.number import Undefined
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest
from theodolite.domain.shown_order import has_suggestions
from theodolite.measurement.annotator_agreement import Halves, halves_alike
from theodolite.store.annotation_queue import (
    BY_JUDGE,
    RESERVED,
    SUBMITTED,
    given_to,
    item_row,
    participant_id,
    quality_reviews_of,
    queue_of,
    resolutions_of,
    state_of,
)
from theodolite.store.models import AnswerRow
from theodolite.store.models.annotating import (
    GoldRow,
    OnboardingRow,
    PracticeRow,
    QualificationRow,
    QualityReviewRow,
    QueueRow,
    ReservationEventRow,
    ReservationRow,
    ReviewWishRow,
    TestAnswerRow,
    WorkItemRow,
)
from theodolite.store.statements import database_now, one_at_a_time

PAGE = 20
"""Gold items per page of the list; count."""


Expected = Mapping[tuple[str, int | None], str]
"""Question and turn to the correct value."""


def add_gold(
    records: RecordCache, item: str, expected: Mapping[tuple[str, int | None], str], *, by: str, reason: str
) -> None:
    """Store the correct answers to an item, which annotators receive like any other.

    Args:
        records: Store of the guideline.
        item: Token of the work item.
        expected: Question and turn to value.
        by: The deciding account.
        reason: Why it is right.

    Raises:
        InputError: If a value is not a point of its question's scale, or annotators saw suggestions of a judge.
    """
    row = item_row(item)
    if any(map(has_suggestions, ReservationRow.objects.filter(item=row).values_list("shown", flat=True))):
        message = "annotators saw suggestions of a judge in this dialogue; choose one without suggestions as gold"
        raise InputError(message)
    guideline = records.guideline(row.version)
    for (question, _), value in expected.items():
        scale = guideline.instrument.question(question).scale
        if not scale.admits(value):
            message = f"the known answer to `{question}` must be one of {list(scale.categories)}; got {value!r}"
            raise InputError(message)
    GoldRow.objects.bulk_create(
        [
            GoldRow(item=row, question=name, turn=turn or 0, value=value, reason=reason, by=by, created=database_now())
            for (name, turn), value in expected.items()
        ],
        update_conflicts=True,
        unique_fields=["item", "question", "turn"],
        update_fields=["value", "reason", "by"],
    )


def known_from_review(records: RecordCache, item: str) -> dict[tuple[str, int | None], str]:
    """Return the known answers to an annotated item: outcomes of its review, and unanimous answers.

    An answer without consensus in the review is unknown and never becomes gold.
    """
    row = item_row(item)
    guideline, answer_sets = records.guideline(row.version), given_to(row)
    resolutions = {(resolution.question, resolution.turn): resolution for resolution in resolutions_of(row)}
    known = {index: one.value for index, one in resolutions.items() if one.value is not None}
    labels: dict[tuple[str, int | None], set[str | None]] = defaultdict(set)
    for answers in answer_sets.values():
        for answer in answers:
            labels[answer.question, answer.turn].add(answer.value if answer.outcome is Outcome.ANSWERED else None)
    alike = {index: next(iter(values)) for index, values in labels.items() if len(values) == 1 and len(answer_sets) > 1}
    known |= {index: value for index, value in alike.items() if value is not None and index not in resolutions}
    order = {question.name: index for index, question in enumerate(guideline.instrument.questions)}
    points = {question.name: question.scale for question in guideline.instrument.questions}
    stored = {index: value for index, value in known.items() if points[index[0]].categories}
    return dict(sorted(stored.items(), key=lambda one: (order[one[0][0]], one[0][1] or 0)))


def make_gold(records: RecordCache, item: str, *, by: str, reason: str, more: int = 0) -> int:
    """Store the known answers to an item as gold, and assign it to more people; return the count of answers.

    With more slots the item opens again: annotators may change their submitted
    answers until its review starts again.

    Args:
        records: Store of the guideline.
        item: Token of the work item.
        by: The deciding account.
        reason: Why it is right.
        more: Additional annotators; count.

    Raises:
        InputError: If no answer is known, there is no reason, or `more` is below 0.
    """
    known = known_from_review(records, item)
    if not known or not reason.strip() or more < 0:
        message = (
            f"gold takes answers that all gave or a review agreed on, and a reason; got {len(known)} and {reason!r}"
        )
        raise InputError(message)
    with transaction.atomic():
        add_gold(records, item, known, by=by, reason=reason.strip())
        if more:
            _let_more_meet(item, more)
    return len(known)


def _let_more_meet(item: str, more: int) -> None:
    one_at_a_time(f"queue {item_row(item).queue.token}")
    row = item_row(item)
    row.passes, row.state = row.passes + more, ItemState.OPEN.value
    row.save()


def remove_gold(item: str) -> int:
    """Delete the known answers of an item; its annotations are kept. Returns the number of deleted answers."""
    return GoldRow.objects.filter(item=item_row(item)).delete()[0]


def gold_items(queue: str, *, page: int = 0) -> list[GoldItem]:
    """Return one page of the gold items of a queue with each annotator's answers, the latest first."""
    items = _gold(queue).values_list("item_id", flat=True).distinct().order_by("-item_id")
    rows = GoldRow.objects.filter(item_id__in=list(items[page * PAGE : (page + 1) * PAGE]))
    known: dict[int, list[KnownAnswer]] = defaultdict(list)
    about: dict[int, tuple[WorkItemRow, str]] = {}
    for row in rows.select_related("item").order_by("-item_id", "id"):
        known[row.item_id].append(KnownAnswer(question=row.question, turn=row.turn or None, value=row.value))
        about[row.item_id] = (row.item, row.reason)
    met: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for item, person, is_right in _compared(rows):
        right, requested = met[item].get(person, (0, 0))
        met[item][person] = (right + is_right, requested + 1)
    return [
        GoldItem(
            item=item.token or "",
            category=item.category,
            known=tuple(known[number]),
            reason=reason,
            met=tuple((person, *counts) for person, counts in sorted(met[number].items())),
        )
        for number, (item, reason) in about.items()
    ]


def n_gold(queue: str) -> int:
    """Return the number of gold items of a queue; count."""
    return _gold(queue).values("item_id").distinct().count()


def _gold(queue: str) -> QuerySet[GoldRow]:
    return GoldRow.objects.filter(item__queue__token=queue)


def right_by_annotator(queue: str) -> dict[str, tuple[int, int]]:
    """Return the number of right answers to gold items, and of all answers, by annotator; counts."""
    result: dict[str, tuple[int, int]] = {}
    for _, person, is_right in _compared(_gold(queue)):
        right, requested = result.get(person, (0, 0))
        result[person] = (right + is_right, requested + 1)
    return result


def _compared(gold: QuerySet[GoldRow]) -> Iterator[tuple[int, str, bool]]:
    """Yield item, person and correctness of every answer of a person to a gold question."""
    known = {
        (item, question, turn): value
        for item, question, turn, value in gold.values_list("item_id", "question", "turn", "value")
    }
    items = {item for item, _, _ in known}
    reservations = ReservationRow.objects.filter(~BY_JUDGE, item_id__in=items, state=SUBMITTED)
    whose = {
        annotation: (item, person)
        for annotation, item, person in reservations.values_list("annotation_id", "item_id", "participant__key")
    }
    rows = AnswerRow.objects.filter(annotation_id__in=reservations.values("annotation_id"))
    for annotation, question, turn, value in rows.values_list("annotation_id", "question", "turn", "value"):
        item, person = whose[annotation]
        expected = known.get((item, question, turn or 0))
        if expected is not None:
            yield item, person, value == expected


def to_review(records: RecordCache, queue: str) -> list[str]:
    """Return the reservations whose current revision seniors have yet to review: drawn or requested."""
    row = queue_of(queue)
    process = records.design(row.design_id).process
    seen = QualityReviewRow.objects.filter(reservation__item__queue=row)
    submitted = _submitted(queue).aggregate(n=Count("id"), last=Max("submitted"), revisions=Sum("revision"))
    wished = ReviewWishRow.objects.filter(item__queue=row)
    wishes = wished.aggregate(n=Count("id"), last=Max("id"))
    state = (process, *submitted.values(), seen.count(), *wishes.values())
    return records.figure(("to review", row.pk), state, lambda _: _to_review(queue, process, seen))


def _to_review(queue: str, process: AnnotationProcess, seen: QuerySet[QualityReviewRow]) -> list[str]:
    rows = list(_submitted(queue).order_by("id").values_list("token", "item__category", "participant__key", "revision"))
    candidates = [ReviewCandidate(key=token, stratum=f"{category} {person}") for token, category, person, _ in rows]
    wishes = ReviewWishRow.objects.filter(item__queue__token=queue)
    wished = _submitted(queue).filter(item_id__in=wishes.values("item_id"))
    sampled = set(review_sample(candidates, process.quality_check, process.seed))
    sampled.update(wished.values_list("token", flat=True))
    last = dict(seen.values_list("reservation__token").annotate(last=Max("revision")))
    return [token for token, _, _, revision in rows if token in sampled and last.get(token, 0) < revision]


def review(token: str, verdict: ReviewVerdict, *, by: str, comment: str = "") -> None:
    """Accept an annotation, or return it with a comment: its item opens for changes, and its annotator sees why.

    Raises:
        InputError: If it is returned without a comment.
        NotFound: If there is no such submitted annotation.
    """
    if verdict is ReviewVerdict.RETURNED and not comment.strip():
        message = "a comment is required to return an annotation; got none"
        raise InputError(message)
    row = ReservationRow.objects.filter(token=token, state=SUBMITTED).select_related("item").first()
    if row is None:
        message = f"no submitted annotation has the token `{token}`"
        raise NotFound(message)
    with transaction.atomic():
        QualityReviewRow.objects.create(
            reservation=row,
            revision=row.revision,
            verdict=verdict.value,
            comment=comment.strip(),
            by=by,
            created=database_now(),
        )
        if verdict is ReviewVerdict.RETURNED:
            frozen = WorkItemRow.objects.filter(pk=row.item_id, state=ItemState.FROZEN.value)
            frozen.update(state=ItemState.COMPLETE.value)


def annotator_of(queue: str, token: str) -> str:
    """Return the opaque key of the annotator who submitted under a token in a queue.

    Raises:
        NotFound: If the queue has no submission under the token.
    """
    rows = ReservationRow.objects.filter(token=token, item__queue__token=queue, state=SUBMITTED)
    person = rows.values_list("participant__key", flat=True).first()
    if person is None:
        message = f"no submitted annotation has the token `{token}`"
        raise NotFound(message)
    return str(person)


def reviews_of(token: str) -> list[QualityReview]:
    """Return the reviews of one annotation, oldest first."""
    return quality_reviews_of(QualityReviewRow.objects.filter(reservation__token=token))


def returned_to(queue: str, participant: str) -> list[QualityReview]:
    """Return the annotations returned to an annotator and not submitted again since."""
    rows = QualityReviewRow.objects.filter(
        reservation__item__queue__token=queue,
        reservation__participant__key=participant,
        verdict=ReviewVerdict.RETURNED.value,
        revision=F("reservation__revision"),
    )
    later = QualityReviewRow.objects.filter(verdict=ReviewVerdict.ACCEPTED.value, revision=F("reservation__revision"))
    return quality_reviews_of(rows.exclude(reservation_id__in=later.values("reservation_id")))


def from_above(records: RecordCache, queue: str) -> list[Conscientiousness]:
    """Return quality indicators of each annotator for seniors: speed, gold items, drift, returned work.

    Others are all other annotators, of this queue or another. The number of queries
    depends on the number of categories, not on the number of answers.
    """
    minutes, gold, alike = _minutes(queue), right_by_annotator(queue), _alike(records, queue)
    returned = QualityReviewRow.objects.filter(reservation__item__queue__token=queue, verdict="returned")
    n_returned = dict(returned.values_list("reservation__participant__key").annotate(n=Count("id")))
    return [
        Conscientiousness(
            participant=person,
            n_submitted=len(spent),
            median_minutes=median(spent) if spent else None,
            gold_right=gold.get(person, (0, 0))[0],
            gold_asked=gold.get(person, (0, 0))[1],
            early_alike=halves.early_alike,
            early_asked=halves.early_asked,
            late_alike=halves.late_alike,
            late_asked=halves.late_asked,
            n_returned=n_returned.get(person, 0),
        )
        for person, spent in sorted(minutes.items())
        for halves in [alike.get(person, Halves())]
    ]


def _submitted(queue: str) -> QuerySet[ReservationRow]:
    """Return people's submissions without withdrawn and withheld dialogues."""
    rows = ReservationRow.objects.filter(~BY_JUDGE, item__queue__token=queue, state=SUBMITTED)
    return rows.exclude(item__state=ItemState.ASIDE.value)


def _minutes(queue: str) -> dict[str, list[float]]:
    """Return the minutes from reserving to first submitting of each submitted item, by annotator."""
    events = ReservationEventRow.objects.filter(reservation__item__queue__token=queue, reservation__state=SUBMITTED)
    times = events.values_list("reservation_id", "reservation__participant__key").annotate(
        begun=Min("created", filter=Q(state=RESERVED)), ended=Min("created", filter=Q(state=SUBMITTED))
    )
    result: dict[str, list[float]] = defaultdict(list)
    for _, person, started, ended in times:
        if started is not None and ended is not None:
            result[person].append((ended - started).total_seconds() / 60)
    return result


def _alike(records: RecordCache, queue: str) -> dict[str, Halves]:
    """Return each annotator's agreement with the others in both halves of their work; counts."""
    row = queue_of(queue)
    categories = [category.name for category in records.design(row.design_id).categories]
    state = tuple(state_of(row, name) for name in categories)

    def halves(_: object) -> dict[str, Halves]:
        result = [all_answers(records, queue, name).people for name in categories]
        return halves_alike(columns for by_question in result for columns in by_question.values())

    return records.figure(("halves", row.pk), state, halves)


K = TypeVar("K")

V = TypeVar("V")


BACKGROUND = "background"
"""Name of the background material among the texts to acknowledge."""


RULES = "impartiality rules"
"""Name of the impartiality rules among them."""


def qualified_for(records: RecordCache, queue: QueueRow, participant: str) -> frozenset[str]:
    """Return the categories that an annotator may work in.

    No category is open before the background material and the impartiality rules have been
    acknowledged in their current wording. After that, categories with practised
    examples in this series and a passed test are open, both in the current version.
    """
    return _progress_of(records, queue, participant).open_to


def _progress_of(records: RecordCache, queue: QueueRow, participant: str) -> Onboarding:
    """Return the progress of an annotator towards a queue."""
    return _onboardings(records, queue, [participant])[participant]


def _onboardings(records: RecordCache, queue: QueueRow, participants: Collection[str]) -> dict[str, Onboarding]:
    """Return the progress of several annotators towards a queue, in a constant number of queries."""
    design = records.design(queue.design_id)
    done = _done(queue, design, participants)
    return {who: _onboarding(records, design, done, who) for who in participants}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """Progress of annotators, by key: texts read, examples practised, tests taken."""

    texts: Mapping[str, set[tuple[str, str]]]
    practice: Mapping[tuple[str, str], set[int]]
    tests: Mapping[str, Counter[str]]
    passed: Mapping[str, set[tuple[str, str]]]


def _done(queue: QueueRow, design: QueueDesign, participants: Collection[str]) -> _Done:
    versions = [category.version for category in design.categories]
    read = OnboardingRow.objects.filter(participant__key__in=participants, version__in=text_versions(design).values())
    practised = PracticeRow.objects.filter(queue=queue, participant__key__in=participants, version__in=versions)
    attempts = list(
        QualificationRow.objects.filter(participant__key__in=participants, version__in=versions).values_list(
            "participant__key", "category", "version", "asked", "passed"
        )
    )
    tests: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for who, _, version, requested, _ in attempts:
        tests[who][version] += requested > 0
    return _Done(
        texts=_gathered(
            (who, (subject, v)) for who, subject, v in read.values_list("participant__key", "subject", "version")
        ),
        practice=_gathered(
            ((who, v), position) for who, v, position in practised.values_list("participant__key", "version", "example")
        ),
        tests=tests,
        passed=_gathered((who, (category, version)) for who, category, version, _, passed in attempts if passed),
    )


def _gathered(pairs: Iterable[tuple[K, V]]) -> defaultdict[K, set[V]]:
    result: defaultdict[K, set[V]] = defaultdict(set)
    for key, value in pairs:
        result[key].add(value)
    return result


def _onboarding(records: RecordCache, design: QueueDesign, done: _Done, who: str) -> Onboarding:
    requested = {BACKGROUND: design.background, RULES: "".join(design.rules)}
    versions = text_versions(design)
    read = {name: not text or (name, versions[name]) in done.texts.get(who, ()) for name, text in requested.items()}
    return Onboarding(
        background_read=read[BACKGROUND],
        rules_read=read[RULES],
        categories=tuple(_readiness(records, design, category, done, who) for category in design.categories),
    )


def _readiness(
    records: RecordCache, design: QueueDesign, category: QueueCategory, done: _Done, who: str
) -> CategoryReadiness:
    process, version = design.process, category.version
    guideline = records.guideline(version)
    practice = examples_for(guideline)[0]
    practised = done.practice.get((who, version), set())
    attempts = done.tests.get(who, Counter())[version]
    qualified = not process.pass_mark or (category.name, version) in done.passed.get(who, ())
    left = tuple(number for number, index in enumerate(practice, start=1) if index not in practised)
    return CategoryReadiness(
        category=category.name,
        version=version,
        qualified=qualified,
        attempts=attempts,
        attempts_left=0 if qualified else max(0, process.attempts - attempts),
        n_practice=len(practice),
        n_test=sum(
            len(worked_examples(guideline)[place].answers) for place in drawn_test(guideline, who, attempts + 1)
        ),
        to_practise=left if process.practice else (),
    )


def text_versions(design: QueueDesign) -> dict[str, str]:
    """Return the content hashes of the texts that annotators acknowledge, by subject."""
    return {BACKGROUND: digest(BACKGROUND, design.background), RULES: digest(RULES, *design.rules)}


Given = Mapping[int, Mapping[str, str]]
"""Position of an example to question name to its answer."""


def acknowledge(records: RecordCache, queue: str, participant: str, subject: str) -> None:
    """Record that an annotator has read the current version of a text of the queue.

    Args:
        records: Store of the queue's design.
        queue: Token of the queue.
        participant: Opaque key of the annotator.
        subject: `qualified.BACKGROUND` or `qualified.RULES`.

    Raises:
        InputError: If the subject is neither.
    """
    versions = text_versions(records.design(queue_of(queue).design_id))
    if subject not in versions:
        message = f"a queue has the texts {sorted(versions)}; got {subject!r}"
        raise InputError(message)
    OnboardingRow.objects.get_or_create(
        participant_id=participant_id(participant),
        subject=subject,
        version=versions[subject],
        defaults={"created": database_now()},
    )


def onboarding(records: RecordCache, queue: str, participant: str) -> Onboarding:
    """Return the progress of an annotator towards the queue."""
    return _progress_of(records, queue_of(queue), participant)


def onboardings(records: RecordCache, queue: str, participants: Collection[str]) -> dict[str, Onboarding]:
    """Return the progress of several annotators towards the queue."""
    return _onboardings(records, queue_of(queue), participants)


def practise(
    records: RecordCache, version: str, participant: str, example: int, answers: Mapping[str, str]
) -> tuple[Marked, ...]:
    """Mark answers to a practice example, store them, and return the right answers and the reasons.

    Raises:
        InputError: If that example is not for practice.
    """
    guideline = records.guideline(version)
    if example not in examples_for(guideline)[0]:
        message = f"example {example} of `{guideline.name}` is not for practice; use {examples_for(guideline)[0]}"
        raise InputError(message)
    result = marked(guideline, worked_examples(guideline)[example], answers)
    with transaction.atomic():
        _keep(participant, version, {example: [one for one in result if one.question in answers]}, None)
    return result


def go_through(records: RecordCache, queue: str, participant: str, category: str, example: int) -> None:
    """Record that all questions of a practice example were answered in this series, with feedback.

    Args:
        records: Store of the queue's design.
        queue: Token of the queue.
        participant: Opaque key of the annotator.
        category: Name of the category.
        example: Number among its examples to practise on, from 1.

    Raises:
        InputError: If the queue has no such category, or the category no such example.
    """
    row = queue_of(queue)
    result = records.design(row.design_id).category(category)
    positions = examples_for(records.guideline(result.version))[0] if result else ()
    if result is None or not 1 <= example <= len(positions):
        message = f"`{category}` has {len(positions)} examples to practise on; got number {example}"
        raise InputError(message)
    PracticeRow.objects.get_or_create(
        queue=row,
        participant_id=participant_id(participant),
        version=result.version,
        example=positions[example - 1],
        defaults={"created": database_now()},
    )


def next_test(records: RecordCache, version: str, participant: str) -> tuple[int, ...]:
    """Return the indices of the examples in the next attempt at the test of a category."""
    tests = QualificationRow.objects.filter(participant__key=participant, version=version, asked__gt=0)
    return drawn_test(records.guideline(version), participant, tests.count() + 1)


def attempt(
    records: RecordCache, queue: str, participant: str, category: str, test_answers: Given
) -> QualificationResult:
    """Grade an attempt at the test of a category and store it, with feedback for each question.

    Raises:
        Conflict: If the test was passed before, or no attempt is left; a senior can admit the annotator.
        InputError: If the queue has no such category, or its guideline no example to test by.
    """
    design = records.design(queue_of(queue).design_id)
    version, guideline = _tested(records, design, category)
    with transaction.atomic():
        one_at_a_time(f"qualification {participant} {version}")
        answers = {
            position: marked(guideline, worked_examples(guideline)[position], test_answers.get(position, {}))
            for position in next_test(records, version, participant)
        }
        everything = tuple(one for result in answers.values() for one in result)
        number = _next_attempt(participant, version, design.process.attempts)
        row = QualificationRow.objects.create(
            participant_id=participant_id(participant),
            category=category,
            version=version,
            attempt=number,
            right=sum(one.is_right for one in everything),
            asked=len(everything),
            passed=is_passed(everything, design.process.pass_mark),
            created=database_now(),
        )
        _keep(participant, version, answers, row)
    left, score = 0 if row.passed else max(0, design.process.attempts - number), score_beyond_chance(everything)
    return QualificationResult(
        marked=everything,
        n_right=row.right,
        n_asked=row.asked,
        score=None if isinstance(score, Undefined) else score,
        passed=row.passed,
        attempt=number,
        attempts_left=left,
    )


def _tested(records: RecordCache, design: QueueDesign, category: str) -> tuple[str, Guideline]:
    result = design.category(category)
    if result is None:
        message = f"the queue has the categories {[one.name for one in design.categories]}; got {category!r}"
        raise InputError(message)
    guideline = records.guideline(result.version)
    if not examples_for(guideline)[1]:
        message = f"`{category}` has no worked examples for a test; add some, or admit the annotator without it"
        raise InputError(message)
    return result.version, guideline


def _next_attempt(participant: str, version: str, most: int) -> int:
    rows = list(QualificationRow.objects.filter(participant__key=participant, version=version))
    tests = [row for row in rows if row.asked]
    if any(row.passed for row in rows):
        message = "you have already passed this test"
        raise Conflict(message)
    if len(tests) >= most:
        message = f"all {most} attempts at this test are used; a senior annotator can admit you"
        raise Conflict(message)
    return len(rows) + 1


def _keep(
    participant: str, version: str, answers: Mapping[int, Sequence[Marked]], row: QualificationRow | None
) -> None:
    who, now = participant_id(participant), database_now()
    TestAnswerRow.objects.bulk_create(
        TestAnswerRow(
            participant_id=who,
            qualification=row,
            version=version,
            example=place,
            question=one.question,
            given=one.given,
            expected=one.expected,
            created=now,
        )
        for place, result in answers.items()
        for one in result
    )


def admit(records: RecordCache, queue: str, participant: str, category: str, *, by: str, reason: str) -> None:
    """Admit an annotator to a category without a test; the audit log names the decider and the reason.

    Raises:
        InputError: If there is no reason, or no such category.
    """
    result = records.design(queue_of(queue).design_id).category(category)
    if result is None or not reason.strip():
        message = f"letting in needs a category of the queue and a reason; got category={category!r}, reason={reason!r}"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"qualification {participant} {result.version}")
        n_before = QualificationRow.objects.filter(participant__key=participant, version=result.version).count()
        QualificationRow.objects.create(
            participant_id=participant_id(participant),
            category=category,
            version=result.version,
            attempt=n_before + 1,
            right=0,
            asked=0,
            passed=True,
            by=by,
            reason=reason.strip(),
            created=database_now(),
        )
