"""Suspecting: programs look through dialogues that come into a queue, and open cases for people to decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import transaction

from theodolite.assessment.capture.naming import names_of
from theodolite.assessment.suspecting import Suspicion, suspicions
from theodolite.domain.annotating.case import CaseAct
from theodolite.store.annotating.cases import redaction_row
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import new_token, queue_of
from theodolite.store.dialogues import dialogues_of
from theodolite.store.ledger import CHUNK, database_now
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import CaseRow, CaseStepRow, RedactionRow, WorkItemRow

DETECTOR = "a program"
"""Who opens such cases."""


def unseen(queue: str, dialogues: Sequence[str]) -> list[str]:
    """Return the keys of those dialogues that are not in a queue yet."""
    known = set(WorkItemRow.objects.filter(queue__token=queue).values_list("dialogue__unit__key", flat=True))
    return [key for key in dialogues if key not in known]


def suspect(library: Library, queue: str, dialogues: Sequence[str]) -> int:
    """Look through dialogues and open a case for whatever is suspected; looking twice opens nothing twice.

    Args:
        library: Where study and dialogues are read.
        queue: Token of the queue; its first category sees personal details all the same, since it judges them.
        dialogues: Keys of dialogues that are stored.

    Returns:
        Cases that are new; count.
    """
    row = queue_of(queue)
    study, design = library.study(row.study_content_id), library.design(row.design_id)
    names, shown_in = names_of(study), (design.first,) if design.first else ()
    n_new = 0
    for start in range(0, len(dialogues), CHUNK):
        rows = list(DialogueRow.objects.filter(unit__key__in=dialogues[start : start + CHUNK]).select_related("unit"))
        numbers = {one.unit.key: one.pk for one in rows}
        found = [
            (numbers[dialogue.key], suspicion)
            for dialogue in dialogues_of([one.unit_id for one in rows], library.contents)
            for suspicion in suspicions(dialogue, names, shown_in=shown_in)
        ]
        n_new += _open(row.study, found)
    return n_new


def _open(study: str, found: Iterable[tuple[int, Suspicion]]) -> int:
    found = list(found)
    seen = CaseRow.objects.filter(dialogue_id__in={number for number, _ in found}, by_detector=True)
    known = set(seen.values_list("dialogue_id", "kind", "turn"))
    new = [(number, one) for number, one in found if (number, one.flag.kind.value, one.flag.turn) not in known]
    with transaction.atomic():
        now = database_now()
        cases = CaseRow.objects.bulk_create(
            CaseRow(
                token=new_token(),
                study=study,
                dialogue_id=number,
                kind=one.flag.kind.value,
                turn=one.flag.turn,
                note=one.flag.note,
                by_detector=True,
            )
            for number, one in new
        )
        CaseStepRow.objects.bulk_create(
            CaseStepRow(case=case, act=CaseAct.OPENED.value, by=DETECTOR, note=case.note, created=now) for case in cases
        )
        RedactionRow.objects.bulk_create(
            redaction_row(case, hidden) for case, (_, one) in zip(cases, new, strict=True) for hidden in one.hidden
        )
    return len(cases)
