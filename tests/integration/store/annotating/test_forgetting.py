"""A withdrawal reaches what annotators wrote, and nobody is led to the dialogue any more."""

from __future__ import annotations

from tests.fakes.annotating import how_bad, yes
from theodolite.store.annotating.drafts import save_answer
from theodolite.store.annotating.gold import add_gold
from theodolite.store.annotating.taking import next_work, skip
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import DraftRow, GoldRow, ReservationEventRow, ReservationRow, WorkItemRow
from theodolite.store.people.forgetting import forget_dialogues


def forgotten(venue):
    dialogues = DialogueRow.objects.filter(unit__key__in=venue.keys)
    forget_dialogues(list(dialogues.values_list("unit_id", flat=True)))


def test_drafts_go_and_items_are_set_aside(venue):
    token = venue.queue()
    taken = next_work(venue.library, token, "anna")
    save_answer(taken.token, "anna", yes("released", 1))
    save_answer(taken.token, "anna", how_bad("7"))

    forgotten(venue)

    assert not DraftRow.objects.exists()
    assert set(WorkItemRow.objects.values_list("state", flat=True)) == {"set aside"}
    assert next_work(venue.library, token, "ben") is None


def test_known_answers_go_with_the_reasons_why_they_were_right(venue):
    venue.queue()
    item = WorkItemRow.objects.filter(category="risk").first().token
    add_gold(venue.library, item, {("released", None): "yes"}, by="sara", reason="She says it is her sister.")

    forgotten(venue)

    assert not GoldRow.objects.exists()


def test_reasons_for_skipping_are_emptied_and_the_log_keeps_what_happened(venue):
    token = venue.queue()
    taken = next_work(venue.library, token, "anna")
    skip(taken.token, "anna", "He writes about his illness.")

    forgotten(venue)

    assert set(ReservationRow.objects.values_list("reason", flat=True)) == {""}
    events = ReservationEventRow.objects.order_by("id").values_list("state", "by", "reason")
    assert [(state, by) for state, by, _ in events][-1] == ("released", "anna")
    assert {reason for *_, reason in events} == {""}
