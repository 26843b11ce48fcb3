"""A withdrawal reaches what annotators wrote, and nobody is led to the dialogue any more."""

from __future__ import annotations

from tests.fakes.annotating import how_bad, yes
from theodolite.store.annotating.drafts import save_answer
from theodolite.store.annotating.taking import next_work
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import DraftRow, WorkItemRow
from theodolite.store.people.forgetting import forget_dialogues


def test_drafts_go_and_items_are_set_aside(venue):
    token = venue.queue()
    taken = next_work(venue.library, token, "anna")
    save_answer(taken.token, "anna", yes("released", 1))
    save_answer(taken.token, "anna", how_bad("7"))
    dialogues = DialogueRow.objects.filter(unit__key__in=venue.keys)

    forget_dialogues(list(dialogues.values_list("unit_id", flat=True)))

    assert not DraftRow.objects.exists()
    assert set(WorkItemRow.objects.values_list("state", flat=True)) == {"set aside"}
    assert next_work(venue.library, token, "ben") is None
