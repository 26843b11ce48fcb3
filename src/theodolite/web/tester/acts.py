"""What a tester does beside talking: marks, notes, a new dialogue, the end of a session."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from theodolite.domain.dialogue import Level
from theodolite.domain.live import LiveDialogue
from theodolite.testing.steps import Step
from theodolite.usecases.people.sitting import end_session, reset
from theodolite.web.departures import hang_up
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.chat import chat_page
from theodolite.web.tester.notes import Unreadable, with_note
from theodolite.web.tester.sheet import Sheet, sheet_of
from theodolite.web.tester.talking import turn_html
from theodolite.web.tester.unsent import forget_unsent
from theodolite.web.tester.visit import Visit

_ANSWERS = {"yes": True, "no": False, "unsure": None}


@for_testers(Step.CHAT)
@require_POST
def mark(request: HttpRequest, visit: Visit, place: int, dialogue: int, turn: int) -> HttpResponse:
    """Keep whether a tester sees a broken guardrail in a turn."""
    sheet, open_dialogue = _red(visit, place, dialogue)
    if not 1 <= turn <= len(open_dialogue.turns):
        raise Http404
    found = open_dialogue.turns[turn - 1]
    marked = visit.venue.store.mark_turn(found.key, broke=request.POST.get("broke") == "yes")
    if "HX-Request" in request.headers:
        return HttpResponse(turn_html(request, visit, sheet, marked))
    return _back(visit, place, f"#mark-{turn}")


@for_testers(Step.CHAT)
@require_POST
def notes(request: HttpRequest, visit: Visit, place: int, dialogue: int) -> HttpResponse:
    """Keep what a tester tried."""
    open_dialogue = _red(visit, place, dialogue)[1]
    form = request.POST.dict()
    noted = with_note(
        open_dialogue.strategies, form, dialogue=open_dialogue.key, n_turns=len(open_dialogue.turns)
    )  # fmt: skip
    more: dict[str, object] = {}
    if isinstance(noted, Unreadable):
        more = {"notes_fault": noted.why, "notes_given": form}
    else:
        visit.venue.store.keep_strategies(open_dialogue.key, noted)
    status, sheet = (422 if more else 200), sheet_of(visit, place)
    if "HX-Request" in request.headers:
        context = {"here": visit.here, "page": sheet, **more}
        return render(request, "web/tester/_notes.html", context, status=status)
    return chat_page(request, visit, sheet, status=status, **more) if more else _back(visit, place, "#notes")


@for_testers(Step.CHAT)
def anew(request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Ask once, then end the dialogue and begin a new one."""
    sheet = sheet_of(visit, place)
    if request.method == "POST":
        hang_up(visit.here.hosted, sheet.session)
        reset(visit.venue, sheet.session.key)
        return _back(visit, place)
    context = {"here": visit.here, "place": place, "n_turns": len(sheet.said)}
    return render(request, "web/tester/anew.html", context)


@for_testers(Step.CHAT)
def end(request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Say what comes, then end the session."""
    sheet = sheet_of(visit, place)
    asks_task = visit.level is Level.FIELD_TESTING
    context = {"here": visit.here, "place": place, "asks_task": asks_task, "what_comes": _what_comes(visit, sheet)}
    if request.method != "POST":
        return render(request, "web/tester/end.html", context)
    answer = request.POST.get("task", "")
    if asks_task and answer not in _ANSWERS:
        context["fault"] = _("Say whether you completed your task.")
        return render(request, "web/tester/end.html", context, status=422)
    hang_up(visit.here.hosted, sheet.session)
    forget_unsent(sheet)
    end_session(visit.venue, sheet.session.key, task_done=_ANSWERS.get(answer))
    return redirect("tester:home", study=visit.here.hosted.token)


def _what_comes(visit: Visit, sheet: Sheet) -> str:
    """Return what is asked after the session, e.g. "Then come 6 questions, about 3 minutes."."""
    asked = visit.venue.study.questionnaires_after(sheet.session.scenario, sheet.session.level)
    n = sum(len(questionnaire.instrument.questions) for questionnaire in asked)
    if not n:
        return _("No questions follow.")
    minutes = max(round(n / 2), 1)
    questions = ngettext("%(n)s question", "%(n)s questions", n) % {"n": n}
    time = ngettext("%(n)s minute", "%(n)s minutes", minutes) % {"n": minutes}
    return _("Then come %(questions)s, about %(time)s.") % {"questions": questions, "time": time}


def _red(visit: Visit, place: int, dialogue: int) -> tuple[Sheet, LiveDialogue]:
    """Return the dialogue that a red teamer writes about; for others there is none."""
    sheet = sheet_of(visit, place)
    if not sheet.is_red or sheet.dialogue is None or not sheet.dialogue.is_open or sheet.dialogue.number != dialogue:
        raise Http404
    return sheet, sheet.dialogue


def _back(visit: Visit, place: int, spot: str = "") -> HttpResponse:
    page = redirect("tester:chat", study=visit.here.hosted.token, place=place)
    page["Location"] += spot
    return page
