"""Progress and agreement: how far the queue has come, and how far people say the same; a diagnosis, never a label."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.domain.agreeing import AnswerStretch, PairAgreement, QuestionAgreement
from theodolite.domain.number import Undefined
from theodolite.domain.role import Role
from theodolite.store.annotating import progress as figures
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.sheet import worded
from theodolite.web.senior.desk import at_senior_desk
from theodolite.web.senior.strips import MARGIN, WIDTH, Strip, place_of, strip_of

HALF_WIDTH = 0.1
"""Half-width of an interval that the planner aims at where nobody says; scale points, a fraction for categories."""

WIDEST = 50.0
"""Half-width at most; scale points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """One question with everything that is drawn of it."""

    name: str
    found: QuestionAgreement
    alike: Strip
    alpha: Strip
    stretches: tuple[tuple[AnswerStretch, Strip], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """Two people, under the letters of this page, at one question."""

    first: str
    second: str
    is_model: bool
    alike: Strip
    alpha: Strip


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def agreement(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show progress by category, and agreement by question of one category."""
    names = [one.name for one in library().design(queue_of(desk.queue).design_id).categories]
    category = request.GET.get("category", "")
    category = category if category in names else names[0]
    found = figures.agreement(library(), desk.queue, category)
    asked = next((one.question for one in found if one.question == request.GET.get("question", "")), "")
    context = {
        "here": desk.here,
        "progress": [(worded(one.category), one) for one in figures.progress(desk.queue)],
        "categories": [(name, worded(name), name == category) for name in names],
        "category": category,
        "title": worded(category),
        "lines": [_line(one) for one in found],
        "width": WIDTH + 2 * MARGIN,
        "zero": place_of(0.0),
        "rooms": [
            (worded(before.question), strip_of(before.alpha), strip_of(after.alpha))
            for _, before, after in figures.calibration(library(), desk.queue)
        ],
    }
    return render(
        request, "web/senior/agreement.html", context | (_asked(request, desk, category, asked) if asked else {})
    )


def _asked(request: HttpRequest, desk: Desk, category: str, question: str) -> dict[str, object]:
    """Return what is shown of one question alone: every two people, judges beside people, and the planner."""
    people = figures.pairs(library(), desk.queue, category, question)
    models = figures.models_beside_people(library(), desk.queue, category, question)
    letters: dict[str, str] = {}
    for one in (*people, *models):
        for name in (one.first, *([] if one.is_model else [one.second])):
            letters.setdefault(name, f"Annotator {len(letters) + 1}")
    half_width = _half_width(request.GET.get("half_width", ""))
    plan = figures.plan_passes(library(), desk.queue, category, question, half_width)
    return {
        "question": question,
        "pairs": [_pair(one, letters) for one in (*people, *models)],
        "half_width": half_width,
        "plan": () if isinstance(plan, Undefined) else plan,
        "no_plan": plan.reason if isinstance(plan, Undefined) else "",
    }


def _half_width(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return HALF_WIDTH
    return found if 0 < found <= WIDEST else HALF_WIDTH


def _line(one: QuestionAgreement) -> QuestionLine:
    stretches = tuple((each, strip_of(each.alpha)) for each in one.over_time)
    return QuestionLine(
        name=worded(one.question), found=one, alike=strip_of(one.alike), alpha=strip_of(one.alpha), stretches=stretches
    )


def _pair(one: PairAgreement, letters: dict[str, str]) -> PairLine:
    return PairLine(
        first=letters[one.first],
        second=f"{one.second} (a model)" if one.is_model else letters[one.second],
        is_model=one.is_model,
        alike=strip_of(one.alike),
        alpha=strip_of(one.alpha),
    )
