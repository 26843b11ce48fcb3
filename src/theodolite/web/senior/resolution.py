"""Resolution: positions side by side without names; a consensus or its absence is recorded, answers stay untouched."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import quality, review
from theodolite.domain.annotating.discrepancy import Discrepancy, DissentCause, Resolution, ReviewSheet
from theodolite.domain.annotation import WAYS_OUT, Outcome
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import Item, key_of, place_of, worded
from theodolite.web.annotator.positions import Voice, voice_of
from theodolite.web.annotator.sheet import sheet_of
from theodolite.web.audit import audit
from theodolite.web.senior.desk import at_senior_desk, own_item, page_of

CAUSES = (
    (DissentCause.AMBIGUOUS_GUIDELINE, "The guideline can be read in two ways"),
    (DissentCause.MISSING_FACT, "A fact is missing that would decide it"),
    (DissentCause.VALUE_DIFFERENCE, "We value it differently, and both have reasons"),
)
"""Why there may be no consensus, in the words of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """One discrepancy as the page shows it.

    Attributes:
        item: The question at its place, with its choices.
        voices: What stands under each letter.
        found: What the review recorded; None so far.
        words: The same in words; empty for nothing.
    """

    item: Item
    voices: tuple[Voice, ...]
    found: Resolution | None
    words: str


@allowed(Role.SENIOR)
@require_GET
@at_senior_desk
def resolution(request: HttpRequest, desk: Desk, item: str) -> HttpResponse:
    """Show a dialogue with all positions on what was not answered alike."""
    seen = review.review_sheet(library(), own_item(desk, item), desk.participant)
    context = {
        "here": desk.here,
        "review": seen,
        "sheet": sheet_of(seen.guideline, seen.dialogue, ()),
        "title": worded(seen.guideline.name),
        "disputes": [_dispute(seen, one) for one in seen.discrepancies],
        "causes": [(cause.value, words) for cause, words in CAUSES],
        "ways_out": tuple(WAYS_OUT),
        "n_known": len(quality.known_from_review(library(), item)),
    }
    return render(request, "web/senior/resolution.html", context)


def _dispute(seen: ReviewSheet, one: Discrepancy) -> Dispute:
    question = seen.guideline.instrument.question(one.question)
    place = (one.question, one.turn)
    found = next((each for each in seen.resolutions if (each.question, each.turn) == place), None)
    return Dispute(
        item=Item(key=key_of(*place), question=question, turn=one.turn, is_asked=True),
        voices=tuple(voice_of(each, question) for each in one.positions),
        found=found,
        words=_in_words(found) if found else "",
    )


def _in_words(found: Resolution) -> str:
    if found.cause is not None:
        return f"No consensus: {found.cause.value}"
    return f"Consensus: {worded(found.value or next(word for word, one in WAYS_OUT.items() if one is found.outcome))}"


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def begin(_request: HttpRequest, desk: Desk, item: str) -> HttpResponse:
    """Begin the review: from now on nobody changes the answers."""
    with transaction.atomic():
        review.open_review(own_item(desk, item))
        audit(desk.here.account, "opened a review", f"item {item}", hosted=desk.here.hosted)
    return redirect(page_of(desk, "resolution", item=item))


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def reopen(request: HttpRequest, desk: Desk, item: str) -> HttpResponse:
    """Let annotators change their answers again."""
    with transaction.atomic():
        review.reopen(own_item(desk, item))
        audit(desk.here.account, "reopened an item", f"item {item}", hosted=desk.here.hosted)
    messages.info(request, "Open again. What the review recorded stays on record.")
    return redirect(page_of(desk, "resolution", item=item))


@allowed(Role.SENIOR)
@require_POST
@at_senior_desk
def resolve(request: HttpRequest, desk: Desk, item: str) -> HttpResponse:
    """Record a consensus, or that there is none and why."""
    found = _sent(request, desk, own_item(desk, item))
    with transaction.atomic():
        routed = review.resolve(library(), own_item(desk, item), found)
        verb = "recorded a consensus" if found.is_consensus else "recorded no consensus"
        audit(desk.here.account, verb, f"item {item}", hosted=desk.here.hosted, question=found.question)
    messages.success(request, "Recorded." + (f" {routed.reason}." if routed else ""))
    return redirect(page_of(desk, "resolution", item=item))


def _sent(request: HttpRequest, desk: Desk, item: str) -> Resolution:
    question, turn = place_of(request.POST.get("place", ""))
    chosen = request.POST.get("found", "")
    cause = next((one for one in DissentCause if chosen == f"cause:{one.value}"), None)
    value = chosen.removeprefix("value:")
    outcome = None if cause else WAYS_OUT.get(value, Outcome.ANSWERED)
    return Resolution(
        question=question,
        turn=turn,
        participants=(desk.participant, *_others(request, item)),
        rationale=request.POST.get("rationale", "")[:4000],
        outcome=outcome,
        value=value if outcome is Outcome.ANSWERED else None,
        cause=cause,
    )


def _others(request: HttpRequest, item: str) -> tuple[str, ...]:
    """Return who else took part: letters stand for annotators of this item; other names are kept as written."""
    letters = review.people_at(item)
    names = (name.strip()[:80] for name in request.POST.get("others", "").split(",") if name.strip())
    return tuple(letters.get(name.upper(), name) for name in names)
