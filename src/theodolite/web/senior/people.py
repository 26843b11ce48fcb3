"""Annotators from above: gold items, speed, drift; and letting somebody in without a test. Shown, never acted on."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.domain.role import Role
from theodolite.store.annotating import reviews, training
from theodolite.store.annotating.qualified import qualified_among
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.sheet import worded
from theodolite.web.audit import audit
from theodolite.web.models import Membership
from theodolite.web.senior.desk import at_senior_desk, page_of


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def people(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show how annotators' work looks from above, under the tokens of their memberships."""
    annotators = Membership.objects.filter(hosted=desk.here.hosted, role=Role.ANNOTATOR.value, left_at=None)
    held = list(annotators.order_by("id"))
    row = queue_of(desk.queue)
    open_to = qualified_among(library(), row, [one.participant for one in held])
    seen = {one.participant: one for one in reviews.from_above(desk.queue)}
    context = {
        "here": desk.here,
        "people": [
            (one.token, seen.get(one.participant), [worded(name) for name in open_to[one.participant]]) for one in held
        ],
        "categories": [(one.name, worded(one.name)) for one in library().design(row.design_id).categories],
    }
    return render(request, "web/senior/people.html", context)


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def admit(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Let an annotator into a category without a test, with a reason."""
    held = Membership.objects.filter(
        hosted=desk.here.hosted, role=Role.ANNOTATOR.value, token=request.POST.get("who", "")
    ).first()
    if held is None:
        raise Http404
    category, reason = request.POST.get("category", ""), request.POST.get("reason", "")[:500]
    with transaction.atomic():
        training.admit(library(), desk.queue, held.participant, category, by=desk.participant, reason=reason)
        audit(desk.here.account, "let in", f"membership {held.token}", hosted=desk.here.hosted, category=category)
    messages.success(request, "Let in.")
    return redirect(page_of(desk, "people"))
