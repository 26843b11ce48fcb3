"""Reviews of disagreements, gold items, questions of annotators and flagged cases."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import cases, quality, queues, review, submission, threads
from theodolite.annotation.listing import case_lines
from theodolite.domain.annotating.case import CaseView, SensitiveCase
from theodolite.domain.annotating.discrepancy import Discrepancy, DissentCause, Resolution, ReviewSheet
from theodolite.domain.annotating.quality import GoldItem, ReviewVerdict
from theodolite.domain.annotating.thread import AnchorKind, FeedbackThread, ThreadEnd
from theodolite.domain.annotation import NON_RESPONSE_OPTIONS, Outcome
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed, audit
from theodolite.web.annotator.annotation_page import Item, annotation_page
from theodolite.web.annotator.context import AnnotatorContext
from theodolite.web.models import Membership
from theodolite.web.questions.answers import CoderAnswer, answer_text, coder_view
from theodolite.web.questions.form import humanize, key_parts, question_key
from theodolite.web.senior.context import Pages, own_item, page_number, page_of, senior_view

CAUSES = (
    (DissentCause.AMBIGUOUS_GUIDELINE, "The guideline is ambiguous"),
    (DissentCause.MISSING_FACT, "A deciding fact is missing"),
    (DissentCause.VALUE_DIFFERENCE, "Different values, both with reasons"),
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
    voices: tuple[CoderAnswer, ...]
    found: Resolution | None
    words: str


@allowed(Role.SENIOR)
@require_GET
@senior_view
def resolution(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Show a dialogue with all positions on what was not answered alike."""
    seen = review.review_sheet(annotator.records, own_item(annotator, item), annotator.participant)
    context = {
        "access": annotator.access,
        "review": seen,
        "sheet": annotation_page(seen.guideline, seen.dialogue, ()),
        "title": humanize(seen.guideline.name),
        "disputes": [_dispute(seen, one) for one in seen.discrepancies],
        "causes": [(cause.value, words) for cause, words in CAUSES],
        "non_response_options": tuple(NON_RESPONSE_OPTIONS),
        "n_known": len(quality.known_from_review(annotator.records, item)),
    }
    return render(request, "web/senior/resolution.html", context)


def _dispute(seen: ReviewSheet, one: Discrepancy) -> Dispute:
    question = seen.guideline.instrument.question(one.question)
    place = (one.question, one.turn)
    found = next((each for each in seen.resolutions if (each.question, each.turn) == place), None)
    return Dispute(
        item=Item(key=question_key(*place), question=question, turn=one.turn, is_asked=True),
        voices=tuple(coder_view(each, question) for each in one.positions),
        found=found,
        words=_in_words(found) if found else "",
    )


def _in_words(found: Resolution) -> str:
    if found.cause is not None:
        return f"No consensus: {found.cause.value}"
    value = found.value or next(word for word, outcome in NON_RESPONSE_OPTIONS.items() if outcome is found.outcome)
    return f"Consensus: {humanize(value)}"


