"""Bulk actions on the dialogues of a list: one result each, and undo as a whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import bulk, listing
from theodolite.annotation.listing import Listing
from theodolite.domain.annotating.work import BulkAct, BulkLine
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.annotator.context import AnnotatorContext
from theodolite.web.models import Batch, BatchLine, Membership
from theodolite.web.questions.form import humanize
from theodolite.web.senior.context import Pages, page_number
from theodolite.web.senior.dialogues import ACTS, annotators_of, filters_of, list_view

PAGE = 100
"""Lines on one page of what became of a batch; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineView:
    """The result of a bulk action for one dialogue and category; `item` is its page."""

    item: str
    name: str
    category: str
    refused: str


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def act(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Do something with all dialogues that were chosen."""
    access = annotator.access
    action = next((bulk_act for bulk_act in BulkAct if bulk_act.value == request.POST.get("act", "")), None)
    if action is None or access.role not in ACTS[action].roles:
        raise Http404
    items = _chosen(request, annotator)
    if not items:
        message = "nothing was selected; select some dialogues, or all results"
        raise InputError(message)
    whom = _whom(request, access) if action is BulkAct.OFFER else None
    with transaction.atomic():
        lines = _done(annotator, action, items, whom)
        batch = _kept(access, action, lines, whom)
        facts = {"done": batch.n_done, "not": batch.n_refused}
        audit(access.account, f"bulk action: {action.value}", f"batch {batch.token}", hosted=access.hosted, **facts)
    return redirect("senior:batch", study=access.hosted.token, batch=batch.token)


def _chosen(request: HttpRequest, annotator: AnnotatorContext) -> list[str]:
    """Return the tokens of the work items that were chosen: of ticked dialogues, of a page, or of all found."""
    sought = filters_of(QueryDict(request.POST.get("query", "")[:2000]), annotator.access)
    listed = None
    if request.POST.get("which") != "all":
        listed = request.POST.getlist("shown" if request.POST.get("which") == "page" else "dialogue")[: listing.PAGE]
    matches = Listing.of(annotator.records, annotator.queue, sought.filter)
    return matches.item_tokens(listed, category=request.POST.get("category", ""))


def _whom(request: HttpRequest, access: AccessContext) -> Membership:
    memberships = Membership.objects.filter(hosted=access.hosted, role=Role.ANNOTATOR.value, left_at=None)
    membership = memberships.filter(token=request.POST.get("whom", "")).first()
    if membership is None:
        message = "choose an annotator"
        raise InputError(message)
    return membership


def _done(annotator: AnnotatorContext, bulk_act: BulkAct, items: list[str], whom: Membership | None) -> list[BulkLine]:
    queue, by = annotator.queue, annotator.participant
    match bulk_act:
        case BulkAct.OFFER:
            return bulk.offer_many(annotator.records, queue, items, whom.participant if whom else "", by=by)
        case BulkAct.FIRST:
            return bulk.put_first(queue, items)
        case BulkAct.BACK:
            return bulk.send_back(queue, items, by=by)
        case BulkAct.ROOM:
            return bulk.open_rooms(annotator.records, queue, items, by=by)
        case BulkAct.CHECK:
            return bulk.ask_for_checks(queue, items, by=by)
        case BulkAct.REVIEW:
            return bulk.open_reviews(queue, items)


def _kept(access: AccessContext, bulk_act: BulkAct, lines: list[BulkLine], whom: Membership | None) -> Batch:
    n_refused = sum(bool(line.refused) for line in lines)
    batch = Batch.objects.create(
        hosted=access.hosted,
        account=access.account,
        act=bulk_act.value,
        whom=whom.token if whom else "",
        n_done=len(lines) - n_refused,
        n_refused=n_refused,
    )
    BatchLine.objects.bulk_create(
        [BatchLine(batch=batch, item=line.item, made=line.made, refused=line.refused) for line in lines], batch_size=500
    )
    return batch


@allowed(Role.SENIOR, Role.ORGANISER)
@require_GET
@list_view
def batch(request: HttpRequest, annotator: AnnotatorContext, batch: str) -> HttpResponse:
    """Show what became of each dialogue, what was refused first."""
    row = _batch(annotator, batch)
    page, size = page_number(request), row.n_done + row.n_refused
    lines = list(row.lines.order_by("-refused", "id")[page * PAGE : (page + 1) * PAGE])
    reasons = Counter(dict(row.lines.exclude(refused="").values_list("refused").annotate(n=Count("id")).order_by()))
    people = dict(annotators_of(annotator.access))
    context = {
        "access": annotator.access,
        "batch": row,
        "words": ACTS[row.as_act],
        "whom": people.get(row.whom, "former member") if row.whom else "",
        "reasons": reasons.most_common(),
        "lines": _views(annotator, lines),
        "pages": Pages(page=page, n=size, size=PAGE),
        "may_undo": row.as_act.is_undoable and row.n_done and not row.undone_at and _may(annotator, row),
    }
    return render(request, "web/senior/batch.html", context)


def _views(annotator: AnnotatorContext, lines: list[BatchLine]) -> list[LineView]:
    names = listing.item_names([line.item for line in lines], annotator.participant)
    return [
        LineView(item=line.item, name=name, category=humanize(category), refused=line.refused)
        for line in lines
        for name, category in [names[line.item]]
    ]


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def undo(request: HttpRequest, annotator: AnnotatorContext, batch: str) -> HttpResponse:
    """Undo a batch, except for lines with later changes."""
    with transaction.atomic():
        row = _batch(annotator, batch, is_locked=True)
        if not _may(annotator, row):
            raise Http404
        if row.undone_at or not row.as_act.is_undoable:
            message = "it is already undone" if row.undone_at else "this action cannot be undone"
            raise Conflict(message)
        row.n_undone, row.undone_at = _undone(annotator, row), timezone.now()
        row.save()
        facts = {"undone": row.n_undone}
        audit(
            annotator.access.account, "undid a bulk action", f"batch {batch}", hosted=annotator.access.hosted, **facts
        )
    messages.success(request, f"{row.n_undone} of {row.n_done} {ACTS[row.as_act].undone}.")
    return redirect("senior:batch", study=annotator.access.hosted.token, batch=batch)


def _undone(annotator: AnnotatorContext, batch: Batch) -> int:
    made = list(batch.lines.exclude(made="").values_list("made", flat=True))
    match batch.as_act:
        case BulkAct.OFFER:
            return bulk.undo_offers(annotator.queue, made, by=annotator.participant)
        case BulkAct.FIRST:
            return bulk.undo_first(annotator.queue, made)
        case BulkAct.ROOM:
            return bulk.undo_rooms(annotator.queue, made)
        case BulkAct.CHECK:
            return bulk.undo_checks(annotator.queue, made)
        case BulkAct.REVIEW:
            return bulk.undo_reviews(annotator.queue, made)
        case BulkAct.BACK:
            return 0


def _batch(annotator: AnnotatorContext, token: str, *, is_locked: bool = False) -> Batch:
    rows = annotator.access.hosted.batches.select_for_update() if is_locked else annotator.access.hosted.batches
    row = rows.filter(token=token).first()
    if row is None:
        raise Http404
    return row


def _may(annotator: AnnotatorContext, batch: Batch) -> bool:
    return annotator.access.role in ACTS[batch.as_act].roles
