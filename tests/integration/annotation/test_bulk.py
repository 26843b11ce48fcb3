"""Bulk actions follow the rules of single actions and can be undone until work builds on them."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.annotation_queue import OPEN_TO_ALL, Venue, no
from theodolite.annotation import bulk
from theodolite.annotation.assignment import candidates, next_work, offer, skip
from theodolite.annotation.quality import review, to_review
from theodolite.annotation.review import open_review, rooms, vote
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotating.quality import ReviewVerdict
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import InputError
from theodolite.domain.event import AnnotationProcess
from theodolite.store.annotation_queue import queue_of
from theodolite.store.models.annotating import ReservationEventRow, ReservationRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def tokens(**sought: object) -> list[str]:
    return list(WorkItemRow.objects.filter(**sought).order_by("id").values_list("token", flat=True))


def refusals(lines) -> list[str]:
    return [line.refused for line in lines]


def submitted(venue: Venue, queue: str, who: str) -> str:
    work = next_work(venue.records, queue, who, category="risk")
    assert work is not None
    save_answer(work.token, who, no("released"))
    submit(venue.records, work.token, who)
    return work.token


def test_offers_follow_every_rule_and_give_a_reason_for_each_refusal(venue: Venue) -> None:
    venue.hold(1, held_by=TesterType.PERSON, cluster="p-1")
    queue = venue.queue(process=AnnotationProcess(passes=1, pass_mark=0.0, most_share=0.5))
    offer(queue, [(venue.keys[0], "risk")], "p-1")
    skipped = next_work(venue.records, queue, "p-1")
    assert skipped is not None
    skip(skipped.token, "p-1", "known")
    offer(queue, [(venue.keys[1], "risk")], "p-2")
    submitted(venue, queue, "p-2")

    lines = bulk.offer_many(venue.records, queue, [*tokens(category="risk"), "strange"], "p-1", by="sami")

    keys = dict(WorkItemRow.objects.values_list("token", "dialogue__unit__key"))
    told = {keys[line.item]: line.refused for line in lines}
    wanted = ["the annotator had it before", "it is complete", "", "the annotator was the tester of the dialogue"]
    assert told == dict(zip(venue.keys, wanted, strict=True))
    assert [line.made for line in lines if line.made] == [ReservationRow.objects.get(state="offered").token]


def test_offered_items_count_towards_the_share_and_come_first(venue: Venue) -> None:
    venue.hold(5)
    queue = venue.queue(process=AnnotationProcess(passes=2, pass_mark=0.0, most_share=0.5))

    lines = bulk.offer_many(venue.records, queue, tokens(), "p-1", by="sami")

    assert Counter(refusals(lines)) == {"": 4, "the annotator has reached the maximum share of its category": 4}
    first = candidates(venue.records, queue_of(queue), "p-1").first()
    assert first is not None
    assert first.token in {line.item for line in lines if line.made}
    assert WorkItemRow.objects.filter(live__gt=0).count() == 0


def test_separated_categories_of_a_dialogue_are_not_offered_to_one_person(venue: Venue) -> None:
    queue = venue.queue(first="", process=AnnotationProcess(passes=1, pass_mark=0.0, apart=True))

    lines = bulk.offer_many(venue.records, queue, tokens(), "p-1", by="sami")

    assert Counter(refusals(lines)) == {"": 3, "the annotator has annotated another category of the same dialogue": 6}


def test_unaccepted_offers_can_be_revoked_and_made_again(venue: Venue) -> None:
    queue = venue.queue()
    made = [line.made for line in bulk.offer_many(venue.records, queue, tokens(), "p-1", by="sami")]
    assert (
        refusals(bulk.offer_many(venue.records, queue, tokens(), "p-1", by="sami"))
        == ["it is already offered to this annotator"] * 3
    )
    next_work(venue.records, queue, "p-1")

    assert bulk.undo_offers(queue, made, by="sami") == 2
    assert bulk.undo_offers(queue, made, by="sami") == 0
    again = bulk.offer_many(venue.records, queue, tokens(), "p-1", by="sami")
    assert sorted(refusals(again)) == ["", "", "the annotator had it before"]
    assert ReservationEventRow.objects.filter(by="sami", state="released").count() == 2


def test_prioritised_items_come_first_until_the_priority_is_removed(venue: Venue) -> None:
    venue.hold(20)
    queue = venue.queue()
    last = candidates(venue.records, queue_of(queue), "p-1").last()
    assert last is not None

    assert refusals(bulk.put_first(queue, [last.token])) == [""]
    assert refusals(bulk.put_first(queue, [last.token])) == ["it already has priority"]
    assert candidates(venue.records, queue_of(queue), "p-2").first() == last
    assert bulk.undo_first(queue, [last.token]) == 1
    assert candidates(venue.records, queue_of(queue), "p-2").first() != last


def test_open_assignments_and_offers_are_released_and_submitted_work_stays(venue: Venue) -> None:
    queue = venue.queue()
    done = submitted(venue, queue, "p-1")
    held = next_work(venue.records, queue, "p-1")
    assert held is not None
    bulk.offer_many(venue.records, queue, tokens(), "p-3", by="sami")

    lines = bulk.send_back(queue, tokens(), by="sami")

    assert refusals(lines) == ["", "", ""]
    states = Counter(ReservationRow.objects.values_list("state", flat=True))
    assert states == {"submitted": 1, "released": 4}
    assert WorkItemRow.objects.filter(live=1, done=1).count() == 1
    assert ReservationRow.objects.get(token=done).state == "submitted"
    assert set(refusals(bulk.send_back(queue, tokens(), by="sami"))) == {"it is neither reserved nor offered"}


def test_calibration_sessions_open_once_and_close_again_unless_they_have_votes(venue: Venue, monkeypatch) -> None:
    queue = venue.queue()
    made = [line.made for line in bulk.open_rooms(venue.records, queue, tokens(), by="sami")]
    assert {token for token, _, _ in rooms(queue, is_open=True)} == set(made)
    assert set(refusals(bulk.open_rooms(venue.records, queue, tokens(), by="sami"))) == {
        "it already has an open calibration session"
    }
    assert vote(venue.records, made[0], "p-1", [no("released")]) == ()

    assert bulk.undo_rooms(queue, made) == 2
    assert [token for token, _, _ in rooms(queue, is_open=True)] == [made[0]]
    monkeypatch.setattr(bulk, "MOST_ROOMS", 2)
    with pytest.raises(InputError, match="at most 2 calibration sessions"):
        bulk.open_rooms(venue.records, queue, tokens(), by="sami")


def test_a_requested_check_applies_to_all_submissions_until_it_is_done(venue: Venue) -> None:
    queue = venue.queue(process=AnnotationProcess(passes=2, pass_mark=0.0, quality_check=0.0))
    done = submitted(venue, queue, "p-1")
    assert to_review(venue.records, queue) == []

    lines = bulk.ask_for_checks(queue, tokens(), by="sami")

    assert sorted(refusals(lines)) == ["", "it has no submitted annotation yet", "it has no submitted annotation yet"]
    assert to_review(venue.records, queue) == [done]
    review(done, ReviewVerdict.ACCEPTED, by="sami")
    assert to_review(venue.records, queue) == []
    assert bulk.undo_checks(queue, tokens()) == 1
    assert sorted(refusals(bulk.ask_for_checks(queue, tokens(), by="sami"))).count("") == 1


def test_reviews_start_after_all_annotations_and_end_if_they_have_no_statement(venue: Venue) -> None:
    queue = venue.queue(process=AnnotationProcess(passes=1, pass_mark=0.0))
    submitted(venue, queue, "p-1")

    lines = bulk.open_reviews(queue, tokens(category="risk"))

    assert sorted(refusals(lines)) == ["", *["passes are still missing: it is open"] * 2]
    [frozen] = tokens(state="frozen")
    assert refusals(bulk.open_reviews(queue, [frozen])) == ["its review has already started"]
    assert bulk.undo_reviews(queue, [frozen]) == 1
    assert WorkItemRow.objects.get(token=frozen).state == "complete"
    open_review(frozen)


def test_concurrent_offers_and_assignments_never_assign_an_annotation_twice(venue: Venue) -> None:
    venue.hold(7)
    queue = venue.queue(process=OPEN_TO_ALL)

    def work(number: int) -> None:
        with venue.bound():
            who = f"p-{number}"
            bulk.offer_many(venue.records, queue, tokens(), who, by="sami")
            next_work(venue.records, queue, who)
            bulk.send_back(queue, tokens()[:2], by="sami")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    for item in WorkItemRow.objects.all():
        assert item.live == ReservationRow.objects.filter(item=item, state="reserved").count() <= item.passes
