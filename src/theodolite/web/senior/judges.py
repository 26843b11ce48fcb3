"""Judges beside people: what each says that people say, its certificate, and whether it may take passes."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import agreement
from theodolite.annotation.judges import demote, promote, standings
from theodolite.annotation.rules import most_by_judges
from theodolite.domain.annotating.promotion import BesidePeople, Demotion, JudgeStanding, Promotion
from theodolite.domain.people.role import Role
from theodolite.reporting.terminal.certificates import certificate_text
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.audit import audit
from theodolite.web.senior.desk import at_senior_desk, page_of
from theodolite.web.senior.strips import Strip, strip_of

COLUMNS = 76
"""Width of a certificate; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """One question: judge and people."""

    title: str
    n_people: int
    alike: Strip
    alpha: Strip
    people: Strip


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeView:
    """One judge as the page shows it.

    Attributes:
        standing: Where it stands.
        title: Its guideline in words.
        certificate: The certificate's text; empty without one.
        lines: Question by question.
        past: What was decided, in words, in order.
        is_in_queue: Whether people annotate by its guideline here.
    """

    standing: JudgeStanding
    title: str
    certificate: str
    lines: tuple[QuestionLine, ...]
    past: tuple[str, ...]
    is_in_queue: bool


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def judges(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show the judges of the study, each beside people."""
    row = queue_of(desk.queue)
    process = library().design(row.design_id).process
    context = {
        "here": desk.here,
        "judges": [_view(desk, one) for one in standings(library(), row)],
        "passes": process.passes,
        "most": most_by_judges(process, process.passes),
    }
    return render(request, "web/senior/judges.html", context)


def _view(desk: Desk, standing: JudgeStanding) -> JudgeView:
    is_in_queue = library().design(queue_of(desk.queue).design_id).category(standing.guideline) is not None
    found = agreement.beside_people(library(), desk.queue, standing) if is_in_queue and standing.n_read else ()
    certificate = standing.certificate
    return JudgeView(
        standing=standing,
        title=worded(standing.guideline),
        certificate=certificate_text(certificate, width=COLUMNS) if certificate else "",
        lines=tuple(map(_line, found)),
        past=tuple(map(_decision, standing.past)),
        is_in_queue=is_in_queue,
    )


def _line(one: BesidePeople) -> QuestionLine:
    return QuestionLine(
        title=worded(one.question),
        n_people=one.n_people,
        alike=strip_of(one.alike),
        alpha=strip_of(one.alpha),
        people=strip_of(one.people),
    )


def _decision(one: Promotion | Demotion) -> str:
    verb = "Promoted" if isinstance(one, Promotion) else "Withdrawn"
    return f"{verb}: {one.reason}"


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def decide(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Promote a judge, or withdraw that."""
    judge, reason = request.POST.get("judge", "")[:200], request.POST.get("reason", "")[:1000]
    with transaction.atomic():
        if request.POST.get("step") == "promote":
            promote(library(), desk.queue, judge, by=desk.participant, reason=reason)
            verb, told = "promoted a judge", f"{judge} is promoted. What it says stays marked as a model's."
        else:
            n = demote(library(), desk.queue, judge, by=desk.participant, reason=reason)
            verb = "withdrew a judge"
            told = f"{judge} is a shadow again. {n} of its passes {'is' if n == 1 else 'are'} open for people."
        audit(desk.here.account, verb, f"judge {judge}", hosted=desk.here.hosted)
    messages.success(request, told)
    return redirect(page_of(desk, "judges"))
