"""The way to the queue: read, acknowledge, practise with feedback, pass the test of each category."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from theodolite.annotation import training
from theodolite.annotation.rules import examples_for
from theodolite.annotation.training import BACKGROUND, RULES
from theodolite.domain.annotating.training import QualificationResult
from theodolite.domain.guideline import Guideline
from theodolite.domain.people.role import Role
from theodolite.store.annotating.queues import queue_of
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, at_desk, library, wants_json
from theodolite.web.annotator.example import ExampleFrame, example_sheet, feedback_on, reference_of
from theodolite.web.annotator.items import worded
from theodolite.web.annotator.session_sheet import SessionSheet
from theodolite.web.annotator.shown import Frame

SUBJECTS = {"background": BACKGROUND, "rules": RULES}
"""What stands in addresses for the texts that are acknowledged."""


@allowed(Role.ANNOTATOR)
@require_POST
@at_desk
def read(request: HttpRequest, desk: Desk, subject: str) -> HttpResponse:
    """Write down that a text was read."""
    training.acknowledge(library(), desk.queue, desk.participant, SUBJECTS.get(subject, subject))
    messages.success(request, "Noted.")
    return redirect(desk.address("home"))


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
@at_desk
def practice(request: HttpRequest, desk: Desk, category: str, example: int) -> HttpResponse:
    """Let one practise on a worked example: each answer is followed by what the example says."""
    guideline, version = _guideline(desk, category)
    places = examples_for(guideline)[0]
    place = _place(places, example)
    page = _page(
        request, f"practice {version} {place}", guideline, place, _around(desk, f"Practice: {worded(category)}")
    )
    before = dict(page.given)
    is_read = request.method == "GET" or page.take()
    feedback = _marks(page, desk, version, place)
    if wants_json(request):
        return page.told(feedback)
    frame = _frame(desk, "practice", category, example, len(places))
    if request.method == "GET" or not is_read or "submit" not in request.POST:
        return page.shown(desk.here, frame, feedback=feedback)
    if page.sheet.open:
        return page.shown(desk.here, frame, problem="Some answers are still open.", feedback=feedback)
    if page.given != before:
        return page.shown(
            desk.here, frame, told="Look at what the example says, then submit once more.", feedback=feedback
        )
    page.forget()
    training.go_through(library(), desk.queue, desk.participant, category, example)
    return _after_practice(request, desk, category, example, len(places))


def _after_practice(request: HttpRequest, desk: Desk, category: str, example: int, n: int) -> HttpResponse:
    if example < n:
        return redirect(desk.address("practice", category=category, example=example + 1))
    messages.success(request, f"You have practised {worded(category)}.")
    return redirect(desk.address("home"))


def _marks(page: SessionSheet, desk: Desk, version: str, place: int) -> dict[str, str]:
    if not page.given:
        return {}
    marks = training.practise(library(), version, desk.participant, place, page.given)
    return feedback_on(marks, page.given)


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
@at_desk
def qualify(request: HttpRequest, desk: Desk, category: str, example: int) -> HttpResponse:
    """Ask the test of a category, example by example; the last one ends the attempt."""
    guideline, version = _guideline(desk, category)
    places = examples_for(guideline)[1]
    place = _place(places, example)
    page = _page(request, f"test {version} {place}", guideline, place, _around(desk, f"Test: {worded(category)}"))
    frame = _frame(desk, "qualify", category, example, len(places))
    is_read = request.method == "GET" or page.take()
    if wants_json(request):
        return page.told()
    if request.method == "GET" or not is_read:
        return page.shown(desk.here, frame)
    if page.sheet.open:
        return page.shown(desk.here, frame, problem="Not handed in: some answers are open.")
    if example < len(places):
        return redirect(desk.address("qualify", category=category, example=example + 1))
    return _handed_in(request, desk, category, guideline)


def _handed_in(request: HttpRequest, desk: Desk, category: str, guideline: Guideline) -> HttpResponse:
    version, places = _guideline(desk, category)[1], examples_for(guideline)[1]
    given = {place: request.session.pop(f"test {version} {place}", {}) for place in places}
    result = training.attempt(library(), desk.queue, desk.participant, category, given)
    request.session[f"result {version}"] = _lines(result, guideline)
    return redirect(desk.address("result", category=category))


@allowed(Role.ANNOTATOR)
@require_GET
@at_desk
def result(request: HttpRequest, desk: Desk, category: str) -> HttpResponse:
    """Say what became of the last attempt, question by question."""
    version = _guideline(desk, category)[1]
    found = request.session.get(f"result {version}")
    if found is None:
        return redirect(desk.address("home"))
    is_open = category in training.onboarding(library(), desk.queue, desk.participant).open_to
    context = {"here": desk.here, "title": worded(category), "found": found, "is_open": is_open}
    return render(request, "web/annotator/result.html", context)


def _lines(result: QualificationResult, guideline: Guideline) -> dict[str, object]:
    texts = {question.name: question.text for question in guideline.instrument.questions}
    return {
        "passed": result.passed,
        "n_right": result.n_right,
        "n_asked": result.n_asked,
        "attempt": result.attempt,
        "left": result.attempts_left,
        "questions": [
            {"text": texts[one.question], "given": one.given or "nothing", "right": one.is_right, "reason": one.reason}
            for one in result.marked
        ],
    }


def _guideline(desk: Desk, category: str) -> tuple[Guideline, str]:
    found = library().design(queue_of(desk.queue).design_id).category(category)
    if found is None:
        raise Http404
    return library().guideline(found.version), found.version


def _place(places: tuple[int, ...], example: int) -> int:
    if not 1 <= example <= len(places):
        raise Http404
    return places[example - 1]


def _frame(desk: Desk, name: str, category: str, example: int, n: int) -> Frame:
    address = desk.address(name, category=category, example=example)
    return Frame(address=address, progress=f"example {example} of {n}", is_work=False)


def _page(request: HttpRequest, name: str, guideline: Guideline, place: int, around: ExampleFrame) -> SessionSheet:
    return SessionSheet(request, name, lambda answers: example_sheet(guideline, place, answers, around))


def _around(desk: Desk, title: str) -> ExampleFrame:
    study = library().study(queue_of(desk.queue).study_content_id)
    return ExampleFrame(title=title, reference=reference_of(study))
