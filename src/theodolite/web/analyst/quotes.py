"""Quotes: answers are read by somebody before a word of them is shown."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.assessment.capture.personal import personal_details
from theodolite.domain.codings.coding import QuoteRelease
from theodolite.usecases.coding import CodingRoom, OpenText, release_quote
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.audit import audit

MOST_WORDS = 50
"""Stretches that may be hidden at once; count."""


@at_reading_desk
@require_GET
def quotes(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """List the answers that two have coded, with what may be shown of each."""
    room = desk.room()
    leave = {one.answer: one for one in room.work.releases}
    shown = {one.answer: one.text for one in room.work.quotes}
    coded = {one.answer for one in room.coded if one.is_coded}
    lines = [
        (
            desk.token_of_text(one),
            one.asked,
            shown.get(one.answer) or room.mask(one.text),
            _state(leave.get(one.answer)),
        )
        for one in room.texts
        if one.answer in coded or one.answer in leave
    ]
    return render(request, "web/analyst/quotes.html", {"here": desk.here, "lines": lines})


def _state(leave: QuoteRelease | None) -> str:
    if leave is None:
        return "not read for it yet"
    return "may be shown" if leave.is_given else "must not be shown"


@at_reading_desk
@require_http_methods(["GET", "POST"])
def quote(request: HttpRequest, desk: ReadingDesk, answer: str) -> HttpResponse:
    """Show one answer to be read for being quoted, or record what may be shown of it."""
    room = desk.room()
    text = desk.text_in(room, answer)
    if request.method == "POST":
        is_given = request.POST.get("leave") == "give"
        hidden = request.POST.get("hidden", "").splitlines()[:MOST_WORDS]
        release_quote(desk.store, room, text.answer, hidden, by=desk.reader, is_given=is_given)
        audit(
            desk.here.account,
            "gave leave to quote" if is_given else "took leave to quote back",
            f"answer {answer}",
            hosted=desk.here.hosted,
        )
        messages.success(request, "It may be shown." if is_given else "It is not shown.")
        return redirect(desk.address("quotes"))
    return render(request, "web/analyst/quote.html", _sheet(desk, room, text))


def _sheet(desk: ReadingDesk, room: CodingRoom, text: OpenText) -> dict[str, object]:
    known = next((one for one in room.work.releases if one.answer == text.answer), None)
    hidden = [text.text[one.start : one.end] for one in known.hidden] if known else []
    return {
        "here": desk.here,
        "asked": text.asked,
        "text": text.text,
        "shown": next((one.text for one in room.work.quotes if one.answer == text.answer), ""),
        "hidden": "\n".join(hidden),
        "state": _state(known),
        "details": [f"{one.kind.value}: {one.words}" for one in personal_details(text.text)],
    }
