"""Annotators and judges of a queue: status, quality figures, admission and promotion."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import agreement, quality, training
from theodolite.annotation.judges import demote, promote, standings
from theodolite.annotation.rules import most_by_judges
from theodolite.domain.annotating.promotion import BesidePeople, Demotion, JudgeStanding, Promotion
from theodolite.domain.annotating.quality import Conscientiousness, Onboarding
from theodolite.domain.event import Role
from theodolite.reporting.terminal.judges import validation_text
from theodolite.web.access import allowed, audit
from theodolite.web.annotator.context import AnnotatorContext
from theodolite.web.charts import IntervalBar, interval_bar
from theodolite.web.models import Membership
from theodolite.web.questions.form import humanize
from theodolite.web.rotations import annotator_rotations
from theodolite.web.senior.context import page_of, senior_view


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorStatus:
    """Status and quality of one annotator.

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
    def of(cls, code: str, way: Onboarding, work: Conscientiousness | None) -> AnnotatorStatus:
        """Return the standing of an annotator from their way to the queue and what came of it."""
        read = {"background": way.background_read, "rules": way.rules_read}
        return cls(
            code=code,
            read=" and ".join(name for name, is_read in read.items() if is_read) or "nothing",
            practised=sum(category.practised for category in way.categories),
            passed=sum(category.qualified for category in way.categories),
            n_categories=len(way.categories),
            open_to=tuple(
                humanize(category.category) for category in way.categories if category.category in way.open_to
            ),
            work=work,
        )


@allowed(Role.SENIOR)
@require_GET
@senior_view
def people(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show how annotators' work looks from above, under the tokens of their memberships."""
    annotators = Membership.objects.filter(hosted=annotator.access.hosted, role=Role.ANNOTATOR.value, left_at=None)
    memberships = list(annotators.order_by("id"))
    ways = training.onboardings(
        annotator.records, annotator.queue, [membership.participant for membership in memberships]
    )
    seen = {check.participant: check for check in quality.from_above(annotator.records, annotator.queue)}
    standing = [
        AnnotatorStatus.of(membership.token, ways[membership.participant], seen.get(membership.participant))
        for membership in memberships
    ]
    design = annotator.design
    process = design.process
    context = {
        "access": annotator.access,
        "asks_practice": process.practice,
        "asks_tests": bool(process.pass_mark),
        "people": standing,
        "rotations": annotator_rotations(annotator.access.hosted),
        "categories": [(category.name, humanize(category.name)) for category in design.categories],
    }
    return render(request, "web/senior/people.html", context)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def admit(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Qualify an annotator for a category without a test, with a reason."""
    membership = Membership.objects.filter(
        hosted=annotator.access.hosted, role=Role.ANNOTATOR.value, token=request.POST.get("who", "")
    ).first()
    if membership is None:
        raise Http404
    category, reason = request.POST.get("category", ""), request.POST.get("reason", "")[:500]
    with transaction.atomic():
        training.admit(
            annotator.records,
            annotator.queue,
            membership.participant,
            category,
            by=annotator.participant,
            reason=reason,
        )
        audit(
            annotator.access.account,
            "admitted",
            f"membership {membership.token}",
            hosted=annotator.access.hosted,
            category=category,
        )
    messages.success(request, "Admitted.")
    return redirect(page_of(annotator, "people"))


COLUMNS = 76
"""Width of a validation report; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """One question: judge and people."""

    title: str
    n_people: int
    alike: IntervalBar
    alpha: IntervalBar
    people: IntervalBar


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeView:
    """One judge as the page shows it.

    Attributes:
        standing: Where it stands.
        title: Its guideline in words.
        validation_report: The text of the report; empty without one.
        lines: Question by question.
        past: What was decided, in words, in order.
        is_in_queue: Whether people annotate by its guideline here.
    """

    standing: JudgeStanding
    title: str
    validation_report: str
    lines: tuple[QuestionLine, ...]
    past: tuple[str, ...]
    is_in_queue: bool


@allowed(Role.SENIOR)
@require_GET
@senior_view
def judges(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the judges of the study, each beside people."""
    process = annotator.design.process
    context = {
        "access": annotator.access,
        "judges": [_view(annotator, standing) for standing in standings(annotator.records, annotator.queue)],
        "passes": process.passes,
        "most": most_by_judges(process, process.passes),
    }
    return render(request, "web/senior/judges.html", context)


def _view(annotator: AnnotatorContext, standing: JudgeStanding) -> JudgeView:
    is_in_queue = annotator.design.category(standing.guideline) is not None
    comparisons = (
        agreement.beside_people(annotator.records, annotator.queue, standing) if is_in_queue and standing.n_read else ()
    )
    validation_report = standing.validation_report
    return JudgeView(
        standing=standing,
        title=humanize(standing.guideline),
        validation_report=validation_text(validation_report, width=COLUMNS) if validation_report else "",
        lines=tuple(map(_line, comparisons)),
        past=tuple(map(_decision, standing.past)),
        is_in_queue=is_in_queue,
    )


def _line(beside_people: BesidePeople) -> QuestionLine:
    return QuestionLine(
        title=humanize(beside_people.question),
        n_people=beside_people.n_people,
        alike=interval_bar(beside_people.alike),
        alpha=interval_bar(beside_people.alpha),
        people=interval_bar(beside_people.people),
    )


def _decision(promotion: Promotion | Demotion) -> str:
    verb = "Promoted" if isinstance(promotion, Promotion) else "Withdrawn"
    return f"{verb}: {promotion.reason}"


@allowed(Role.SENIOR)
@require_POST
@senior_view
def decide(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Promote a judge, or withdraw that."""
    judge, reason = request.POST.get("judge", "")[:200], request.POST.get("reason", "")[:1000]
    with transaction.atomic():
        if request.POST.get("step") == "promote":
            promote(annotator.records, annotator.queue, judge, by=annotator.participant, reason=reason)
            verb, texts = "promoted a judge", f"{judge} is promoted. Its labels stay marked as a model's."
        else:
            n = demote(annotator.records, annotator.queue, judge, by=annotator.participant, reason=reason)
            verb = "withdrew a judge"
            texts = f"{judge} is no longer promoted. {n} of its passes {'is' if n == 1 else 'are'} open for people."
        audit(annotator.access.account, verb, f"judge {judge}", hosted=annotator.access.hosted)
    messages.success(request, texts)
    return redirect(page_of(annotator, "judges"))
