"""The page of an instrument: answers are saved one by one and submitted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from theodolite.assessment.completeness import asked, open_questions
from theodolite.domain.annotation import Answer
from theodolite.domain.instrument import Instrument
from theodolite.web.questions.form import ParsedForm, field_name, instrument_form, parse_form

SaveAnswers = Callable[[tuple[Answer, ...], bool], None]
"""Saves answers; the second argument tells whether they are submitted."""

HAND_IN = "hand_in"
"""Name of the submit button; the others save and show the page again."""

INCOMPLETE = 422
"""Status of a page that was submitted with open questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPage:
    """An instrument as the page of one person.

    Attributes:
        instrument: The questions.
        answers: The answers so far.
        save: Saves the answers of a request; None saves nothing, as a preview does.
        next_page: Address of the page after submission.
        template: Template of the page; extends `web/questions/sheet.html`.
        context: More context of the template: `access`, `title`, `about`.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """

    instrument: Instrument
    answers: Sequence[Answer] = ()
    save: SaveAnswers | None = None
    next_page: str = ""
    template: str = "web/questions/sheet.html"
    context: Mapping[str, Any] = field(default_factory=dict)
    turns: Sequence[int] = ()


def form_page(request: HttpRequest, page: FormPage) -> HttpResponse:
    """Show an instrument, save its answers, or submit them.

    The page's script saves after each answer and receives the questions to ask; without
    scripts, "Save" shows the page again with its follow-ups. A page that is submitted with
    open questions comes back with status 422, a list of them, and the first one in focus.
    """
    if request.method != "POST":
        return _rendered(request, page, ParsedForm(answers=tuple(page.answers), problems={}))
    parsed = parse_form(page.instrument, request.POST, page.turns)
    is_done = HAND_IN in request.POST and not open_questions(page.instrument, parsed.answers, page.turns)
    if page.save is not None:
        page.save(parsed.answers, is_done)
    if request.headers.get("X-Autosave"):
        return _autosaved(page, parsed.answers)
    if is_done and page.save is not None:
        return redirect(page.next_page)
    return _rendered(request, page, parsed, is_checked=HAND_IN in request.POST)


def _rendered(request: HttpRequest, page: FormPage, parsed: ParsedForm, *, is_checked: bool = False) -> HttpResponse:
    form = instrument_form(page.instrument, parsed.answers, page.turns, is_checked=is_checked, problems=parsed.problems)
    saved = timezone.now() if request.method == "POST" and page.save is not None else None
    context = {"form": form, "saved": saved, "keeps": page.save is not None, "hand_in": HAND_IN, **page.context}
    return render(request, page.template, context, status=INCOMPLETE if form.problems else 200)


def _autosaved(page: FormPage, answers: Sequence[Answer]) -> JsonResponse:
    """Return the names of the fields to ask now, and the number of open questions."""
    names = [field_name(ref) for ref in asked(page.instrument, answers, page.turns)]
    n_open = len(open_questions(page.instrument, answers, page.turns))
    return JsonResponse({"asked": names, "open": n_open, "kept": page.save is not None})
