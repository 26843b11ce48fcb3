"""Quality check: a sampled annotation is accepted, or goes back with a comment."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import quality, submission
from theodolite.domain.annotating.quality import ReviewVerdict
from theodolite.domain.people.role import Role
from theodolite.store.models.annotating import ReservationRow
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.annotator.positions import said
from theodolite.web.annotator.sheet import sheet_of
from theodolite.web.audit import audit
from theodolite.web.senior.desk import at_senior_desk, page_of


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def check(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Show one annotation without its annotator."""
    found = submission.sitting(library(), claim, _annotator_of(desk, claim))
    sheet = sheet_of(found.guideline, found.dialogue, found.answers)
    context = {
        "here": desk.here,
        "claim": claim,
        "title": worded(found.guideline.name),
        "sheet": sheet,
        "answers": [(item, said(item.answer)) for item in sheet.items if item.is_asked and item.answer],
        "reviews": quality.reviews_of(claim),
        "is_sampled": claim in quality.to_review(library(), desk.queue),
    }
    return render(request, "web/senior/check.html", context)


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def judge(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Accept the annotation, or return it with a comment."""
    _annotator_of(desk, claim)
    verdict = ReviewVerdict.RETURNED if request.POST.get("verdict") == "return" else ReviewVerdict.ACCEPTED
    with transaction.atomic():
        quality.review(claim, verdict, by=desk.participant, comment=request.POST.get("comment", "")[:2000])
        audit(desk.here.account, f"{verdict.value} an annotation", f"reservation {claim}", hosted=desk.here.hosted)
    messages.success(request, f"{verdict.value.capitalize()}.")
    waiting = quality.to_review(library(), desk.queue)
    return redirect(page_of(desk, "check", claim=waiting[0]) if waiting else page_of(desk, "home"))


def _annotator_of(desk: Desk, claim: str) -> str:
    row = ReservationRow.objects.filter(token=claim, item__queue__token=desk.queue, state="submitted")
    found = row.values_list("participant__key", flat=True).first()
    if found is None:
        raise Http404
    return str(found)
