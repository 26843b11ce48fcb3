"""Coding: what is to be coded, how far it has come, and one answer after the other."""

from __future__ import annotations

from collections import Counter

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.domain.codings.coded import CodedState
from theodolite.domain.codings.coding import Code
from theodolite.usecases.coding import CodingRoom, OpenText, keep_coding
from theodolite.web.analyst.codebook import book_token
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.analyst.themes import coded_question, findings_of
from theodolite.web.audit import audit

MEMO = 4000
"""Letters of a memo at most; count."""


@at_reading_desk
@require_GET
def coding(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Show how far coding has come, agreement, themes, and what may be quoted."""
    room = desk.room()
    stands = Counter(one.state for one in room.coded)
    context = {
        "here": desk.here,
        "n": len(room.texts),
        "books": _books(desk, room),
        "uncovered": [words for place, words in room.questions.items() if room.work.codebook_for(place) is None],
        "is_away": desk.reader in room.work.away,
        "states": [(state.value, stands[state]) for state in CodedState if stands[state]],
        "n_waiting": len(room.waiting(desk.reader)),
        "n_differing": stands[CodedState.DISPUTED],
        "questions": [coded_question(one) for one in findings_of(desk, room)],
    }
    return render(request, "web/analyst/coding.html", context)


def _books(desk: ReadingDesk, room: CodingRoom) -> list[tuple[str, str, int]]:
    """Return address, name and revision of each codebook."""
    return [
        (
            desk.address("named_codebook", book=book_token(desk, book)) if book.name else desk.address("codebook"),
            book.name,
            book.revision,
        )
        for book in room.work.current.values()
    ]


@at_reading_desk
@require_GET
def next_answer(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Lead on to the answer that this coder is to code next."""
    waiting = desk.room().waiting(desk.reader)
    if not waiting:
        messages.info(request, "Nothing waits for you to be coded.")
        return redirect(desk.address("coding"))
    return redirect(desk.address("answer", answer=desk.token_of_text(waiting[0])))


@at_reading_desk
@require_http_methods(["GET", "POST"])
def answer(request: HttpRequest, desk: ReadingDesk, answer: str) -> HttpResponse:
    """Show one answer with the codes, or keep what the coder sees in it and go on to the next."""
    room = desk.room()
    text = desk.text_in(room, answer)
    if request.method == "POST":
        codes = request.POST.getlist("code")
        keep_coding(desk.store, room, text.answer, desk.reader, codes, request.POST.get("memo", "")[:MEMO])
        audit(desk.here.account, "coded an answer", f"answer {answer}", hosted=desk.here.hosted, codes=len(codes))
        messages.success(request, "Saved.")
        return redirect(desk.address("next"))
    return render(request, "web/analyst/answer.html", _sheet(desk, room, text))


def _sheet(desk: ReadingDesk, room: CodingRoom, text: OpenText) -> dict[str, object]:
    own, book = room.own(text.answer, desk.reader), room.work.codebook_for(text.answer.place)
    chosen = own.codes if own else ()
    is_due = own is not None and room.work.is_due(own)
    (stands,) = room.work.coded([text.answer])
    codes: tuple[Code, ...] = book.codes if book else ()
    return {
        "here": desk.here,
        "asked": text.asked,
        "text": room.mask(text.text),
        "codes": [
            (str(place) if place < 10 else "", code, code.name in chosen) for place, code in enumerate(codes, start=1)
        ],
        "book": book,
        "own": own,
        "is_due": is_due,
        "is_fixed": own is not None and not is_due and stands.is_coded,
        "n_waiting": len(room.waiting(desk.reader)),
    }
