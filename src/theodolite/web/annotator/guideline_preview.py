"""The annotation page with an example instead of a dialogue, as previews of schemas and guidelines show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from theodolite.assessment.form_rules import current
from theodolite.domain.annotating.work import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import QuestionLevel
from theodolite.domain.shown_order import NOT_VARIED, REVERSED, QuestionOrder, ShownOrder, n_orders, shown_order_of
from theodolite.web.annotator.annotate import Frame
from theodolite.web.annotator.annotation_page import AnnotationPage, annotation_page, parse_items, turns_of
from theodolite.web.middleware import POLICY

UNPROCESSABLE = 422

FRAMED_POLICY = POLICY.format(targets="'self'").replace("frame-ancestors 'none'", "frame-ancestors 'self'")
"""The content policy of a page that the editor embeds; other sites still may not embed it."""

_STAND_IN = (
    BlindTurn(number=1, prompt="This is a user's question.", response="This is the application's reply."),
    BlindTurn(number=2, prompt="The user continues.", response="The reply continues too. It has two sentences."),
)
"""Example dialogue of a category without worked examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidelinePreview:
    """A guideline as the annotation page shows it.

    Attributes:
        guideline: The guideline.
        title: Its displayed title.
        reference: Reference texts beside the questions.
        context: Values that the template needs.
        sent: Answers of the page so far, by field.
        template: The template.
    """

    guideline: Guideline
    title: str
    reference: BlindReference
    context: Mapping[str, object]
    sent: Mapping[str, object]
    template: str = "web/schemas/preview.html"


def guideline_preview(request: HttpRequest, shown: GuidelinePreview) -> HttpResponse:
    """Return the annotation page of a guideline with an example instead of a dialogue; answers stay on the page."""
    guideline = shown.guideline
    dialogue = _dialogue(guideline, shown.reference)
    order = _order(request)
    empty = annotation_page(guideline, dialogue, (), shown.title, order=order)
    page, problems = _tried(empty, {name: str(value) for name, value in shown.sent.items()}, order)
    if request.headers.get("Accept", "").startswith("application/json"):
        problem = next(iter(problems.values()), "")
        state = {"saved": "", "asked": page.asked, "open": page.open, "problem": problem}
        return JsonResponse(state, status=UNPROCESSABLE if problem else 200)
    handed_in = "submit" in shown.sent
    missing = dict.fromkeys(page.open, "This question is not answered yet.") if handed_in else {}
    error = "Not submitted: some questions are not answered." if missing else ""
    context = {
        **shown.context,
        "page": page.remarked(problems=missing | problems),
        "frame": Frame(address=request.get_full_path(), progress="preview: answers are not stored", is_preview=True),
        "order": order,
        "rows": _rows(guideline),
        "chosen": f"{order.row} of {order.rows}",
        "has_turns": any(question.level is QuestionLevel.TURN for question in guideline.instrument.questions),
        "start": request.GET.get("at", "") or next(iter(missing), "") or next(iter(page.open), ""),
        "problem": error or ("Not everything could be read." if problems else ""),
        "notice": "All questions answered: an annotator would get the next dialogue now."
        if handed_in and not missing
        else "",
    }
    answer = render(request, shown.template, context, status=UNPROCESSABLE if missing or problems else 200)
    answer.headers["Content-Security-Policy"] = FRAMED_POLICY
    return answer


def _dialogue(guideline: Guideline, reference: BlindReference) -> BlindDialogue:
    example = next(iter(guideline.examples), None)
    turns = turns_of(example.dialogue) if example else _STAND_IN
    return BlindDialogue(name="example", turns=turns, material=example.context if example else "", reference=reference)


def _tried(empty: AnnotationPage, sent: Mapping[str, str], order: ShownOrder) -> tuple[AnnotationPage, dict[str, str]]:
    """Return the page with its answers, and their errors."""
    guideline, dialogue = empty.guideline, empty.dialogue
    answers, problems = parse_items(empty, {name: str(value) for name, value in sent.items()})
    counting = current(guideline.instrument, list(answers.values()), [turn.number for turn in dialogue.turns])
    return annotation_page(guideline, dialogue, counting, empty.title, order=order), problems


def _order(request: HttpRequest) -> ShownOrder:
    """Return the requested order of the page; the written order if there is none."""
    options = {name: request.GET.get(name, "") for name in ("questions", "options", "turns")}
    parts = [f"questions {options['questions']}"] if options["questions"] else []
    parts += [f"{name} {REVERSED}" for name in ("options", "turns") if options[name]]
    try:
        return shown_order_of("; ".join(parts))
    except InputError:
        return NOT_VARIED


def _rows(guideline: Guideline) -> list[tuple[str, str]]:
    """Return the question orders that a study can use: value and label."""
    counts = {n_orders(guideline.instrument, plan) for plan in QuestionOrder} - {0}
    orders = [f"{row} of {rows}" for rows in sorted(counts) for row in range(2, rows + 1)]
    return [(order, REVERSED if order == "2 of 2" else f"balanced, {order}") for order in orders]