@allowed(Role.SENIOR)
@require_POST
@senior_view
def begin(_request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Begin the review: from now on nobody changes the answers."""
    with transaction.atomic():
        review.open_review(own_item(annotator, item))
        audit(annotator.access.account, "opened a review", f"item {item}", hosted=annotator.access.hosted)
    return redirect(page_of(annotator, "resolution", item=item))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def reopen(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Let annotators change their answers again."""
    with transaction.atomic():
        review.reopen(own_item(annotator, item))
        audit(annotator.access.account, "reopened an item", f"item {item}", hosted=annotator.access.hosted)
    messages.info(request, "Reopened. Earlier results of the review stay on record.")
    return redirect(page_of(annotator, "resolution", item=item))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def resolve(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Record a consensus, or that there is none and why."""
    found = _sent(request, annotator, own_item(annotator, item))
    with transaction.atomic():
        routed = review.resolve(annotator.records, own_item(annotator, item), found)
        verb = "recorded a consensus" if found.is_consensus else "recorded no consensus"
        audit(annotator.access.account, verb, f"item {item}", hosted=annotator.access.hosted, question=found.question)
    messages.success(request, "Recorded." + (f" {routed.reason}." if routed else ""))
    return redirect(page_of(annotator, "resolution", item=item))


def _sent(request: HttpRequest, annotator: AnnotatorContext, item: str) -> Resolution:
    question, turn = key_parts(request.POST.get("place", ""))
    chosen = request.POST.get("found", "")
    cause = next((one for one in DissentCause if chosen == f"cause:{one.value}"), None)
    value = chosen.removeprefix("value:")
    outcome = None if cause else NON_RESPONSE_OPTIONS.get(value, Outcome.ANSWERED)
    return Resolution(
        question=question,
        turn=turn,
        participants=(annotator.participant, *_others(request, item)),
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


@allowed(Role.SENIOR)
@require_GET
@senior_view
def check(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Show one annotation without its annotator."""
    found = submission.task(annotator.records, reservation, quality.annotator_of(annotator.queue, reservation))
    sheet = annotation_page(found.guideline, found.dialogue, found.answers)
    context = {
        "access": annotator.access,
        "reservation": reservation,
        "title": humanize(found.guideline.name),
        "sheet": sheet,
        "answers": [(item, answer_text(item.answer)) for item in sheet.items if item.is_asked and item.answer],
        "reviews": quality.reviews_of(reservation),
        "is_sampled": reservation in quality.to_review(annotator.records, annotator.queue),
    }
    return render(request, "web/senior/check.html", context)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def judge(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Accept the annotation, or return it with a comment."""
    quality.annotator_of(annotator.queue, reservation)
    verdict = ReviewVerdict.RETURNED if request.POST.get("verdict") == "return" else ReviewVerdict.ACCEPTED
    with transaction.atomic():
        quality.review(reservation, verdict, by=annotator.participant, comment=request.POST.get("comment", "")[:2000])
        audit(
            annotator.access.account,
            f"{verdict.value} an annotation",
            f"reservation {reservation}",
            hosted=annotator.access.hosted,
        )
    messages.success(request, f"{verdict.value.capitalize()}.")
    waiting = quality.to_review(annotator.records, annotator.queue)
    return redirect(page_of(annotator, "check", reservation=waiting[0]) if waiting else page_of(annotator, "home"))


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
@senior_view
def gold_list(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show what is known and what annotators made of it."""
    codes = dict(Membership.objects.filter(hosted=annotator.access.hosted).values_list("participant", "token"))
    page = page_number(request)
    found = [_view(one, codes) for one in quality.gold_items(annotator.queue, page=page)]
    pages = Pages(page=page, n=quality.n_gold(annotator.queue), size=quality.PAGE)
    return render(request, "web/senior/gold.html", {"access": annotator.access, "gold": found, "pages": pages})


def _view(one: GoldItem, codes: dict[str, str]) -> GoldView:
    return GoldView(
        gold=one,
        title=humanize(one.category),
        known=tuple((humanize(each.question), each.turn, humanize(each.value)) for each in one.known),
        met=tuple((codes.get(person, person)[:4], right, asked) for person, right, asked in one.met),
    )


@allowed(Role.SENIOR)
@require_POST
@senior_view
def make(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Keep what a review agreed on, and what all answered alike, as known."""
    more = request.POST.get("more", "0")
    if not more.isdecimal() or int(more) > MOST_MORE:
        message = f"enter a number of additional annotators from 0 to {MOST_MORE}; got {more!r}"
        raise InputError(message)
    reason = request.POST.get("reason", "")[:1000]
    with transaction.atomic():
        n = quality.make_gold(
            annotator.records, own_item(annotator, item), by=annotator.participant, reason=reason, more=int(more)
        )
        audit(
            annotator.access.account,
            "added a gold item",
            f"item {item}",
            hosted=annotator.access.hosted,
            answers=n,
            more=int(more),
        )
    messages.success(request, f"{n} answer{'' if n == 1 else 's'} of this dialogue are now gold answers.")
    return redirect(page_of(annotator, "gold"))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def drop(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Forget that answers are known; what people answered stays."""
    with transaction.atomic():
        n = quality.drop_gold(own_item(annotator, item))
        audit(
            annotator.access.account, "removed a gold item", f"item {item}", hosted=annotator.access.hosted, answers=n
        )
    messages.success(request, "Gold item removed. The answers stay.")
    return redirect(page_of(annotator, "gold"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownThread:
    """A thread under a heading that says what it hangs on, and the question in its own words; empty for none."""

    thread: FeedbackThread
    title: str
    ask: str


def _shown_thread(annotator: AnnotatorContext, thread: FeedbackThread) -> ShownThread:
    anchor = thread.anchor
    about = f"turn {anchor.turn}" if anchor.kind is AnchorKind.TURN else f"the {anchor.kind.value}"
    where = f", turn {anchor.turn}" if anchor.turn and anchor.kind is not AnchorKind.TURN else ""
    known = {one.name: one.text for one in annotator.records.guideline(thread.version).instrument.questions}
    title = f"{humanize(anchor.category)}: about {about}{where}"
    return ShownThread(thread=thread, title=title, ask=known.get(anchor.question, ""))


@allowed(Role.SENIOR)
@require_GET
@senior_view
def questions(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the threads that are open, or those that were settled, page by page."""
    n_open, n_ended = threads.n_threads(annotator.queue)
    is_open, page = request.GET.get("view") != "settled", page_number(request)
    found = threads.thread_page(annotator.queue, annotator.participant, is_open=is_open, page=page)
    context = {
        "access": annotator.access,
        "views": [("open", n_open, is_open), ("settled", n_ended, not is_open)],
        "is_open": is_open,
        "threads": [_shown_thread(annotator, one) for one in found],
        "pages": Pages(page=page, n=n_open if is_open else n_ended, size=threads.PAGE),
        "for_guideline": [
            (humanize(category), text) for category, text in threads.settled(annotator.queue, end=ThreadEnd.GUIDELINE)
        ],
        "ends": [(end.name.lower(), end.value) for end in ThreadEnd],
    }
    return render(request, "web/senior/questions.html", context)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def answer(request: HttpRequest, annotator: AnnotatorContext, thread: str) -> HttpResponse:
    """Answer in a thread, and end it where one says so."""
    if not threads.is_thread_of(annotator.queue, thread):
        raise Http404
    text, end = request.POST.get("text", "")[:4000], request.POST.get("end", "")
    with transaction.atomic():
        threads.reply(thread, annotator.participant, text, senior=True)
        ended = next((one for one in ThreadEnd if one.name.lower() == end), None)
        if ended is not None:
            threads.end_thread(thread, ended, by=annotator.participant, text=request.POST.get("settled", "")[:4000])
            audit(
                annotator.access.account,
                "resolved a thread",
                f"thread {thread}",
                hosted=annotator.access.hosted,
                end=ended.value,
            )
    messages.success(request, "Answered." if ended is None else "Answered and resolved.")
    return redirect(page_of(annotator, "questions"))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def open_room(_request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Open a room on the dialogue of an item."""
    with transaction.atomic():
        token = review.open_room_on(annotator.records, own_item(annotator, item), by=annotator.participant)
        audit(annotator.access.account, "opened a calibration session", f"room {token}", hosted=annotator.access.hosted)
    return redirect(reverse("annotator:room", args=[annotator.access.hosted.token, token]))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def room_step(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Reveal the votes of a room, or close it."""
    if room not in {token for token, _, _ in review.rooms(annotator.queue)}:
        raise Http404
    step = request.POST.get("step", "")
    with transaction.atomic():
        if step == "reveal":
            review.reveal(room)
        elif step == "close":
            review.close_room(room)
        audit(annotator.access.account, f"room: {step}", f"room {room}", hosted=annotator.access.hosted)
    return redirect(reverse("annotator:room", args=[annotator.access.hosted.token, room]))


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
    return _case_page(request, annotator, _case(annotator, case), None)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def look(request: HttpRequest, annotator: AnnotatorContext, case: str) -> HttpResponse:
    """Show the original; who looked and why is written down first."""
    found = _case(annotator, case)
    original = cases.original(
        annotator.records, case, by=annotator.participant, reason=request.POST.get("reason", "")[:500]
    )
    audit(annotator.access.account, "viewed an original", f"case {case}", hosted=annotator.access.hosted)
    return _case_page(request, annotator, found, original)


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


def _case_page(
    request: HttpRequest, annotator: AnnotatorContext, found: SensitiveCase, original: Dialogue | None
) -> HttpResponse:
    design = annotator.design
    seats = Membership.objects.filter(hosted=annotator.access.hosted).select_related("account")
    people = {one.participant: one.account for one in seats}
    context = {
        "access": annotator.access,
        "case": found,
        "turns": original.turns if original else (),
        "categories": [(one.name, humanize(one.name)) for one in design.categories],
        "shown_in": sorted({humanize(name) for one in found.redactions for name in one.shown_in}),
        "accesses": [(people.get(one.by, one.by), one) for one in cases.accesses(found.token)],
    }
    return render(request, "web/senior/case.html", context)
