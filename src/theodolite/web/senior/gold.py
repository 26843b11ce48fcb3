"""Gold: items of which answers are known, what annotators made of them, making and dropping them."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import quality
from theodolite.domain.annotating.quality import GoldItem
from theodolite.domain.errors import InputError
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded
from theodolite.web.audit import audit
from theodolite.web.models import Membership
from theodolite.web.senior.desk import at_senior_desk, own_item, page_of
from theodolite.web.senior.paging import Pages, page_number

MOST_MORE = 20
"""Further annotators who may be asked to meet a gold item; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldView:
    """One gold item as the page shows it.

    Attributes:
        gold: The item.
        title: Its category in words.
        known: Question, turn and value in words.
        met: Code of each annotator, right answers and all that are known.
    """

    gold: GoldItem
    title: str
    known: tuple[tuple[str, int | None, str], ...]
    met: tuple[tuple[str, int, int], ...]


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def gold_list(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show what is known and what annotators made of it."""
    codes = dict(Membership.objects.filter(hosted=desk.here.hosted).values_list("participant", "token"))
    page = page_number(request)
    found = [_view(one, codes) for one in quality.gold_items(desk.queue, page=page)]
    pages = Pages(page=page, n=quality.n_gold(desk.queue), size=quality.PAGE)
    return render(request, "web/senior/gold.html", {"here": desk.here, "gold": found, "pages": pages})


def _view(one: GoldItem, codes: dict[str, str]) -> GoldView:
    return GoldView(
        gold=one,
        title=worded(one.category),
        known=tuple((worded(each.question), each.turn, worded(each.value)) for each in one.known),
        met=tuple((codes.get(person, person)[:4], right, asked) for person, right, asked in one.met),
    )


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def make(request: HttpRequest, desk: Desk, item: str) -> HttpResponse:
    """Keep what a review agreed on, and what all answered alike, as known."""
    more = request.POST.get("more", "0")
    if not more.isdecimal() or int(more) > MOST_MORE:
        message = f"say how many more people shall meet it, from 0 to {MOST_MORE}; got {more!r}"
        raise InputError(message)
    reason = request.POST.get("reason", "")[:1000]
    with transaction.atomic():
        n = quality.make_gold(library(), own_item(desk, item), by=desk.participant, reason=reason, more=int(more))
        audit(desk.here.account, "made gold", f"item {item}", hosted=desk.here.hosted, answers=n, more=int(more))
    messages.success(request, f"{n} answer{'' if n == 1 else 's'} of this dialogue count as known.")
    return redirect(page_of(desk, "gold"))


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def drop(request: HttpRequest, desk: Desk, item: str) -> HttpResponse:
    """Forget that answers are known; what people answered stays."""
    with transaction.atomic():
        n = quality.drop_gold(own_item(desk, item))
        audit(desk.here.account, "dropped gold", f"item {item}", hosted=desk.here.hosted, answers=n)
    messages.success(request, "No longer known. What people answered stays.")
    return redirect(page_of(desk, "gold"))
