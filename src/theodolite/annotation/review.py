"""Review: resolve questions that annotators answered differently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from theodolite.annotation.judges import let_judges_take
from theodolite.annotation.queues import route_on, salt_of
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import discrepancies, letters_for, reviewed
from theodolite.assessment.blinding import blind_name, blinded, mask_for
from theodolite.assessment.redacting import redacted
from theodolite.domain.annotating.discrepancy import DisputedItem, Resolution, ReviewSheet
from theodolite.domain.annotating.work import ItemState, Routed
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, Outcome
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import ScaleKind
from theodolite.store.annotating.queues import SUBMITTED, given_to, item_row
from theodolite.store.annotating.reviews import add_resolution, redactions_of, resolutions_of
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models import AnswerRow
from theodolite.store.models.annotating import ReservationRow, ResolutionRow, WorkItemRow
from theodolite.store.results import replace_adjudication

PAGE = 50
"""Items on one page of the list; count."""


def disputed_items(
    records: RecordCache, queue: str, reader: str, *, category: str = "", page: int = 0
) -> list[DisputedItem]:
    """Return one page of the items that were not answered alike, the most disputed first; for one reader's eyes."""
    items = WorkItemRow.objects.filter(queue__token=queue, disputed__gt=0)
    items = items.filter(category=category) if category else items
    items = items.select_related("queue", "dialogue__unit").order_by("-disputed", "id")
    rows = list(items[page * PAGE : (page + 1) * PAGE])
    counted = ResolutionRow.objects.filter(item__in=rows, current=True).values_list("item_id")
    n_resolved = dict(counted.annotate(n=Count("id")))
    differing = _differing(rows)
    return [
        DisputedItem(
            item=row.token or "",
            category=row.category,
            dialogue=blind_name(row.dialogue.unit.key, reader, row.queue.salt),
            about=tuple(
                question.text
                for question in records.guideline(row.version).instrument.questions
                if question.name in differing[row.pk] and question.scale.kind is not ScaleKind.TEXT
            ),
            n_disputed=row.disputed,
            n_resolved=n_resolved.get(row.pk, 0),
            is_frozen=row.state == ItemState.FROZEN.value,
        )
        for row in rows
    ]


def _differing(rows: Sequence[WorkItemRow]) -> Mapping[int, set[str]]:
    """Return the names of the questions that submitted passes did not answer alike, by item; one query."""
    reservations = ReservationRow.objects.filter(item__in=rows, state=SUBMITTED)
    items = dict(reservations.values_list("annotation_id", "item_id"))
    said: defaultdict[tuple[int, str, int | None], set[tuple[str, str | None]]] = defaultdict(set)
    answers = AnswerRow.objects.filter(annotation_id__in=list(items))
    told = answers.values_list("annotation_id", "question", "turn", "outcome", "value")
    for annotation, question, turn, outcome, value in told:
        said[items[annotation], question, turn].add((outcome, value))
    found: defaultdict[int, set[str]] = defaultdict(set)
    for (item, question, _), ways in said.items():
        if len(ways) > 1:
            found[item].add(question)
    return found


def n_disputed_items(queue: str, *, category: str = "") -> int:
    """Return how many items were not answered alike; count."""
    named = Q(category=category) if category else Q()
    return WorkItemRow.objects.filter(named, queue__token=queue, disputed__gt=0).count()


def review_sheet(records: RecordCache, item: str, reader: str) -> ReviewSheet:
    """Return what a formal review of an item shows: positions without names, in an order of this item's own.

    Raises:
        NotFound: If there is no such item.
    """
    row = item_row(item)
    study, dialogue = records.study(row.queue.study_content_id), records.dialogue(row.dialogue.unit_id)
    guideline = records.guideline(row.version)
    return ReviewSheet(
        item=item,
        guideline=guideline,
        dialogue=blinded(
            redacted(dialogue, redactions_of(row.dialogue_id), row.category),
            blind_name(dialogue.key, reader, row.queue.salt),
            scenario=study.scenario(dialogue.scenario),
            mask=mask_for(study),
        ),
        discrepancies=discrepancies(guideline, given_to(row), salt_of(row)),
        resolutions=resolutions_of(row),
        is_frozen=row.state == ItemState.FROZEN.value,
    )


def people_at(item: str) -> Mapping[str, str]:
    """Return whom the letters of an item's review stand for: letter to opaque key; for the record, not for the page."""
    row = item_row(item)
    return {letter: person for person, letter in letters_for(list(given_to(row)), salt_of(row)).items()}


