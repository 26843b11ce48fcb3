"""Training of annotators: guidelines, practice, qualification tests and calibration sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from theodolite.annotation import quality, review
from theodolite.annotation.quality import BACKGROUND, RULES
from theodolite.annotation.rules import examples_for
from theodolite.domain.annotating.discrepancy import CalibrationRoom, RoomState
from theodolite.domain.annotating.quality import QualificationResult
from theodolite.domain.annotation import Answer
from theodolite.domain.event import Role
from theodolite.domain.guideline import Guideline
from theodolite.web.access import AccessContext, allowed
from theodolite.web.annotator.annotate import Frame
from theodolite.web.annotator.annotation_page import (
    AnnotationPage,
    ExampleFrame,
    Key,
    annotation_page,
    example_page,
    feedback_on,
    parse_items,
    reference_of,
)
from theodolite.web.annotator.home import AnnotatorContext, annotator_view, wants_json
from theodolite.web.questions import (
    humanize,
    key_parts,
    question_key,
    stored_answer,
    submitted_value,
    votes_side_by_side,
)

UNPROCESSABLE = 422


Build = Callable[[Sequence[Answer]], AnnotationPage]
"""Builds the page from the answers so far."""


def answers_from(values: Mapping[Key, str]) -> list[Answer]:
    """Return the answers of a browser session, which are values by key."""
    return [stored_answer(*key_parts(key), value) for key, value in values.items()]


class SessionAnnotationPage:
    """An annotation page that keeps its answers in the browser session.

    Attributes:
        problems: Errors in the submitted values, by key of the page.
    """

    def __init__(self, request: HttpRequest, name: str, build: Build) -> None:
        """Store the request, the key in the browser session, and the function that builds the page."""
        self._request, self._name, self._build = request, name, build
        self.problems: dict[Key, str] = {}

    @property
    def given(self) -> dict[Key, str]:
        """Choice or text so far, by page key."""
        values: dict[Key, str] = self._request.session.get(self._name, {})
        return values

    @property
    def annotation_page(self) -> AnnotationPage:
        """The page with the answers so far."""
        return self._build(answers_from(self.given)).without_evidence()

    def begin_with(self, values: Mapping[Key, str]) -> None:
        """Store initial answers if there are none."""
        if self._name not in self._request.session:
            self._request.session[self._name] = dict(values)

    def forget(self) -> dict[Key, str]:
        """Remove the answers from the browser session and return them."""
        values: dict[Key, str] = self._request.session.pop(self._name, {})
        return values

    def take(self) -> bool:
        """Store the submitted answers; return whether all are valid."""
        sent = {name: str(value) for name, value in self._request.POST.dict().items()}
        answers, self.problems = parse_items(self.annotation_page, sent, only=sent.get("key", ""))
        if answers:
            values = {key: submitted_value(answer) for key, answer in answers.items()}
            self._request.session[self._name] = self.given | values
        return not self.problems

    def as_json(self, feedback: Mapping[Key, str] | None = None) -> JsonResponse:
        """Return the response for the page's script."""
        page, problem = self.annotation_page, next(iter(self.problems.values()), "")
        state = {"saved": "", "asked": page.asked, "open": page.open, "feedback": dict(feedback or {})}
        return JsonResponse({**state, "problem": problem}, status=UNPROCESSABLE if problem else 200)

    def shown(
        self,
        access: AccessContext,
        frame: Frame,
        *,
        problem: str = "",
        notice: str = "",
        feedback: Mapping[Key, str] | None = None,
    ) -> HttpResponse:
        """Return the page with a problem or a message."""
        problem = problem or ("Not everything could be read." if self.problems else "")
        page = self.annotation_page.remarked(problems=self.problems, feedback=feedback or {})
        context = {
            "access": access,
            "page": page,
            "frame": frame,
            "start": next(iter(page.open), ""),
            "problem": problem,
            "notice": notice,
        }
        status = UNPROCESSABLE if problem else 200
        return render(self._request, "web/annotator/annotation.html", context, status=status)


