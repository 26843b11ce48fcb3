"""Forgetting in the queue: what annotators wrote about withdrawn dialogues, and their place in it."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotating.work import ItemState
from theodolite.store.models.annotating import (
    CaseRow,
    CaseStepRow,
    DraftQuoteRow,
    DraftRow,
    GoldRow,
    PostRow,
    QualityReviewRow,
    RedactionRow,
    ReservationEventRow,
    ReservationRow,
    ResolutionRow,
    ResolverRow,
    RoomPostRow,
    RoomVoteRow,
    ThreadRow,
    WorkItemRow,
)


def forget_work(dialogues: Sequence[int]) -> None:
    """Delete what people wrote about some dialogues while they worked, known answers too, and set their items aside.

    Args:
        dialogues: Numbers of the dialogues' rows.
    """
    DraftQuoteRow.objects.filter(draft__reservation__item__dialogue_id__in=dialogues).delete()
    DraftRow.objects.filter(reservation__item__dialogue_id__in=dialogues).delete()
    RoomVoteRow.objects.filter(room__dialogue_id__in=dialogues).delete()
    RoomPostRow.objects.filter(room__dialogue_id__in=dialogues).delete()
    threads = ThreadRow.objects.filter(reservation__item__dialogue_id__in=dialogues)
    PostRow.objects.filter(thread__in=threads).delete()
    threads.update(text="")
    ResolverRow.objects.filter(resolution__item__dialogue_id__in=dialogues).delete()
    ResolutionRow.objects.filter(item__dialogue_id__in=dialogues).delete()
    QualityReviewRow.objects.filter(reservation__item__dialogue_id__in=dialogues).update(comment="")
    GoldRow.objects.filter(item__dialogue_id__in=dialogues).delete()
    ReservationRow.objects.filter(item__dialogue_id__in=dialogues).update(reason="")
    ReservationEventRow.objects.filter(reservation__item__dialogue_id__in=dialogues).update(reason="")
    RedactionRow.objects.filter(case__dialogue_id__in=dialogues).delete()
    CaseStepRow.objects.filter(case__dialogue_id__in=dialogues).update(note="")
    CaseRow.objects.filter(dialogue_id__in=dialogues).update(words="", note="")
    WorkItemRow.objects.filter(dialogue_id__in=dialogues).update(state=ItemState.ASIDE.value, tester="", disputed=0)


def rename_tester(dialogues: Sequence[int], participant: str) -> None:
    """Give the items of some dialogues the key under which their tester goes from now on."""
    WorkItemRow.objects.filter(dialogue_id__in=dialogues).update(tester=participant)
