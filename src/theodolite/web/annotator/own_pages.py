"""An annotator's pages beside the work: the guideline, the own answers, and the questions to the senior annotators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from theodolite.annotation import assignment, cases, listing
from theodolite.domain.annotating.discrepancy import Anchor, AnchorKind, FeedbackThread, ThreadEnd
from theodolite.domain.event import Role
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.web.access import allowed
from theodolite.web.annotator.annotation_page import ShownExample, shown_examples
from theodolite.web.annotator.home import AnnotatorContext, annotator_view
from theodolite.web.questions import condition_text, humanize

LONGEST_POST = 2000
"""Length of a question or an answer at most; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidelineCategory:
    """One category of the guideline, as its page shows it.

    Attributes:
        name: Name of the category.
        guideline: Its guideline.
        decisions: Texts that senior annotators added, and answers to questions of annotators.
    """

    name: str
    guideline: Guideline
    decisions: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title of the category."""
        return humanize(self.name)

    @property
    def questions(self) -> tuple[tuple[Question, str, tuple[str, ...]], ...]:
        """Each question, the condition under which it is asked, and the options with their meanings."""
        return tuple(
            (question, condition_text(question), _options(question)) for question in self.guideline.instrument.questions
        )

    @property
    def examples(self) -> tuple[ShownExample, ...]:
        """The worked examples."""
        return shown_examples(self.guideline)


def _options(question: Question) -> tuple[str, ...]:
    """Return the options of a question; of a scale of numbers the described points."""
    scale = question.scale
    options = [
        f"{humanize(label.value)}: {label.meaning}" if label.meaning else humanize(label.value)
        for label in scale.labels
    ]
    if scale.kind is ScaleKind.NUMBERS and not options:
        options.append(f"{scale.lowest} to {scale.highest}")
    if question.may_be_unable:
        options.append("Unable to determine")
    if question.may_not_apply:
        options.append("Does not apply")
    return tuple(options)


@allowed(Role.ANNOTATOR)
@annotator_view
def guideline(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the guideline of all categories, with the background, the rules and the resolved questions."""
    design = annotator.design
    context = {
        "access": annotator.access,
        "categories": [
            _category(annotator, category.name, annotator.records.guideline(category.version))
            for category in design.categories
        ],
        "background": design.background,
        "rules": design.rules,
    }
    return render(request, "web/annotator/guideline.html", context)


def _category(annotator: AnnotatorContext, name: str, category_guideline: Guideline) -> GuidelineCategory:
    ends = (ThreadEnd.GUIDELINE, ThreadEnd.FAQ)
    decisions = [text for end in ends for _, text in cases.settled(annotator.queue, end=end, category=name)]
    return GuidelineCategory(name=name, guideline=category_guideline, decisions=tuple(dict.fromkeys(decisions)))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSubmission:
    """A recent submission of the annotator.

    Attributes:
        dialogue: Name of the dialogue for this annotator.
        category: Title of the category.
        address: Address of the annotation page.
        submitted: Time of the submission; UTC.
        is_open: Whether the answers may still be changed.
    """

    dialogue: str
    category: str
    address: str
    submitted: datetime | None
    is_open: bool


@allowed(Role.ANNOTATOR)
@annotator_view
def answers(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show an annotator's last submissions, and the number of submissions in each category."""
    last = assignment.last_ones(annotator.queue, annotator.participant)
    names = listing.reservation_names([reservation.token for reservation in last], annotator.participant)
    counts = assignment.own_counts(annotator.records, annotator.queue, annotator.participant)
    context = {
        "access": annotator.access,
        "submissions": [
            OwnSubmission(
                dialogue=names[reservation.token],
                category=humanize(reservation.category),
                address=annotator.address("annotation", reservation=reservation.token),
                submitted=reservation.submitted,
                is_open=reservation.is_open,
            )
            for reservation in last
        ],
        "categories": [(humanize(count.name), count) for count in counts],
    }
    return render(request, "web/annotator/answers.html", context)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuestion:
    """A thread that the annotator started.

    Attributes:
        thread: The thread.
        category: Title of the category.
        address: Address of the annotation page that started it; empty for none.
    """

    thread: FeedbackThread
    category: str
    address: str

    @property
    def subject(self) -> str:
        """What the thread is about, as text."""
        anchor = self.thread.anchor
        if anchor.kind is AnchorKind.TURN:
            return f"turn {anchor.turn}"
        return anchor.kind.value


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
@annotator_view
def questions(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show an annotator's questions with the answers; a new one is about the guideline of a category."""
    if request.method == "POST":
        text, thread = request.POST.get("text", "")[:LONGEST_POST], request.POST.get("thread", "")
        if thread:
            cases.reply(thread, annotator.participant, text)
        else:
            anchor = Anchor(kind=AnchorKind.GUIDELINE, category=request.POST.get("category", ""))
            cases.begin_thread(annotator.records, annotator.queue, annotator.participant, anchor, text)
        messages.success(request, "Sent. The answer appears on this page.")
        return redirect(annotator.address("questions"))
    context = {
        "access": annotator.access,
        "questions": [_own(annotator, thread) for thread in cases.own_threads(annotator.queue, annotator.participant)],
        "categories": [(category.name, humanize(category.name)) for category in annotator.design.categories],
        "answered": [(humanize(category), text) for category, text in cases.settled(annotator.queue)],
    }
    return render(request, "web/annotator/questions.html", context)


def _own(annotator: AnnotatorContext, thread: FeedbackThread) -> OwnQuestion:
    reservation = thread.anchor.reservation
    return OwnQuestion(
        thread=thread,
        category=humanize(thread.anchor.category),
        address=annotator.address("annotation", reservation=reservation) if reservation else "",
    )
