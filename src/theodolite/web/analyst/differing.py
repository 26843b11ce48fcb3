"""Answers that were coded differently: both codings side by side, and what came of talking about them."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.domain.codings.coded import CodedAnswer, CodedState
from theodolite.domain.identity import digest
from theodolite.usecases.coding import CodingRoom, OpenText, resolve
from theodolite.web.analyst.coding import MEMO
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.analyst.drawing import listed
from theodolite.web.audit import audit

CONSENSUS, NONE = "consensus", "none"
"""What a talk may come to, as the form says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingLine:
    """One answer that was coded differently."""

    token: str
    asked: str
    beginning: str
    state: str
    only_one: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What one coder said, under a letter that is this answer's own."""

    letter: str
    codes: str
    memo: str


@at_reading_desk
@require_GET
def differing(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """List the answers that were coded differently, those that nobody talked about first."""
    room = desk.room()
    lines = [_line(desk, room, one) for one in room.differing()]
    return render(request, "web/analyst/differing.html", {"here": desk.here, "lines": lines})


def _line(desk: ReadingDesk, room: CodingRoom, one: CodedAnswer) -> DifferingLine:
    text = room.text_of(one.answer)
    book = room.work.codebook_for(one.answer.place)
    names = book.names if book else ()
    return DifferingLine(
        token=desk.token_of_text(text),
        asked=text.asked,
        beginning=room.mask(text.text)[:80],
        state=one.state.value,
        only_one=listed([name for name in names if len({name in coding.codes for coding in one.codings}) > 1]),
    )


@at_reading_desk
@require_http_methods(["GET", "POST"])
def difference(request: HttpRequest, desk: ReadingDesk, answer: str) -> HttpResponse:
    """Show both codings of one answer, or record what came of talking about it."""
    room = desk.room()
    text = desk.text_in(room, answer)
    (stands,) = room.work.coded([text.answer])
    if stands.state not in {CodedState.DISPUTED, CodedState.CONSENSUS, CodedState.NO_CONSENSUS}:
        raise Http404
    if request.method == "POST":
        _record(request, desk, room, text)
        messages.success(request, "Recorded. Both codings stay as they are.")
        return redirect(desk.address("differing"))
    return render(request, "web/analyst/difference.html", _sheet(desk, room, text, stands))


def _record(request: HttpRequest, desk: ReadingDesk, room: CodingRoom, text: OpenText) -> None:
    found = request.POST.get("found", "")
    if found not in {CONSENSUS, NONE}:
        raise Http404
    codes = request.POST.getlist("code") if found == CONSENSUS else None
    rationale = request.POST.get("rationale", "")[:MEMO]
    resolve(desk.store, room, text.answer, codes, by=desk.reader, rationale=rationale)
    audit(
        desk.here.account,
        "settled a coding",
        f"answer {desk.token_of_text(text)}",
        hosted=desk.here.hosted,
        found=found,
    )


def _sheet(desk: ReadingDesk, room: CodingRoom, text: OpenText, stands: CodedAnswer) -> dict[str, object]:
    order = sorted(stands.codings, key=lambda one: digest("voice", text.answer.session, one.coder))
    agreed = stands.resolution.codes if stands.resolution else None
    common = [name for name in stands.codings[0].codes if all(name in one.codes for one in stands.codings)]
    chosen = common if agreed is None else agreed
    book = room.work.codebook_for(text.answer.place)
    return {
        "here": desk.here,
        "asked": text.asked,
        "text": room.mask(text.text),
        "voices": [
            Voice(letter=letter, codes=listed(one.codes), memo=one.memo)
            for letter, one in zip("ABCDEF", order, strict=False)
        ],
        "codes": [(code, code.name in chosen) for code in (book.codes if book else ())],
        "found": stands.resolution,
        "agreed": listed(agreed) if agreed is not None else "",
        "state": stands.state.value,
    }
