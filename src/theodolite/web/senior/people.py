"""Annotators from above: gold items, speed, drift; and letting somebody in without a test. Shown, never acted on."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import quality, training
from theodolite.domain.annotating.quality import Conscientiousness
from theodolite.domain.annotating.training import Onboarding
from theodolite.domain.people.role import Role
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.audit import audit
from theodolite.web.models import Membership
from theodolite.web.rotations import annotator_rotations
from theodolite.web.senior.desk import at_senior_desk, page_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far an annotator is, and how their work looks.

    Attributes:
        code: Token of their membership.
        read: Which of the texts were acknowledged, in words.
        practised: Categories whose examples they have gone through; count.
        passed: Categories whose test they passed; count.
        n_categories: Categories; count.
        open_to: Titles of the categories that they may work in.
        work: Figures of their work; None before the first submission.
    """

    code: str
    read: str
    practised: int
    passed: int
    n_categories: int
    open_to: tuple[str, ...]
    work: Conscientiousness | None

    @classmethod
    def of(cls, code: str, way: Onboarding, work: Conscientiousness | None) -> Standing:
        """Return the standing of an annotator from their way to the queue and what came of it."""
        read = {"background": way.background_read, "rules": way.rules_read}
        return cls(
            code=code,
            read=" and ".join(name for name, is_read in read.items() if is_read) or "nothing",
            practised=sum(one.practised for one in way.categories),
            passed=sum(one.qualified for one in way.categories),
            n_categories=len(way.categories),
            open_to=tuple(worded(one.category) for one in way.categories if one.category in way.open_to),
            work=work,
        )


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def people(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show how annotators' work looks from above, under the tokens of their memberships."""
    annotators = Membership.objects.filter(hosted=desk.here.hosted, role=Role.ANNOTATOR.value, left_at=None)
    held = list(annotators.order_by("id"))
    row = queue_of(desk.queue)
    ways = training.onboardings(library(), desk.queue, [one.participant for one in held])
    seen = {one.participant: one for one in quality.from_above(library(), desk.queue)}
    standing = [Standing.of(one.token, ways[one.participant], seen.get(one.participant)) for one in held]
    process = library().design(row.design_id).process
    context = {
        "here": desk.here,
        "asks_practice": process.practice,
        "asks_tests": bool(process.pass_mark),
        "people": standing,
        "rotations": annotator_rotations(desk.here.hosted),
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
