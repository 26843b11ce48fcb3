"""The repository of sensitive cases: cases, their steps and their redactions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from theodolite.domain.annotating.case import (
    CaseAct,
    CaseStep,
    CaseView,
    Flag,
    FlagKind,
    Redaction,
    SensitiveCase,
    TurnText,
)
from theodolite.domain.errors import NotFound
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import CaseRow, CaseStepRow, RedactionRow
from theodolite.store.reading import grouped

_SEPARATOR = "\n"


def redactions_of(dialogue_id: int) -> tuple[Redaction, ...]:
    """Return everything that is hidden in a dialogue, whichever case it belongs to; nothing of dismissed ones."""
    return redactions_in([dialogue_id]).get(dialogue_id, ())


def redactions_in(dialogue_ids: Collection[int]) -> dict[int, tuple[Redaction, ...]]:
    """Return everything that is hidden in many dialogues, by dialogue; those with nothing to hide are left out."""
    dismissed = CaseStepRow.objects.filter(case__dialogue_id__in=dialogue_ids, act=CaseAct.DISMISSED.value)
    rows = RedactionRow.objects.filter(case__dialogue_id__in=dialogue_ids).exclude(case__in=dismissed.values("case_id"))
    found: defaultdict[int, list[Redaction]] = defaultdict(list)
    for row in rows.select_related("case").order_by("id"):
        found[row.case.dialogue_id].append(redaction_of(row))
    return {dialogue: tuple(hidden) for dialogue, hidden in found.items()}


def cases_in_study(study: str) -> QuerySet[CaseRow]:
    """Return the cases of a study, the latest first."""
    return CaseRow.objects.filter(study=study).select_related("dialogue__unit").order_by("-id")


def cases_in_view(study: str, view: CaseView) -> QuerySet[CaseRow]:
    """Return the cases of a study that a view holds, the latest first."""
    steps = CaseStepRow.objects.filter(case=OuterRef("pk")).order_by("-id")
    rows = cases_in_study(study).annotate(last=Subquery(steps.values("act")[:1]))
    shut = [CaseAct.CLOSED.value, CaseAct.DISMISSED.value]
    by_people = Exists(steps.exclude(act=CaseAct.OPENED.value))
    match view:
        case CaseView.SUGGESTED:
            return rows.filter(~by_people, by_detector=True)
        case CaseView.OPEN:
            return rows.filter(Q(by_detector=False) | by_people).exclude(last__in=shut)
        case CaseView.CLOSED:
            return rows.filter(last__in=shut)


def case_row(token: str) -> CaseRow:
    """Return the row of a case.

    Raises:
        NotFound: If there is none under that token.
    """
    row = CaseRow.objects.filter(token=token).select_related("dialogue__unit").first()
    if row is None:
        message = f"no case has the token `{token}`"
        raise NotFound(message)
    return row


def add_step(row: CaseRow, act: CaseAct, by: str, note: str) -> None:
    """Record a step of a case."""
    CaseStepRow.objects.create(case=row, act=act.value, by=by, note=note, created=database_now())


def cases_of(rows: Sequence[CaseRow]) -> list[SensitiveCase]:
    """Return cases as records, with their steps and redactions."""
    steps = grouped(CaseStepRow.objects.filter(case__in=rows).order_by("id"), "case_id")
    hidden = grouped(RedactionRow.objects.filter(case__in=rows).order_by("id"), "case_id")
    return [
        SensitiveCase(
            token=row.token,
            dialogue=row.dialogue.unit.key,
            flag=Flag(
                kind=FlagKind(row.kind), turn=row.turn, words=row.words, note=row.note, by_detector=row.by_detector
            ),
            steps=tuple(
                CaseStep(act=CaseAct(step.act), by=step.by, at=step.created, note=step.note)
                for step in steps.get(row.pk, [])
            ),
            redactions=tuple(map(redaction_of, hidden.get(row.pk, []))),
        )
        for row in rows
    ]


def redaction_row(case: CaseRow, one: Redaction) -> RedactionRow:
    """Return what keeps a redaction of a case."""
    return RedactionRow(
        case=case,
        turn=one.turn,
        side=one.side.value,
        start=one.start,
        end=one.end,
        shown_in=_SEPARATOR.join(one.shown_in),
    )


def redaction_of(row: RedactionRow) -> Redaction:
    """Return a redaction as a record."""
    return Redaction(
        turn=row.turn,
        side=TurnText(row.side),
        start=row.start,
        end=row.end,
        shown_in=tuple(row.shown_in.split(_SEPARATOR)) if row.shown_in else (),
    )
