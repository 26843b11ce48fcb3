"""Progress and agreement: how far the queue has come, and how far people say the same; a diagnosis, never a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.annotation import agreement as figures
from theodolite.domain.findings.agreeing import AnswerStretch, QuestionAgreement
from theodolite.domain.findings.order_effect import OrderEffect
from theodolite.domain.people.role import Role
from theodolite.reporting.words.order_effects import moved_text
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.senior.desk import at_senior_desk
from theodolite.web.senior.strips import MARGIN, WIDTH, Bar, Strip, bar_of, place_of, strip_of


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """One question with everything that is drawn of it."""

    name: str
    ask: str
    found: QuestionAgreement
    alike: Strip
    alpha: Strip
    given: Bar
    stretches: tuple[tuple[AnswerStretch, Strip], ...]
    moved: tuple[str, ...]


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def agreement(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show progress by category, and agreement by question of one category."""
    design = library().design(queue_of(desk.queue).design_id)
    names = [one.name for one in design.categories]
    asked = design.category(request.GET.get("category", "")) or design.categories[0]
    category = asked.name
    texts = {one.name: one.text for one in library().guideline(asked.version).instrument.questions}
    found = figures.agreement(library(), desk.queue, category)
    orders = figures.orders(library(), desk.queue, category)
    context = {
        "here": desk.here,
        "progress": [(worded(one.category), one) for one in figures.progress(desk.queue)],
        "categories": [(name, worded(name), name == category) for name in names],
        "category": category,
        "title": worded(category),
        "lines": [_line(one, texts.get(one.question, ""), orders.get(one.question, ())) for one in found],
        "width": WIDTH + 2 * MARGIN,
        "zero": place_of(0.0),
        "rooms": [
            (worded(before.question), strip_of(before.alpha), strip_of(after.alpha))
            for _, before, after in figures.calibration(library(), desk.queue)
        ],
    }
    return render(request, "web/senior/agreement.html", context)


def _line(one: QuestionAgreement, ask: str, orders: Sequence[OrderEffect]) -> QuestionLine:
    stretches = tuple((each, strip_of(each.alpha)) for each in one.over_time)
    return QuestionLine(
        name=worded(one.question),
        ask=ask,
        found=one,
        alike=strip_of(one.alike),
        alpha=strip_of(one.alpha),
        given=bar_of(one.prevalence),
        stretches=stretches,
        moved=tuple(moved_text(effect) for effect in orders if effect.is_clear),
    )