SUBJECTS = {"background": BACKGROUND, "rules": RULES}
"""Texts to acknowledge, by their name in addresses."""


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def read(request: HttpRequest, annotator: AnnotatorContext, subject: str) -> HttpResponse:
    """Record that a text was read."""
    quality.acknowledge(annotator.records, annotator.queue, annotator.participant, SUBJECTS.get(subject, subject))
    messages.success(request, "Noted.")
    return redirect(annotator.address("home"))


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
@annotator_view
def practice(request: HttpRequest, annotator: AnnotatorContext, category: str, example: int) -> HttpResponse:
    """Practise on a worked example, with feedback on each answer."""
    guideline, version = _guideline(annotator, category)
    indices = examples_for(guideline)[0]
    index = _place(indices, example)
    page = _page(
        request, f"practice {version} {index}", guideline, index, _around(annotator, f"Practice: {humanize(category)}")
    )
    before = dict(page.given)
    is_read = request.method == "GET" or page.take()
    feedback = _marks(page, annotator, version, index)
    if wants_json(request):
        return page.as_json(feedback)
    frame = _frame(annotator, "practice", category, example, len(indices))
    if request.method == "GET" or not is_read or "submit" not in request.POST:
        return page.shown(annotator.access, frame, feedback=feedback)
    if page.annotation_page.open:
        return page.shown(annotator.access, frame, problem="Some questions are not answered yet.", feedback=feedback)
    if page.given != before:
        return page.shown(
            annotator.access, frame, notice="Compare with the reference answers, then submit again.", feedback=feedback
        )
    page.forget()
    quality.go_through(annotator.records, annotator.queue, annotator.participant, category, example)
    return _after_practice(request, annotator, category, example, len(indices))


def _after_practice(
    request: HttpRequest, annotator: AnnotatorContext, category: str, example: int, n: int
) -> HttpResponse:
    if example < n:
        return redirect(annotator.address("practice", category=category, example=example + 1))
    messages.success(request, f"You have practised {humanize(category)}.")
    return redirect(annotator.address("home"))


def _marks(page: SessionAnnotationPage, annotator: AnnotatorContext, version: str, index: int) -> dict[str, str]:
    if not page.given:
        return {}
    marks = quality.practise(annotator.records, version, annotator.participant, index, page.given)
    return feedback_on(marks, page.given)


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
@annotator_view
def qualify(request: HttpRequest, annotator: AnnotatorContext, category: str, example: int) -> HttpResponse:
    """Present the test of a category, example by example; the last example ends the attempt."""
    guideline, version = _guideline(annotator, category)
    indices = quality.next_test(annotator.records, version, annotator.participant)
    index = _place(indices, example)
    page = _page(
        request, f"test {version} {index}", guideline, index, _around(annotator, f"Test: {humanize(category)}")
    )
    frame = _frame(annotator, "qualify", category, example, len(indices))
    is_read = request.method == "GET" or page.take()
    if wants_json(request):
        return page.as_json()
    if request.method == "GET" or not is_read:
        return page.shown(annotator.access, frame)
    if page.annotation_page.open:
        return page.shown(annotator.access, frame, problem="Not submitted: some questions are not answered.")
    if example < len(indices):
        return redirect(annotator.address("qualify", category=category, example=example + 1))
    return _handed_in(request, annotator, category, guideline)


def _handed_in(request: HttpRequest, annotator: AnnotatorContext, category: str, guideline: Guideline) -> HttpResponse:
    version = _guideline(annotator, category)[1]
    indices = quality.next_test(annotator.records, version, annotator.participant)
    values = {index: request.session.pop(f"test {version} {index}", {}) for index in indices}
    result = quality.attempt(annotator.records, annotator.queue, annotator.participant, category, values)
    required = annotator.design.process.pass_mark
    request.session[f"result {version}"] = _lines(result, guideline) | {"required": f"{required:.2f}"}
    return redirect(annotator.address("result", category=category))


@allowed(Role.ANNOTATOR)
@require_GET
@annotator_view
def result(request: HttpRequest, annotator: AnnotatorContext, category: str) -> HttpResponse:
    """Show the result of the last attempt, question by question."""
    version = _guideline(annotator, category)[1]
    last_result = request.session.get(f"result {version}")
    if last_result is None:
        return redirect(annotator.address("home"))
    is_open = category in quality.onboarding(annotator.records, annotator.queue, annotator.participant).open_to
    context = {"access": annotator.access, "title": humanize(category), "found": last_result, "is_open": is_open}
    return render(request, "web/annotator/result.html", context)


