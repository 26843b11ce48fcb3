"""A sitting: one dialogue and the questions of one category, answered one by one and then submitted."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import assignment, cases, submission, threads
from theodolite.domain.annotating.case import Flag, FlagKind
from theodolite.domain.annotating.thread import Anchor, AnchorKind
from theodolite.domain.annotating.work import ReservationState
from theodolite.domain.errors import InputError
from theodolite.domain.instrument import OpenQuestion
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, at_desk, library, wants_json
from theodolite.web.annotator.items import Item, key_of, place_of
from theodolite.web.annotator.languages import spoken
from theodolite.web.annotator.reading import Unreadable, answer_in
from theodolite.web.annotator.shown import ShownSitting, shown
from theodolite.web.annotator.topics import must_choose, touched_by

UNPROCESSABLE = 422


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def take(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Take the next dialogue, or come back to the one that is held; who was never asked about topics is asked first."""
    if must_choose(desk):
        return redirect(desk.address("topics"))
    found = assignment.next_work(library(), desk.queue, desk.participant, category=request.POST.get("category", ""))
    if found is None:
        messages.info(request, "Nothing waits for you just now.")
        return redirect(desk.address("home"))
    return redirect(desk.address("sheet", claim=found.token))


@allowed(Role.ANNOTATOR)
@require_GET
@at_desk
def sheet(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Show a dialogue with its questions."""
    assignment.resume(library(), claim, desk.participant)
    return _page(request, desk, claim, start=request.GET.get("at", ""))


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def answer(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Save an answer, or all answers of a page without scripts."""
    seen = shown(desk, claim)
    problems = {item.key: problem for item in _sent(request, seen) if (problem := _keep(request, desk, seen, item))}
    if wants_json(request):
        return _told(shown(desk, claim), problem=next(iter(problems.values()), ""))
    if problems:
        return _page(request, desk, claim, problems=problems, problem="Not everything could be saved.")
    messages.success(request, "Saved.")
    return redirect(desk.address("sheet", claim=claim))


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def undo(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Take back the last thing that was saved."""
    place = submission.undo(claim, desk.participant)
    seen = shown(desk, claim)
    key = key_of(place.question, place.turn) if place else ""
    if not wants_json(request):
        return redirect(f"{desk.address('sheet', claim=claim)}?at={key}")
    item = seen.sheet.item(key)
    return _told(seen, undone=_as_before(item) if item else None, problem="" if place else "Nothing to undo.")


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def submit(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Submit, and take the next dialogue; with open answers, go to the first of them."""
    seen = shown(desk, claim)
    problems = {item.key: problem for item in seen.sheet.items if (problem := _keep(request, desk, seen, item))}
    done = None if problems else submission.submit(library(), claim, desk.participant)
    if done is None or done.open:
        still = shown(desk, claim).sheet.open
        missing = dict.fromkeys(still, "This is still open.") | problems
        words = f"Not submitted: {len(missing)} {'answer is' if len(missing) == 1 else 'answers are'} open or unclear."
        return _page(request, desk, claim, problems=missing, problem=words)
    again = assignment.next_work(library(), desk.queue, desk.participant)
    if again is None:
        messages.success(request, "Submitted. Nothing else waits for you just now.")
        return redirect(desk.address("home"))
    messages.success(request, "Submitted. This is the next one.")
    return redirect(desk.address("sheet", claim=again.token))


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def release(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Give a dialogue back; its answers are kept."""
    assignment.release(claim, desk.participant)
    messages.info(request, "Given back. Your answers are kept in case it comes to you again.")
    return redirect(desk.address("home"))


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def skip(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Give a dialogue to somebody else, with a reason."""
    assignment.skip(claim, desk.participant, request.POST.get("reason", "")[:500])
    messages.info(request, "Skipped. Somebody else will get it.")
    return redirect(desk.address("home"))


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def flag(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Flag something for the senior annotators; the dialogue stays with its annotator."""
    sent = request.POST
    kind = next((one for one in FlagKind if one.value == sent.get("kind")), None)
    if kind is None:
        message = "say what it is: one of the kinds of flags"
        raise InputError(message)
    turn = sent.get("turn", "")
    raised = Flag(kind=kind, turn=int(turn) if turn.isdecimal() else None, note=sent.get("note", "").strip()[:1000])
    cases.flag(claim, desk.participant, raised)
    messages.success(request, "Flagged. A senior annotator will look at it.")
    return redirect(desk.address("sheet", claim=claim))


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def comment(request: HttpRequest, desk: Desk, claim: str) -> HttpResponse:
    """Ask the senior annotators about a question, a turn, the dialogue or the guideline, or go on in one's thread."""
    seen, thread = shown(desk, claim), request.POST.get("thread", "")
    if thread:
        threads.reply(thread, desk.participant, request.POST.get("text", "")[:2000])
        messages.success(request, "Sent.")
        return redirect(desk.address("sheet", claim=claim))
    about = request.POST.get("about", "")
    kind = next((one for one in AnchorKind if about.partition(":")[0] == one.value), AnchorKind.DIALOGUE)
    question, turn = place_of(about.partition(":")[2])
    anchor = Anchor(
        kind=kind,
        category=seen.sitting.reservation.category,
        question=question if kind is AnchorKind.QUESTION else "",
        turn=turn if kind is not AnchorKind.TURN else int(question) if question.isdecimal() else None,
        reservation=claim,
    )
    threads.begin_thread(library(), desk.queue, desk.participant, anchor, request.POST.get("text", "")[:2000])
    messages.success(request, "Sent. The answer appears here, under Comment.")
    return redirect(desk.address("sheet", claim=claim))


def _sent(request: HttpRequest, seen: ShownSitting) -> list[Item]:
    """Return the items that a request is about: the one that a script names, or all of the form."""
    key = request.POST.get("key", "")
    if key:
        item = seen.sheet.item(key)
        return [item] if item else []
    return list(seen.sheet.items)


def _keep(request: HttpRequest, desk: Desk, seen: ShownSitting, item: Item) -> str:
    """Save what was sent for an item where it differs from what is there; return what is wrong with it."""
    fields = {name: str(request.POST.get(name, "")) for name in item.fields}
    if not any(fields.values()) and item.answer is None:
        return ""
    try:
        given = answer_in(fields, item, seen.sheet.dialogue)
    except Unreadable as error:
        return str(error)
    token = seen.sitting.reservation.token
    if given is None and (fields[item.fields[1]].strip() or fields[item.fields[2]].strip()):
        return "Not saved yet: a quote or note belongs to an answer. Choose the answer too."
    if given is None and request.POST.get("key"):
        submission.clear_answer(token, desk.participant, OpenQuestion(question=item.question.name, turn=item.turn))
    elif given is not None and not item.says(given):
        submission.save_answer(token, desk.participant, given)
    return ""


def _told(seen: ShownSitting, *, problem: str = "", **more: object) -> JsonResponse:
    told = {"saved": seen.frame.saved, "asked": seen.sheet.asked, "open": seen.sheet.open}
    return JsonResponse({**told, "problem": problem, **more}, status=UNPROCESSABLE if problem else 200)


def _as_before(item: Item) -> dict[str, object]:
    return {
        "key": item.key,
        "values": [item.value] if item.value else [],
        "quotes": item.quote_lines.splitlines(),
        "note": item.note,
    }


def _page(
    request: HttpRequest,
    desk: Desk,
    claim: str,
    *,
    problems: dict[str, str] | None = None,
    problem: str = "",
    start: str = "",
) -> HttpResponse:
    seen = shown(desk, claim)
    asked, language = spoken(request, desk, seen.sheet)
    marked = asked.remarked(problems=problems or {})
    first = start or next(iter(problems or {}), "") or next(iter(marked.open), "")
    context = {
        "here": desk.here,
        "sheet": marked,
        "language_of_words": language,
        "frame": seen.frame,
        "topics": touched_by(request, desk, claim),
        "category": seen.sitting.reservation.category,
        "start": first,
        "problem": problem,
        "is_submitted": seen.sitting.reservation.state is ReservationState.SUBMITTED,
    }
    return render(request, "web/annotator/sheet.html", context, status=UNPROCESSABLE if problem else 200)
