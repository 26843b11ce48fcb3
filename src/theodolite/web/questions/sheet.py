"""A sheet: one instrument that a person fills in over time, saved answer by answer, handed in once."""

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
from theodolite.web.questions.form import field_name, instrument_form
from theodolite.web.questions.reading import read_answers

Keep = Callable[[tuple[Answer, ...], bool], None]
"""Keeps answers; the second argument says whether they are handed in."""

HAND_IN = "hand_in"
"""Name of the button that hands in; the others save and show the page again."""

INCOMPLETE = 422
"""Status of a page that was handed in with questions open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One instrument for one person.

    Attributes:
        instrument: The questions.
        answers: What the person has answered so far.
        keep: Keeps what they answer now; None shows the sheet and keeps nothing, as a preview does.
        next_page: Address that follows once it is handed in.
        template: Page that shows it; extends `web/questions/sheet.html`.
        context: What the page shows beside it: `access`, `title`, `about`.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """

    instrument: Instrument
    answers: Sequence[Answer] = ()
    keep: Keep | None = None
    next_page: str = ""
    template: str = "web/questions/sheet.html"
    context: Mapping[str, Any] = field(default_factory=dict)
    turns: Sequence[int] = ()


def sheet_page(request: HttpRequest, sheet: Sheet) -> HttpResponse:
    """Show a sheet, save an answer, or hand it in.

    A script saves after each answer and is told what is asked now; without
    scripts, "Save" shows the page again with the follow-ups that were opened.
    Handed in with questions open, the page comes back with status 422, a list
    of them, and the first one in focus.
    """
    if request.method != "POST":
        return _shown(request, sheet, sheet.answers)
    answers = read_answers(sheet.instrument, request.POST, sheet.turns)
    is_done = HAND_IN in request.POST and not open_questions(sheet.instrument, answers, sheet.turns)
    if sheet.keep is not None:
        sheet.keep(answers, is_done)
    if request.headers.get("X-Autosave"):
        return _saved(sheet, answers)
    if is_done and sheet.keep is not None:
        return redirect(sheet.next_page)
    return _shown(request, sheet, answers, is_checked=HAND_IN in request.POST)


def _shown(request: HttpRequest, sheet: Sheet, answers: Sequence[Answer], *, is_checked: bool = False) -> HttpResponse:
    form = instrument_form(sheet.instrument, answers, sheet.turns, is_checked=is_checked)
    saved = timezone.now() if request.method == "POST" and sheet.keep is not None else None
    context = {"form": form, "saved": saved, "keeps": sheet.keep is not None, "hand_in": HAND_IN, **sheet.context}
    return render(request, sheet.template, context, status=INCOMPLETE if form.problems else 200)


def _saved(sheet: Sheet, answers: Sequence[Answer]) -> JsonResponse:
    """Tell a script what is asked now, by the names of the fields, and how many questions are open."""
    wanted = [field_name(place) for place in asked(sheet.instrument, answers, sheet.turns)]
    n_open = len(open_questions(sheet.instrument, answers, sheet.turns))
    return JsonResponse({"asked": wanted, "open": n_open, "kept": sheet.keep is not None})
