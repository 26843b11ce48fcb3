"""Training: texts, practice and tests, and the state of each annotator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import transaction

from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import examples_for, is_passed, marked, worked_examples
from theodolite.domain.annotating.quality import CategoryStanding, Marked, Onboarding, QualificationResult
from theodolite.domain.annotating.work import QueueCategory, QueueDesign
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest
from theodolite.store.annotation_queue import participant_id, queue_of
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models.annotating import OnboardingRow, PracticeRow, QualificationRow, QueueRow, TestAnswerRow

K = TypeVar("K")
V = TypeVar("V")

BACKGROUND = "background"
"""Name of the background material among the texts that are acknowledged."""

RULES = "impartiality rules"
"""Name of the impartiality rules among them."""


def qualified_for(records: RecordCache, queue: QueueRow, participant: str) -> frozenset[str]:
    """Return the categories that an annotator may work in.

    None before the background material and the impartiality rules have been
    acknowledged in their present wording. Then those whose examples were
    practised on in this series and whose test was passed, both in this very version.
    """
    return standing(records, queue, participant).open_to


def standing(records: RecordCache, queue: QueueRow, participant: str) -> Onboarding:
    """Return where an annotator stands on the way to a queue."""
    return standings(records, queue, [participant])[participant]


def standings(records: RecordCache, queue: QueueRow, participants: Collection[str]) -> dict[str, Onboarding]:
    """Return where each of many annotators stands on the way to a queue; as many queries as for one."""
    design = records.design(queue.design_id)
    done = _done(queue, design, participants)
    return {who: _onboarding(records, design, done, who) for who in participants}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What some annotators have done on their way: to their keys, what they have read, practised and tried."""

    texts: Mapping[str, set[tuple[str, str]]]
    practice: Mapping[tuple[str, str], set[int]]
    tests: Mapping[str, Counter[str]]
    passed: Mapping[str, set[tuple[str, str]]]


def _done(queue: QueueRow, design: QueueDesign, participants: Collection[str]) -> _Done:
    versions = [category.version for category in design.categories]
    read = OnboardingRow.objects.filter(participant__key__in=participants, version__in=text_versions(design).values())
    gone = PracticeRow.objects.filter(queue=queue, participant__key__in=participants, version__in=versions)
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
            ((who, v), position) for who, v, position in gone.values_list("participant__key", "version", "example")
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
        categories=tuple(_standing(records, design, category, done, who) for category in design.categories),
    )


def _standing(
    records: RecordCache, design: QueueDesign, category: QueueCategory, done: _Done, who: str
) -> CategoryStanding:
    process, version = design.process, category.version
    practice, test = examples_for(records.guideline(version))
    gone = done.practice.get((who, version), set())
    attempts = done.tests.get(who, Counter())[version]
    qualified = not process.pass_mark or (category.name, version) in done.passed.get(who, ())
    left = tuple(number for number, index in enumerate(practice, start=1) if index not in gone)
    return CategoryStanding(
        category=category.name,
        version=version,
        qualified=qualified,
        attempts=attempts,
        attempts_left=0 if qualified else max(0, process.attempts - attempts),
        n_practice=len(practice),
        n_test=len(test),
        to_practise=left if process.practice else (),
    )


def text_versions(design: QueueDesign) -> dict[str, str]:
    """Return the content hashes of the texts that annotators acknowledge, by subject."""
    return {BACKGROUND: digest(BACKGROUND, design.background), RULES: digest(RULES, *design.rules)}


Given = Mapping[int, Mapping[str, str]]
"""Place of an example to question name to what was answered."""


def acknowledge(records: RecordCache, queue: str, participant: str, subject: str) -> None:
    """Write down that an annotator has read a text of the queue, in its present wording.

    Args:
        records: Where the queue's design is kept.
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
    """Return where an annotator stands on the way to the queue."""
    return standing(records, queue_of(queue), participant)


def onboardings(records: RecordCache, queue: str, participants: Collection[str]) -> dict[str, Onboarding]:
    """Return where each of many annotators stands on the way to the queue."""
    return standings(records, queue_of(queue), participants)


def practise(
    records: RecordCache, version: str, participant: str, example: int, given: Mapping[str, str]
) -> tuple[Marked, ...]:
    """Mark answers to a practice example, keep them, and return what was right and why.

    Raises:
        InputError: If that example is not for practice.
    """
    guideline = records.guideline(version)
    if example not in examples_for(guideline)[0]:
        message = f"example {example} of `{guideline.name}` is not for practice; use {examples_for(guideline)[0]}"
        raise InputError(message)
    result = marked(guideline, worked_examples(guideline)[example], given)
    with transaction.atomic():
        _keep(participant, version, {example: [one for one in result if one.question in given]}, None)
    return result


def go_through(records: RecordCache, queue: str, participant: str, category: str, example: int) -> None:
    """Write down that a practice example was answered as a whole in this series, with feedback.

    Args:
        records: Where the queue's design is kept.
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


def attempt(records: RecordCache, queue: str, participant: str, category: str, given: Given) -> QualificationResult:
    """Mark an attempt at the test of a category and keep it, with feedback for each question.

    Raises:
        Conflict: If it was passed before, or no attempt is left; a senior can let in.
        InputError: If the queue has no such category, or its guideline no example to test by.
    """
    design = records.design(queue_of(queue).design_id)
    version, guideline = _tested(records, design, category)
    answers = {
        position: marked(guideline, worked_examples(guideline)[position], given.get(position, {}))
        for position in examples_for(guideline)[1]
    }
    everything = tuple(one for result in answers.values() for one in result)
    with transaction.atomic():
        one_at_a_time(f"qualification {participant} {version}")
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
    left = 0 if row.passed else max(0, design.process.attempts - number)
    return QualificationResult(
        marked=everything, n_right=row.right, n_asked=row.asked, passed=row.passed, attempt=number, attempts_left=left
    )


def _tested(records: RecordCache, design: QueueDesign, category: str) -> tuple[str, Guideline]:
    found = design.category(category)
    if found is None:
        message = f"the queue has the categories {[one.name for one in design.categories]}; got {category!r}"
        raise InputError(message)
    guideline = records.guideline(found.version)
    if not examples_for(guideline)[1]:
        message = f"`{category}` has no worked examples for a test; add some, or admit the annotator without it"
        raise InputError(message)
    return found.version, guideline


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
        for place, found in answers.items()
        for one in found
    )


def admit(records: RecordCache, queue: str, participant: str, category: str, *, by: str, reason: str) -> None:
    """Let an annotator into a category without a test; who did and why stays on record.

    Raises:
        InputError: If there is no reason, or no such category.
    """
    found = records.design(queue_of(queue).design_id).category(category)
    if found is None or not reason.strip():
        message = f"letting in needs a category of the queue and a reason; got category={category!r}, reason={reason!r}"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"qualification {participant} {found.version}")
        n_before = QualificationRow.objects.filter(participant__key=participant, version=found.version).count()
        QualificationRow.objects.create(
            participant_id=participant_id(participant),
            category=category,
            version=found.version,
            attempt=n_before + 1,
            right=0,
            asked=0,
            passed=True,
            by=by,
            reason=reason.strip(),
            created=database_now(),
        )
