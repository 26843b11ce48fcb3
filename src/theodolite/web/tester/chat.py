"""The tester's page, and how it is told that the clock runs, stands still or is over."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from theodolite.testing.steps import Step
from theodolite.web.tester.pausing import paused_page, pauses
from theodolite.web.tester.sheet import Sheet, sheet_of
from theodolite.web.tester.visit import Visit, for_testers


@for_testers(Step.CHAT)
def chat(request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Show the session, or that it stands still."""
    sheet = sheet_of(visit, place)
    if pauses(visit, sheet.session):
        return paused_page(request, visit, sheet)
    return chat_page(request, visit, sheet)


def chat_page(request: HttpRequest, visit: Visit, sheet: Sheet, *, status: int = 200, **more: object) -> HttpResponse:
    """Return the page of a session, with what else it is to show."""
    return render(request, "web/tester/chat.html", {"here": visit.here, "page": sheet, **more}, status=status)


@for_testers()
def state(_request: HttpRequest, visit: Visit, place: int) -> JsonResponse:
    """Tell the page what has changed while nobody pressed anything."""
    sheet = sheet_of(visit, place)
    standing = {
        "left": sheet.left,
        "paused": pauses(visit, sheet.session),
        "over": sheet.session.is_over,
        "rest": sheet.rest,
    }
    return JsonResponse(standing)
