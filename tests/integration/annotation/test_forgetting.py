"""A withdrawal deletes texts of annotators, and the dialogue is never assigned again."""

from __future__ import annotations

from tests.fakes.annotation_queue import how_bad, yes
from theodolite.annotation.agreement import all_answers
from theodolite.annotation.assignment import next_work, offer, skip
from theodolite.annotation.cases import close, flag_dialogue
from theodolite.annotation.quality import add_gold, to_review
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotating.case import Flag, FlagKind
from theodolite.domain.event import AnnotationProcess
from theodolite.store.event_withdrawal import forget_dialogues, withdraw_units
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import DraftRow, GoldRow, ReservationEventRow, ReservationRow, WorkItemRow


def forgotten(venue):
    dialogues = DialogueRow.objects.filter(unit__key__in=venue.keys)
    forget_dialogues(list(dialogues.values_list("unit_id", flat=True)))


def test_a_withdrawal_deletes_drafts_and_sets_items_aside(venue):
    token = venue.queue()
    taken = next_work(venue.records, token, "anna")
    save_answer(taken.token, "anna", yes("released", 1))
    save_answer(taken.token, "anna", how_bad("7"))

    forgotten(venue)

    assert not DraftRow.objects.exists()
    assert set(WorkItemRow.objects.values_list("state", flat=True)) == {"set aside"}
    assert next_work(venue.records, token, "ben") is None


def test_a_withdrawal_deletes_gold_answers_with_their_reasons(venue):
    venue.queue()
    item = WorkItemRow.objects.filter(category="risk").first().token
    add_gold(venue.records, item, {("released", None): "yes"}, by="sara", reason="She says it is her sister.")

    forgotten(venue)

    assert not GoldRow.objects.exists()


def test_a_withdrawal_empties_reasons_for_skipping_and_keeps_the_audit_log(venue):
    token = venue.queue()
    taken = next_work(venue.records, token, "anna")
    skip(taken.token, "anna", "He writes about his illness.")

    forgotten(venue)

    assert set(ReservationRow.objects.values_list("reason", flat=True)) == {""}
    events = ReservationEventRow.objects.order_by("id").values_list("state", "by", "reason")
    assert [(state, by) for state, by, _ in events][-1] == ("released", "anna")
    assert {reason for *_, reason in events} == {""}


def withdrawn(venue, key):
    numbers = list(DialogueRow.objects.filter(unit__key=key).values_list("unit_id", flat=True))
    forget_dialogues(withdraw_units(numbers))


def test_cached_figures_are_invalid_after_a_withdrawal(venue):
    queue = venue.queue(first="")
    for key in venue.keys[:2]:
        offer(queue, [(key, "utility")], "anna")
        taken = next_work(venue.records, queue, "anna", category="utility")
        save_answer(taken.token, "anna", yes("useful"))
        submit(venue.records, taken.token, "anna")
    before = len(all_answers(venue.records, queue, "utility").people["useful"])

    withdrawn(venue, venue.keys[0])

    assert (before, len(all_answers(venue.records, queue, "utility").people["useful"])) == (2, 1)


def test_annotations_of_a_withdrawn_dialogue_need_no_check(venue):
    queue = venue.queue(process=AnnotationProcess(passes=1, pass_mark=0.0, quality_check=1.0), first="")
    offer(queue, [(venue.keys[0], "utility")], "anna")
    taken = next_work(venue.records, queue, "anna")
    save_answer(taken.token, "anna", yes("useful"))
    submit(venue.records, taken.token, "anna")
    assert to_review(venue.records, queue) == [taken.token]

    withdrawn(venue, venue.keys[0])

    assert to_review(venue.records, queue) == []


def test_closing_a_case_restores_no_withdrawn_dialogue(venue):
    queue = venue.queue()
    case = flag_dialogue("spoilers", venue.keys[0], Flag(kind=FlagKind.PII), by="sami")
    withdrawn(venue, venue.keys[0])

    close(case, by="sami")

    item = WorkItemRow.objects.get(queue__token=queue, dialogue__unit__key=venue.keys[0])
    assert item.state == "set aside"
