"""One question from close by: who said what, who agrees with whom, where people are divided, what more would take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from theodolite.annotation.agreement import QuestionFigures, attributes, question_figures
from theodolite.domain.errors import InputError
from theodolite.domain.findings.agreeing import GroupAgreement, PairAgreement, UnitSpread
from theodolite.domain.findings.number import Undefined
from theodolite.domain.findings.order_effect import OrderEffect
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.people.role import Role
from theodolite.measurement.annotating import MOST_IN_PAIRS
from theodolite.reporting.words.order_effects import shift_text, side_text
from theodolite.store.models.annotating import WorkItemRow
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.senior.desk import at_senior_desk, page_of
from theodolite.web.senior.paging import Pages, page_number
from theodolite.web.senior.strips import MARGIN, WIDTH, Bar, Strip, bar_of, place_of, strip_of

HALF_WIDTH = 0.1
"""Half-width of an interval that the planner aims at where nobody says; scale points, a fraction for categories."""

WIDEST = 50.0
"""Half-width at most; scale points."""

PAGE = 25
"""Dialogues on one page of the divided ones; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterLine:
    """One annotator, under the number of this page."""

    number: int
    n_answers: int
    n_without_value: int
    alike: Strip
    given: Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """Two annotators under the numbers of this page, or one and a judge."""

    first: str
    second: str
    alike: Strip
    alpha: Strip


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedLine:
    """One dialogue or turn with the spread of its labels; `item` leads to its review."""

    item: str
    turn: int | None
    n: int
    given: Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """What stood elsewhere, the answers given either way, and how far they moved; in words."""

    factor: str
    first: str
    second: str
    shift: str
    is_clear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """People who describe themselves alike."""

    found: GroupAgreement
    within: Strip
    across: Strip


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def raters(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show one question from close by."""
    if not request.GET.get("question"):
        return redirect(page_of(desk, "agreement"))
    figures = _figures(request, desk)
    numbers = {one.annotator: place for place, one in enumerate(figures.raters(), 1)}
    found, again = figures.agreement(), figures.repeated()
    divided, page = figures.divided(), page_number(request)
    context = {
        "here": desk.here,
        "category": figures.category,
        "title": worded(figures.category),
        "question": figures.asked.name,
        "name": worded(figures.asked.name),
        "text": figures.asked.text,
        "found": found,
        "alike": strip_of(found.alike),
        "alpha": strip_of(found.alpha),
        "again": again and (strip_of(again.alike), strip_of(again.alpha), again.n_shared),
        "raters": [
            RaterLine(
                number=numbers[one.annotator],
                n_answers=one.n_answers,
                n_without_value=one.n_without_value,
                alike=strip_of(one.alike),
                given=bar_of(one.prevalence),
            )
            for one in figures.raters()
        ],
        "orders": [_order(one) for one in figures.orders()],
        "divided": _divided(desk, figures.category, divided[page * PAGE : (page + 1) * PAGE]),
        "pages": Pages(page=page, n=len(divided), size=PAGE),
        "width": WIDTH + 2 * MARGIN,
        "zero": place_of(0.0),
    }
    rest = _paired(request, figures, numbers) | _grouped(request, desk, figures) | _planned(request, figures)
    return render(request, "web/senior/raters.html", context | rest)


def _order(one: OrderEffect) -> OrderLine:
    return OrderLine(
        factor=one.factor.value.capitalize(),
        first=side_text(one.first),
        second=side_text(one.second),
        shift=shift_text(one),
        is_clear=one.is_clear,
    )


def _figures(request: HttpRequest, desk: Desk) -> QuestionFigures:
    try:
        found = question_figures(
            library(), desk.queue, request.GET.get("category", ""), request.GET.get("question", "")
        )
    except InputError as error:
        raise Http404 from error
    if found.asked.scale.kind is ScaleKind.TEXT:
        raise Http404
    return found


def _paired(request: HttpRequest, figures: QuestionFigures, numbers: dict[str, int]) -> dict[str, object]:
    """Return every two where they are few, else the pairs of the one who is asked for; judges are always there."""
    asked = next((name for name, number in numbers.items() if str(number) == request.GET.get("annotator", "")), "")
    is_shown = len(numbers) <= MOST_IN_PAIRS or asked
    people = figures.pairs(asked) if is_shown else ()
    return {
        "pairs": [_pair(one, numbers) for one in (*people, *figures.models_beside_people())],
        "is_shown": is_shown,
        "asked": numbers.get(asked),
        "numbers": numbers.values(),
    }


def _pair(one: PairAgreement, numbers: dict[str, int]) -> PairLine:
    return PairLine(
        first=f"Annotator {numbers[one.first]}",
        second=f"{one.second} (a model)" if one.is_model else f"Annotator {numbers[one.second]}",
        alike=strip_of(one.alike),
        alpha=strip_of(one.alpha),
    )


def _divided(desk: Desk, category: str, found: Iterable[UnitSpread]) -> list[DividedLine]:
    shown = list(found)
    items = WorkItemRow.objects.filter(
        queue__token=desk.queue, category=category, dialogue_id__in=[one.dialogue for one in shown]
    )
    tokens = dict(items.values_list("dialogue_id", "token"))
    return [
        DividedLine(item=tokens.get(one.dialogue) or "", turn=one.turn, n=one.n, given=bar_of(one.counts))
        for one in shown
    ]


def _grouped(request: HttpRequest, desk: Desk, figures: QuestionFigures) -> dict[str, object]:
    """Return how people who describe themselves alike agree, by the attribute that is asked for."""
    known = sorted(attributes(desk.queue))
    asked = request.GET.get("attribute", "")
    found = figures.groups(asked) if asked in known else ()
    lines = [GroupLine(found=one, within=strip_of(one.within), across=strip_of(one.across)) for one in found]
    return {"attributes": [(name, worded(name), name == asked) for name in known], "groups": lines}


def _planned(request: HttpRequest, figures: QuestionFigures) -> dict[str, object]:
    half_width = _half_width(request.GET.get("half_width", ""))
    try:
        plan = figures.plan(half_width)
    except InputError as error:
        plan = Undefined(reason=str(error))
    return {
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