def open_review(item: str) -> None:
    """Begin the review of an item: from now on nobody changes its answers.

    Raises:
        Conflict: If passes are still outstanding.
        NotFound: If there is no such item.
    """
    with transaction.atomic():
        row = _locked(item)
        if row.state not in {ItemState.COMPLETE.value, ItemState.FROZEN.value}:
            message = f"a review can start when all passes are submitted; this item is {row.state}"
            raise Conflict(message)
        WorkItemRow.objects.filter(pk=row.pk).update(state=ItemState.FROZEN.value)


def resolve(records: RecordCache, item: str, found: Resolution) -> Routed | None:
    """Record what a review found about one question; the last one of a first category sends the dialogue on.

    Recording it again adds a further row. Consensus about the dialogue as a whole
    also becomes a final label, as does its absence.

    Raises:
        Conflict: If the review has not begun.
        InputError: If that question was answered alike, or the value is no point of its scale.
        NotFound: If there is no such item.
    """
    with transaction.atomic():
        row = _locked(item)
        if row.state != ItemState.FROZEN.value:
            message = "start the review first, so that the answers cannot change"
            raise Conflict(message)
        guideline, given = records.guideline(row.version), given_to(row)
        _check(guideline, {(one.question, one.turn) for one in discrepancies(guideline, given, "")}, found)
        add_resolution(row, found)
        if found.turn is None:
            replace_adjudication(row.dialogue.unit.run_id, _adjudication(row, found))
        groups = records.dialogue(row.dialogue.unit_id).groups
        said = reviewed(guideline, given, resolutions_of(row), groups)
        routed = route_on(records, row, said) if said.is_final else None
        let_judges_take(records, row.queue)
        return routed


def reopen(item: str) -> None:
    """End the freeze of an item, e.g. after a quality check: its annotators may change their answers again.

    What the review recorded stays on record; it is looked at anew when the review begins again.
    """
    with transaction.atomic():
        row = _locked(item)
        state = ItemState.COMPLETE if row.done >= row.passes else ItemState.OPEN
        if row.state == ItemState.FROZEN.value:
            WorkItemRow.objects.filter(pk=row.pk).update(state=state.value)


def dissent(queue: str) -> Mapping[str, int]:
    """Return how many discrepancies were left without consensus, by cause; counts."""
    rows = ResolutionRow.objects.filter(item__queue__token=queue, current=True).exclude(cause="")
    return dict(rows.values_list("cause").annotate(n=Count("id")))


def _locked(token: str) -> WorkItemRow:
    one_at_a_time(f"queue {item_row(token).queue.token}")
    return item_row(token)


def _check(guideline: Guideline, disputed: set[tuple[str, int | None]], found: Resolution) -> None:
    if (found.question, found.turn) not in disputed:
        message = f"`{found.question}` (turn {found.turn or 'none'}) has no disagreement to resolve"
        raise InputError(message)
    scale = guideline.instrument.question(found.question).scale
    if found.value is not None and not scale.admits(found.value):
        message = f"the consensus on `{found.question}` must be one of {list(scale.categories)}; got {found.value!r}"
        raise InputError(message)


def _adjudication(row: WorkItemRow, found: Resolution) -> Adjudication:
    return Adjudication(
        dialogue=row.dialogue.unit.key,
        guideline=row.category,
        question=found.question,
        outcome=found.outcome or Outcome.MISSING,
        value=found.value,
        origin=AdjudicationOrigin.CONSENSUS if found.is_consensus else AdjudicationOrigin.NO_CONSENSUS,
        participants=found.participants,
        rationale=found.rationale,
        decided=database_now(),
        raw=found.cause.value if found.cause else "",
    )


def unsettled(study: str) -> frozenset[str]:
    """Return the keys of the dialogues that wait for a pass, or for a review of answers that differ.

    Args:
        study: Name of the study.
    """
    items = WorkItemRow.objects.filter(queue__study=study)
    waiting = items.filter(state__in=[ItemState.OPEN.value, ItemState.ASIDE.value])
    return _keys(waiting) | _keys(_disputed(items))


def _disputed(items: QuerySet[WorkItemRow]) -> QuerySet[WorkItemRow]:
    """Return the items with a question that was not answered alike and of which no review has said anything."""
    resolved = ResolutionRow.objects.filter(item__in=items, current=True).values_list("item_id")
    n_resolved = dict(resolved.annotate(n=Count("id")))
    enough = [
        number
        for number, n_disputed in items.filter(disputed__gt=0).values_list("id", "disputed")
        if n_resolved.get(number, 0) >= n_disputed
    ]
    return items.filter(disputed__gt=0).exclude(id__in=enough)


def _keys(items: QuerySet[WorkItemRow]) -> frozenset[str]:
    return frozenset(items.values_list("dialogue__unit__key", flat=True))
