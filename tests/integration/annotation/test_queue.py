"""The queue of people's annotation, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.utils import IntegrityError

from tests.fakes.annotation_queue import OPEN_TO_ALL, Venue, how_bad, no, void, yes
from theodolite.annotation.assignment import last_ones, next_work, offer, release, resume, skip, stuck_annotators
from theodolite.annotation.submission import clear_answer, save_answer, submit, task, undo
from theodolite.domain.annotating.quality import judge_key
from theodolite.domain.annotating.work import ReservationState
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.instrument import OpenQuestion
from theodolite.store.models.annotating import (
    DraftRow,
    ReservationEventRow,
    ReservationRow,
    RoutedRow,
    WorkItemRow,
)
from theodolite.store.results import open_assignments
from theodolite.store.statements import database_now

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def work(venue: Venue, queue: str, who: str) -> str:
    found = next_work(venue.records, queue, who)
    assert found is not None
    return found.token


def annotate(venue: Venue, queue: str, who: str, *answers) -> None:
    token = work(venue, queue, who)
    for answer in answers:
        save_answer(token, who, answer)
    assert submit(venue.records, token, who).open == ()


def let_expire(token: str) -> None:
    row = ReservationRow.objects.get(token=token)
    ReservationRow.objects.filter(token=token).update(until=row.until - timedelta(hours=2))


def categories(venue: Venue) -> list[tuple[str, int]]:
    return sorted(WorkItemRow.objects.filter(dialogue__unit__key=venue.keys[0]).values_list("category", "done"))


def test_twenty_simultaneous_requests_never_get_a_fourth_annotation(venue: Venue) -> None:
    queue = venue.queue()

    def ask(number: int) -> list[str]:
        with venue.bound():
            return [found.token for _ in range(2) if (found := next_work(venue.records, queue, f"p-{number}"))]

    with ThreadPoolExecutor(20) as threads:
        had = [token for tokens in threads.map(ask, range(20)) for token in tokens]

    assert len(set(had)) == 9
    assert [row.live for row in WorkItemRow.objects.all()] == [3, 3, 3]


def test_the_database_refuses_a_fourth_annotation(venue: Venue) -> None:
    queue = venue.queue()
    tokens = [work(venue, queue, f"p-{number}") for number in range(3)]
    row = ReservationRow.objects.filter(token=tokens[0])

    with pytest.raises(IntegrityError):
        row.update(place=4)
    with pytest.raises(IntegrityError):
        WorkItemRow.objects.update(live=4)


def test_items_with_the_fewest_annotations_come_first(venue: Venue) -> None:
    queue = venue.queue()

    items = [ReservationRow.objects.get(token=work(venue, queue, f"p-{n}")).item_id for n in range(6)]

    assert sorted(items[:3]) == sorted(items[3:])
    assert len(set(items[:3])) == 3


def test_a_repeated_request_returns_the_same_assignment(venue: Venue) -> None:
    queue = venue.queue()

    assert work(venue, queue, "p-1") == work(venue, queue, "p-1")


def test_an_expired_assignment_goes_to_another_annotator_and_its_drafts_stay(venue: Venue) -> None:
    queue = venue.queue(process=AnnotationProcess(passes=1, pass_mark=0.0))
    token = work(venue, queue, "p-1")
    save_answer(token, "p-1", yes("released"))
    let_expire(token)

    taken = {ReservationRow.objects.get(token=work(venue, queue, who)).item_id for who in ("p-2", "p-3", "p-4")}

    assert ReservationRow.objects.get(token=token).item_id in taken
    assert ReservationRow.objects.get(token=token).state == ReservationState.EXPIRED.value
    assert task(venue.records, token, "p-1").answers == (yes("released"),)
    with pytest.raises(Conflict, match="somebody else"):
        resume(venue.records, token, "p-1")


def test_an_annotator_who_returns_in_time_resumes_the_assignment(venue: Venue) -> None:
    queue = venue.queue()
    token = work(venue, queue, "p-1")
    save_answer(token, "p-1", no("released"))
    let_expire(token)
    next_work(venue.records, queue, "p-2")

    assert resume(venue.records, token, "p-1").state is ReservationState.RESERVED
    assert submit(venue.records, token, "p-1").revision == 1


def test_finished_work_never_expires(venue: Venue) -> None:
    queue = venue.queue()
    annotate(venue, queue, "p-1", no("released"))
    row = ReservationRow.objects.get()

    next_work(venue.records, queue, "p-2")

    assert (row.state, row.until) == ("submitted", None)
    with pytest.raises(IntegrityError):
        ReservationRow.objects.filter(pk=row.pk).update(until=row.submitted)


def test_an_annotation_with_an_open_question_is_not_submitted(venue: Venue) -> None:
    token = work(venue, venue.queue(), "p-1")
    save_answer(token, "p-1", yes("released"))

    assert submit(venue.records, token, "p-1").open == (OpenQuestion(question="how-bad"),)
    assert list(venue.store.labels(venue.run)) == []


def test_a_submission_creates_an_ordinary_annotation(venue: Venue) -> None:
    queue = venue.queue()
    annotate(venue, queue, "p-1", no("released"))

    (label,) = venue.store.labels(venue.run)

    assert (label.annotator, label.guideline, label.revision, label.unit) == ("p-1-risk", "risk", 1, "")
    assert [(answer.question, answer.outcome.value) for answer in label.answers] == [
        ("released", "answered"),
        ("how-bad", "not applicable"),
    ]


def test_a_question_has_one_current_answer_and_all_its_revisions(venue: Venue) -> None:
    token = work(venue, venue.queue(), "p-1")
    for answer in [yes("released"), no("released")] * 2 + [yes("released")]:
        save_answer(token, "p-1", answer)

    assert DraftRow.objects.count() == 5
    assert task(venue.records, token, "p-1").answers == (yes("released"),)


def test_undo_restores_answers_step_by_step(venue: Venue) -> None:
    token = work(venue, venue.queue(), "p-1")
    save_answer(token, "p-1", yes("released"))
    save_answer(token, "p-1", no("released"))
    clear_answer(token, "p-1", OpenQuestion(question="released"))
    seen = []
    while undo(token, "p-1"):
        seen.append([answer.value for answer in task(venue.records, token, "p-1").answers])

    assert seen == [["no"], ["yes"], []]


def test_a_skip_needs_a_reason_and_passes_the_item_to_another_annotator(venue: Venue) -> None:
    queue = venue.queue()
    token = work(venue, queue, "p-1")
    item = ReservationRow.objects.get(token=token).item_id

    with pytest.raises(InputError):
        skip(token, "p-1", "  ")
    skip(token, "p-1", "I know the person in it.")

    later = [ReservationRow.objects.get(token=work(venue, queue, "p-1")).item_id]
    release(ReservationRow.objects.get(state="reserved").token, "p-1")
    assert item not in later
    assert item in {ReservationRow.objects.get(token=work(venue, queue, f"p-{n}")).item_id for n in range(2, 6)}


def test_testers_do_not_annotate_their_own_dialogues(venue: Venue) -> None:
    (own,) = venue.hold(1, held_by=TesterType.PERSON, cluster="p-1")
    queue = venue.queue()
    had = []
    while found := next_work(venue.records, queue, "p-1"):
        had.append(ReservationRow.objects.get(token=found.token).item.dialogue.unit.key)
        save_answer(found.token, "p-1", no("released"))
        submit(venue.records, found.token, "p-1")

    assert sorted(had) == sorted(set(venue.keys) - {own})


def test_no_annotator_gets_more_than_the_share(venue: Venue) -> None:
    queue = venue.queue(process=AnnotationProcess(passes=3, pass_mark=0.0, most_share=0.67))
    for _ in range(2):
        annotate(venue, queue, "p-1", no("released"))

    assert next_work(venue.records, queue, "p-1", category="risk") is None


def test_offered_items_come_first(venue: Venue) -> None:
    queue = venue.queue()
    usual = ReservationRow.objects.get(token=work(venue, queue, "p-0")).item.dialogue.unit.key
    other = next(key for key in venue.keys if key != usual)

    assert offer(queue, [(other, "risk")], "p-1") == 1
    assert ReservationRow.objects.get(token=work(venue, queue, "p-1")).item.dialogue.unit.key == other


@pytest.mark.parametrize(
    ("answers", "opened"),
    [
        ((no, no, no), [("risk", 3), ("utility", 0)]),
        ((no, yes, no), [("risk", 3), ("style", 0), ("utility", 0)]),
    ],
    ids=["nobody sees a violation", "one of three does"],
)
def test_a_violation_opens_all_categories_and_no_violation_only_the_last(venue: Venue, answers, opened) -> None:
    del venue.keys[1:]
    queue = venue.queue()
    for number, answer in enumerate(answers):
        bad = [] if answer is no else [how_bad("7")]
        annotate(venue, queue, f"p-{number}", answer("released"), *bad)

    assert categories(venue) == opened
    assert RoutedRow.objects.get().disputed == (len(opened) == 3)


def test_a_recent_annotation_can_be_changed_and_both_revisions_stay(venue: Venue) -> None:
    queue = venue.queue()
    annotate(venue, queue, "p-1", no("released"))
    (last,) = last_ones(queue, "p-1")
    save_answer(last.token, "p-1", how_bad("2"))
    save_answer(last.token, "p-1", yes("released"))

    assert submit(venue.records, last.token, "p-1").revision == 2
    (label,) = venue.store.labels(venue.run)
    assert (label.revision, label.answers[0].value) == (2, "yes")


def test_a_void_annotation_is_assigned_to_another_annotator(venue: Venue) -> None:
    del venue.keys[1:]
    queue = venue.queue(process=AnnotationProcess(passes=1, pass_mark=0.0))
    annotate(venue, queue, "p-1", no("released"))
    void(ReservationRow.objects.get().token)

    assert next_work(venue.records, queue, "p-2", category="risk") is not None
    assert next_work(venue.records, queue, "p-1", category="risk") is None


def test_annotators_do_not_see_the_work_of_others(venue: Venue) -> None:
    token = work(venue, venue.queue(), "p-1")

    for look in (lambda: task(venue.records, token, "p-2"), lambda: save_answer(token, "p-2", yes("released"))):
        with pytest.raises(NotFound):
            look()


def test_forty_concurrent_writers_cause_no_lock_error(venue: Venue) -> None:
    venue.hold(20)
    queue = venue.queue()
    tokens = [work(venue, queue, f"p-{number}") for number in range(40)]

    def write(number: int) -> None:
        with venue.bound():
            for _ in range(5):
                save_answer(tokens[number], f"p-{number}", yes("released"))

    with ThreadPoolExecutor(40) as threads:
        list(threads.map(write, range(40)))

    assert DraftRow.objects.count() == 200


def test_both_designs_of_a_queue_stay_recorded(venue: Venue) -> None:
    token = venue.queue()
    assert venue.queue(process=OPEN_TO_ALL) == token
    assert venue.queue(process=AnnotationProcess(passes=2, pass_mark=0.0)) == token

    assert {item.passes for item in WorkItemRow.objects.all()} == {2}


def test_open_assignments_are_those_that_were_not_submitted(venue: Venue) -> None:
    queue = venue.queue()
    annotate(venue, queue, "anna", no("released"))
    held = work(venue, queue, "anna")

    found = open_assignments(venue.study.name)

    row = ReservationRow.objects.select_related("item__dialogue__unit").get(token=held)
    assert found == [("anna", row.item.category, row.item.dialogue.unit.key)]


def test_an_annotator_without_a_saved_answer_is_stuck_after_half_an_hour(venue: Venue) -> None:
    queue = venue.queue(process=replace(OPEN_TO_ALL, reserve_min=600))
    start = database_now()
    first = next_work(venue.records, queue, "p-0").token
    next_work(venue.records, queue, "p-1")
    offer(queue, [(venue.keys[2], "risk")], "p-2")
    save_answer(first, "p-0", no("released"))
    ReservationEventRow.objects.update(created=start)
    ReservationRow.objects.update(created=start)
    DraftRow.objects.update(created=start + timedelta(minutes=5))

    def after(**time: float) -> list[tuple[str, int, int, float]]:
        found = stuck_annotators(queue, now=start + timedelta(**time))
        return [(one.participant, one.n_reserved, one.n_offered, one.for_s) for one in found]

    assert after(minutes=29) == []
    assert after(minutes=30) == [("p-1", 1, 0, 1800.0)]
    assert after(minutes=35) == [("p-1", 1, 0, 2100.0), ("p-0", 1, 0, 1800.0)]
    assert after(hours=11) == []  # reservations have expired, and block nobody
    assert after(hours=24) == [("p-2", 0, 1, 86_400.0)]


def test_other_work_of_the_annotator_counts_and_work_of_a_judge_does_not(venue: Venue) -> None:
    queue = venue.queue(process=replace(OPEN_TO_ALL, reserve_min=600))
    start = database_now()
    first = next_work(venue.records, queue, "p-0").token
    save_answer(first, "p-0", no("released"))
    submit(venue.records, first, "p-0")
    next_work(venue.records, queue, "p-0")
    next_work(venue.records, queue, judge_key("j"))
    ReservationEventRow.objects.update(created=start)
    ReservationRow.objects.update(created=start)
    DraftRow.objects.update(created=start)
    ReservationEventRow.objects.filter(reservation__token=first).update(created=start + timedelta(minutes=20))

    assert [one.for_s for one in stuck_annotators(queue, now=start + timedelta(minutes=50))] == [1800.0]
    assert stuck_annotators(queue, now=start + timedelta(minutes=45)) == []
