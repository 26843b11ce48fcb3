"""Forgetting: what was said in some dialogues, and what annotators said about it, is deleted."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q

from theodolite.domain.run import UnitState
from theodolite.store.models import (
    AdjudicationRow,
    AdjudicatorRow,
    AnnotationRow,
    AnswerRow,
    AttemptRow,
    DialogueGroupRow,
    DialogueRow,
    JournalEntryRow,
    QuoteRow,
    StrategyRow,
    TurnRow,
    UnitRow,
    VoteRow,
)
from theodolite.store.people.forgetting_work import forget_work

WITHDRAWN = "withdrawn by the person who took part"
"""What stands where a reply about a withdrawn dialogue stood."""


def withdraw_units(unit_ids: Sequence[int]) -> list[int]:
    """Mark session units, those that took them over and all annotations of them as withdrawn; return the sessions."""
    sessions = UnitRow.objects.filter(Q(id__in=unit_ids) | Q(adopted_from_id__in=unit_ids))
    found = dict(sessions.values_list("id", "key"))
    about = UnitRow.objects.filter(subject__in=list(found.values()))
    journals = JournalEntryRow.objects.filter(Q(unit__in=about) | Q(unit_id__in=list(found)))
    journals.update(text="", withheld=WITHDRAWN)
    for units in (about, UnitRow.objects.filter(id__in=list(found))):
        units.update(state=UnitState.WITHDRAWN.value, owner="", lease_until=None)
    return list(found)


def forget_dialogues(unit_ids: Sequence[int]) -> int:
    """Delete what was said in the dialogues of some units and everything that was said about it.

    Returns:
        Answers of annotators that were deleted; count.
    """
    dialogues = list(DialogueRow.objects.filter(unit_id__in=unit_ids).values_list("id", flat=True))
    annotations = list(AnnotationRow.objects.filter(dialogue_id__in=dialogues).values_list("id", flat=True))
    QuoteRow.objects.filter(answer__annotation_id__in=annotations).delete()
    n_answers, _ = AnswerRow.objects.filter(annotation_id__in=annotations).delete()
    VoteRow.objects.filter(annotation_id__in=annotations).delete()
    finals = AdjudicationRow.objects.filter(dialogue_id__in=dialogues)
    AdjudicatorRow.objects.filter(adjudication__in=finals).delete()
    finals.delete()
    AttemptRow.objects.filter(strategy__dialogue_id__in=dialogues).delete()
    StrategyRow.objects.filter(dialogue_id__in=dialogues).delete()
    DialogueGroupRow.objects.filter(dialogue_id__in=dialogues).delete()
    TurnRow.objects.filter(dialogue_id__in=dialogues).delete()
    DialogueRow.objects.filter(id__in=dialogues).update(persona=None)
    forget_work(dialogues)
    return n_answers
