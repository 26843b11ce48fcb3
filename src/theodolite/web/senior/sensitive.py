"""Cases: what was flagged is restricted, redacted, told on and closed; originals stay and looking is recorded."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import cases
from theodolite.annotation.listing import case_lines
from theodolite.domain.annotating.case import CaseView, SensitiveCase
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.people.role import Role
from theodolite.store.annotating.queues import queue_of
from theodolite.store.models.annotating import CaseRow
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.audit import audit
from theodolite.web.models import Membership
from theodolite.web.senior.desk import at_senior_desk, page_of
from theodolite.web.senior.paging import Pages, page_number


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def case_list(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show the cases of the study: what programs suggest, what is open, what is closed; never the words themselves."""
    study = queue_of(desk.queue).study
    counts = cases.n_cases(study)
    view = next((one for one in CaseView if one.name.lower() == request.GET.get("view", "")), CaseView.OPEN)
    page = page_number(request)
    context = {
        "here": desk.here,
        "views": [(one.name.lower(), one.value, counts[one], one is view) for one in CaseView],
        "view": view.name.lower(),
        "cases": case_lines(library(), desk.queue, view, reader=desk.participant, page=page),
        "pages": Pages(page=page, n=counts[view], size=cases.PAGE),
    }
    return render(request, "web/senior/cases.html", context)


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def case(request: HttpRequest, desk: Desk, case: str) -> HttpResponse:
    """Show a case and its steps, without the dialogue."""
    return _shown(request, desk, _case(desk, case), None)


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def look(request: HttpRequest, desk: Desk, case: str) -> HttpResponse:
    """Show the original; who looked and why is written down first."""
    found = _case(desk, case)
    original = cases.original(library(), case, by=desk.participant, reason=request.POST.get("reason", "")[:500])
    audit(desk.here.account, "looked at an original", f"case {case}", hosted=desk.here.hosted)
    return _shown(request, desk, found, original)


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def act(request: HttpRequest, desk: Desk, case: str) -> HttpResponse:
    """Confirm, dismiss, restrict, redact, notify or close."""
    _case(desk, case)
    step, note = request.POST.get("step", ""), request.POST.get("note", "")[:1000]
    with transaction.atomic():
        _done(request, case, step, by=desk.participant, note=note)
        audit(desk.here.account, f"case: {step}", f"case {case}", hosted=desk.here.hosted)
    messages.success(request, "Done.")
    return redirect(page_of(desk, "case", case=case))


def _done(request: HttpRequest, case: str, step: str, *, by: str, note: str) -> None:
    plain = {"restrict": cases.restrict, "confirm": cases.confirm, "dismiss": cases.dismiss, "close": cases.close}
    if step in plain:
        plain[step](case, by=by, note=note)
    elif step == "redact":
        shown_in = [name for name in request.POST.getlist("shown_in") if name]
        cases.redact(library(), case, request.POST.get("words", ""), by=by, shown_in=shown_in, note=note)
    elif step == "notify":
        cases.notify(case, by=by, note=note)
    else:
        raise Http404


def _case(desk: Desk, token: str) -> SensitiveCase:
    """Return a case of this study; others do not exist."""
    if not CaseRow.objects.filter(token=token, study=queue_of(desk.queue).study).exists():
        raise Http404
    return cases.case_of(token)


def _shown(request: HttpRequest, desk: Desk, found: SensitiveCase, original: Dialogue | None) -> HttpResponse:
    design = library().design(queue_of(desk.queue).design_id)
    seats = Membership.objects.filter(hosted=desk.here.hosted).select_related("account")
    people = {one.participant: one.account for one in seats}
    context = {
        "here": desk.here,
        "case": found,
        "turns": original.turns if original else (),
        "categories": [(one.name, worded(one.name)) for one in design.categories],
        "shown_in": sorted({worded(name) for one in found.redactions for name in one.shown_in}),
        "accesses": [(people.get(one.by, one.by), one) for one in cases.accesses(found.token)],
    }
    return render(request, "web/senior/case.html", context)
