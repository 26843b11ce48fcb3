"""Categories that follow from unsubmitted answers to the first category, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.annotation_queue import Venue, how_bad, no, yes
from theodolite.annotation.assignment import next_work, release, sequence_of
from theodolite.annotation.submission import following_tasks, save, save_answer, submit, submit_sequence, task, undo
from theodolite.domain.annotating.work import AnnotatorTask, ReservationState
from theodolite.domain.event import AnnotationProcess, Route
from theodolite.domain.instrument import OpenQuestion
from theodolite.store.models.annotating import DraftRow, ReservationEventRow, ReservationRow, RoutedRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

ALONE = AnnotationProcess(passes=1, pass_mark=0.0)


@pytest.fixture
def token(venue: Venue) -> str:
    """Ana's reservation of the first category of the only dialogue."""
    del venue.keys[1:]
    return reserve(venue, ALONE)


def reserve(venue: Venue, process: AnnotationProcess) -> str:
    found = next_work(venue.records, venue.queue(process=process), "ana-1", is_sequence=True)
    assert found is not None
    return found.token


def following(venue: Venue, token: str) -> tuple[AnnotatorTask, ...]:
    return following_tasks(venue.records, task(venue.records, token, "ana-1"), "ana-1")


def names(venue: Venue, token: str) -> list[str]:
    return [one.reservation.category for one in following(venue, token)]


def answer_useful(venue: Venue, token: str) -> None:
    (utility,) = following(venue, token)
    save(utility, "ana-1", OpenQuestion(question="useful", turn=None), yes("useful"))


def test_nothing_follows_while_questions_of_the_first_category_are_open(venue: Venue, token: str) -> None:
    assert names(venue, token) == []
    save_answer(token, "ana-1", yes("released"))

    assert names(venue, token) == []


def test_saved_answers_lead_to_categories_that_nobody_else_sees(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", no("released"))
    assert names(venue, token) == ["utility"]
    save_answer(token, "ana-1", yes("released"))
    save_answer(token, "ana-1", how_bad("7"))

    assert names(venue, token) == ["style", "utility"]
    assert list(WorkItemRow.objects.values_list("category", "live", "done")) == [("risk", 1, 0)]
    assert RoutedRow.objects.count() == 0


def test_a_changed_route_hides_answers_and_undo_brings_them_back(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", no("released"))
    answer_useful(venue, token)
    save_answer(token, "ana-1", yes("released"))
    assert names(venue, token) == []

    assert undo(token, "ana-1") == OpenQuestion(question="released", turn=None)
    (utility,) = following(venue, token)
    assert (utility.answers, utility.open) == ((yes("useful"),), ())
    assert task(venue.records, token, "ana-1").answers == (no("released"),)


def test_one_submission_stores_all_categories_of_the_route(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", no("released"))
    assert not submit_sequence(venue.records, token, sequence_of(venue.records, token, "ana-1"), "ana-1")
    assert RoutedRow.objects.count() == 0
    answer_useful(venue, token)

    assert submit_sequence(venue.records, token, sequence_of(venue.records, token, "ana-1"), "ana-1")
    labels = {label.guideline: label.answers for label in venue.store.labels(venue.run)}
    assert (labels["risk"][0], labels["utility"]) == (no("released"), (yes("useful"),))
    assert list(WorkItemRow.objects.order_by("id").values_list("category", "state")) == [
        ("risk", "complete"),
        ("utility", "complete"),
    ]
    assert RoutedRow.objects.get().violation is False


def test_the_time_of_work_on_a_following_category_starts_with_the_first_one(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", no("released"))
    answer_useful(venue, token)
    submit_sequence(venue.records, token, (token,), "ana-1")

    reserved = ReservationEventRow.objects.filter(state=ReservationState.RESERVED.value)
    assert len({row.created for row in reserved}) == 1 < reserved.count()


def test_a_submission_of_the_first_category_alone_keeps_the_answers_to_the_others(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", no("released"))
    answer_useful(venue, token)

    submit(venue.records, token, "ana-1")

    own = ReservationRow.objects.get(item__category="utility")
    assert own.state == ReservationState.RESERVED.value
    assert task(venue.records, own.token, "ana-1").answers == (yes("useful"),)


def test_a_route_that_changed_before_the_submission_takes_no_item_of_the_other_one(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", yes("released"))
    save_answer(token, "ana-1", how_bad("7"))
    style = following(venue, token)[0]
    for turn in (1, 2):
        save(style, "ana-1", OpenQuestion(question="friendly", turn=turn), yes("friendly", turn))
    save_answer(token, "ana-1", no("released"))
    answer_useful(venue, token)

    assert submit_sequence(venue.records, token, (token,), "ana-1")
    assert sorted(WorkItemRow.objects.values_list("category", flat=True)) == ["risk", "utility"]
    assert DraftRow.objects.filter(question="style/friendly").count() == 2


def test_released_work_keeps_the_answers_for_the_same_annotator(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", no("released"))
    answer_useful(venue, token)
    release(token, "ana-1")

    again = reserve(venue, ALONE)
    assert again == token
    assert following(venue, again)[0].answers == (yes("useful"),)


@pytest.mark.parametrize(
    "process",
    [replace(ALONE, passes=2), replace(ALONE, apart=True), replace(ALONE, route=Route.ADJUDICATED)],
    ids=["two annotators", "different people for each category", "a review decides"],
)
def test_nothing_follows_where_the_route_or_the_annotator_depends_on_others(
    venue: Venue, process: AnnotationProcess
) -> None:
    del venue.keys[1:]
    token = reserve(venue, process)
    save_answer(token, "ana-1", yes("released"))
    save_answer(token, "ana-1", how_bad("7"))

    assert names(venue, token) == []


def test_nothing_follows_after_the_first_category_is_submitted(venue: Venue, token: str) -> None:
    save_answer(token, "ana-1", no("released"))
    submit(venue.records, token, "ana-1")

    assert names(venue, token) == []