def _lines(result: QualificationResult, guideline: Guideline) -> dict[str, object]:
    texts = {question.name: question.text for question in guideline.instrument.questions}
    return {
        "passed": result.passed,
        "n_right": result.n_right,
        "n_asked": result.n_asked,
        "score": "undefined" if result.score is None else f"{result.score:.2f}",
        "attempt": result.attempt,
        "left": result.attempts_left,
        "questions": [
            {
                "text": texts[mark.question],
                "given": mark.given or "nothing",
                "right": mark.is_right,
                "reason": mark.reason,
            }
            for mark in result.marked
        ],
    }


def _guideline(annotator: AnnotatorContext, category: str) -> tuple[Guideline, str]:
    design_category = annotator.design.category(category)
    if design_category is None:
        raise Http404
    return annotator.records.guideline(design_category.version), design_category.version


def _place(indices: tuple[int, ...], example: int) -> int:
    if not 1 <= example <= len(indices):
        raise Http404
    return indices[example - 1]


def _frame(annotator: AnnotatorContext, name: str, category: str, example: int, n: int) -> Frame:
    address = annotator.address(name, category=category, example=example)
    return Frame(address=address, progress=f"example {example} of {n}", is_work=False)


def _page(
    request: HttpRequest, name: str, guideline: Guideline, index: int, around: ExampleFrame
) -> SessionAnnotationPage:
    return SessionAnnotationPage(request, name, lambda answers: example_page(guideline, index, answers, around))


def _around(annotator: AnnotatorContext, title: str) -> ExampleFrame:
    study = annotator.study
    return ExampleFrame(title=title, reference=reference_of(study))


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_GET
@annotator_view
def room(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Show a calibration session: the number of votes, and after the reveal all votes and posts."""
    seen = _seen(annotator, room)
    context = {
        "access": annotator.access,
        "room": seen,
        "title": humanize(seen.guideline.name),
        "page": annotation_page(seen.guideline, seen.dialogue, seen.own),
        "has_voted": bool(seen.own),
        "is_open": seen.state is not RoomState.CLOSED,
        "may_vote": seen.state is RoomState.VOTING or (seen.state is RoomState.REVEALED and bool(seen.own)),
        "before": votes_side_by_side(seen.guideline, seen.before),
        "after": votes_side_by_side(seen.guideline, seen.after) if seen.after != seen.before else (),
        "is_senior": annotator.access.role is Role.SENIOR,
    }
    return render(request, "web/annotator/room.html", context)


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_http_methods(["GET", "POST"])
@annotator_view
def vote(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Vote in a calibration session, on the annotation page."""
    seen = _seen(annotator, room)
    title = f"Room: {humanize(seen.guideline.name)}"
    page = SessionAnnotationPage(
        request,
        f"room {room} {seen.state.value}",
        lambda answers: annotation_page(seen.guideline, seen.dialogue, answers, title),
    )
    page.begin_with({question_key(answer.question, answer.turn): submitted_value(answer) for answer in seen.own})
    frame = Frame(address=annotator.address("room_vote", room=room), progress=f"{seen.n_voted} voted", is_work=False)
    is_read = request.method == "GET" or page.take()
    if wants_json(request):
        return page.as_json()
    if request.method == "GET" or not is_read:
        return page.shown(annotator.access, frame)
    if "submit" not in request.POST:
        return redirect(annotator.address("room_vote", room=room))
    open_keys = set(page.annotation_page.asked)
    answers = answers_from({key: value for key, value in page.given.items() if key in open_keys})
    if review.vote(annotator.records, room, annotator.participant, answers):
        return page.shown(annotator.access, frame, problem="Not saved: some questions are not answered.")
    page.forget()
    messages.success(request, "Your votes are saved.")
    return redirect(annotator.address("room", room=room))


@allowed(Role.ANNOTATOR, Role.SENIOR)
@require_POST
@annotator_view
def say(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Contribute to the discussion."""
    _seen(annotator, room)
    review.say(room, annotator.participant, request.POST.get("text", "")[:2000])
    return redirect(annotator.address("room", room=room))


def _seen(annotator: AnnotatorContext, token: str) -> CalibrationRoom:
    """Return a calibration session of this study's queue; others answer 404."""
    if token not in {token for token, _, _ in review.rooms(annotator.queue)}:
        raise Http404
    return review.room(annotator.records, token, annotator.participant)
