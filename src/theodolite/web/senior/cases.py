"""Sensitive cases: restrict, redact, notify and close; originals stay, and every look is recorded."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import cases, queues
from theodolite.annotation.listing import case_lines
from theodolite.domain.annotating.case import CaseView, SensitiveCase
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed, audit
from theodolite.web.annotator.context import AnnotatorContext
from theodolite.web.annotator.questions import worded
from theodolite.web.models import Membership
from theodolite.web.senior.context import Pages, page_number, page_of, senior_view


@allowed(Role.SENIOR)
@require_GET
@senior_view
def case_list(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the cases of the study: what programs suggest, what is open, what is closed; never the words themselves."""
    study = queues.study_name(annotator.queue)
    counts = cases.n_cases(study)
    view = next((one for one in CaseView if one.name.lower() == request.GET.get("view", "")), CaseView.OPEN)
    page = page_number(request)
    context = {
        "access": annotator.access,
        "views": [(one.name.lower(), one.value, counts[one], one is view) for one in CaseView],
        "view": view.name.lower(),
        "cases": case_lines(annotator.records, annotator.queue, view, reader=annotator.participant, page=page),
        "pages": Pages(page=page, n=counts[view], size=cases.PAGE),
    }
    return render(request, "web/senior/cases.html", context)


@allowed(Role.SENIOR)
@require_GET
@senior_view
def case(request: HttpRequest, annotator: AnnotatorContext, case: str) -> HttpResponse:
    """Show a case and its steps, without the dialogue."""
    return _shown(request, annotator, _case(annotator, case), None)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def look(request: HttpRequest, annotator: AnnotatorContext, case: str) -> HttpResponse:
    """Show the original; who looked and why is written down first."""
    found = _case(annotator, case)
    original = cases.original(
        annotator.records, case, by=annotator.participant, reason=request.POST.get("reason", "")[:500]
    )
    audit(annotator.access.account, "looked at an original", f"case {case}", hosted=annotator.access.hosted)
    return _shown(request, annotator, found, original)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def act(request: HttpRequest, annotator: AnnotatorContext, case: str) -> HttpResponse:
    """Confirm, dismiss, restrict, redact, notify or close."""
    _case(annotator, case)
    step, note = request.POST.get("step", ""), request.POST.get("note", "")[:1000]
    with transaction.atomic():
        _done(request, annotator, case, step, note)
        audit(annotator.access.account, f"case: {step}", f"case {case}", hosted=annotator.access.hosted)
    messages.success(request, "Done.")
    return redirect(page_of(annotator, "case", case=case))


def _done(request: HttpRequest, annotator: AnnotatorContext, case: str, step: str, note: str) -> None:
    by = annotator.participant
    plain = {"restrict": cases.restrict, "confirm": cases.confirm, "dismiss": cases.dismiss, "close": cases.close}
    if step in plain:
        plain[step](case, by=by, note=note)
    elif step == "redact":
        shown_in = [name for name in request.POST.getlist("shown_in") if name]
        cases.redact(annotator.records, case, request.POST.get("words", ""), by=by, shown_in=shown_in, note=note)
    elif step == "notify":
        cases.notify(case, by=by, note=note)
    else:
        raise Http404


def _case(annotator: AnnotatorContext, token: str) -> SensitiveCase:
    """Return a case of this study; others do not exist."""
    if not cases.is_case_of(queues.study_name(annotator.queue), token):
        raise Http404
    return cases.case_of(token)


def _shown(
    request: HttpRequest, annotator: AnnotatorContext, found: SensitiveCase, original: Dialogue | None
) -> HttpResponse:
    design = annotator.design
    seats = Membership.objects.filter(hosted=annotator.access.hosted).select_related("account")
    people = {one.participant: one.account for one in seats}
    context = {
        "access": annotator.access,
        "case": found,
        "turns": original.turns if original else (),
        "categories": [(one.name, worded(one.name)) for one in design.categories],
        "shown_in": sorted({worded(name) for one in found.redactions for name in one.shown_in}),
        "accesses": [(people.get(one.by, one.by), one) for one in cases.accesses(found.token)],
    }
    return render(request, "web/senior/case.html", context)
