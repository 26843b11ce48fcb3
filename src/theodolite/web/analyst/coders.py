"""Coders: who has coded how much, how far every two agree, and who has left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from theodolite.domain.codings.finding import CoderPair
from theodolite.usecases.codebooks import keep_absence
from theodolite.usecases.coding import CodingRoom
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.analyst.drawing import number_words, share_line
from theodolite.web.analyst.themes import findings_of
from theodolite.web.audit import audit

LONGEST = 500
"""Letters of a reason at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderLine:
    """One coder.

    Attributes:
        token: What the form calls them.
        name: Their name on this server.
        n_valid: Codings of theirs that hold; count.
        n_due: Codings that they, or whoever takes their place, must look at again; count.
        is_away: Whether they have left.
        is_gone: Whether they have left the study itself, so that nobody can write them back.
    """

    token: str
    name: str
    n_valid: int
    n_due: int
    is_away: bool
    is_gone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """Two coders and how far they agree on one question.

    Attributes:
        question: What was asked.
        who: Both names.
        n: Answers that both have coded; count.
        alike: Share of them with the same codes, in words.
        alpha: Alpha of whole sets, in words.
        codes: By code: share of the same, and alpha, in words.
    """

    question: str
    who: str
    n: int
    alike: str
    alpha: str
    codes: tuple[tuple[str, str, str], ...]


@at_reading_desk
@require_http_methods(["GET", "POST"])
def coders(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Show the coders, or write down that one of them has left or is back."""
    room = desk.room()
    if request.method == "POST":
        _record(request, desk, room)
        return redirect(desk.address("coders"))
    names = desk.names_of(one.coder for one in room.work.codings)
    context = {
        "here": desk.here,
        "coders": list(_lines(desk, room, names)),
        "pairs": [
            _pair(found.text, pair, names) for found in findings_of(desk, room) for pair in found.pairs if pair.n
        ],
        "longest": LONGEST,
    }
    return render(request, "web/analyst/coders.html", context)


def _lines(desk: ReadingDesk, room: CodingRoom, names: dict[str, str]) -> Iterator[CoderLine]:
    known = {text.answer for text in room.texts}
    for key, name in names.items():
        own = [one for one in room.work.codings if one.coder == key and one.answer in known]
        n_due = sum(room.work.is_due(one) for one in own)
        yield CoderLine(
            token=desk.token_of("coder", key),
            name=name,
            n_valid=len(own) - n_due,
            n_due=n_due,
            is_away=key in room.work.away,
            is_gone=key in desk.gone(),
        )


def _pair(question: str, pair: CoderPair, names: dict[str, str]) -> PairLine:
    return PairLine(
        question=question,
        who=f"{names[pair.first]} and {names[pair.second]}",
        n=pair.n,
        alike=share_line(pair.alike).words,
        alpha=number_words(pair.alpha),
        codes=tuple((one.code, share_line(one.alike).words, number_words(one.alpha)) for one in pair.codes),
    )


def _record(request: HttpRequest, desk: ReadingDesk, room: CodingRoom) -> None:
    token, is_away = request.POST.get("coder", ""), request.POST.get("now") == "away"
    keys = {one.coder for one in room.work.codings}
    coder = next((key for key in keys if desk.token_of("coder", key) == token), None)
    if coder is None:
        raise Http404
    reason = request.POST.get("reason", "")[:LONGEST]
    keep_absence(desk.store, desk.study.name, coder, is_away=is_away, by=desk.reader, reason=reason)
    verb = "wrote down that a coder left" if is_away else "wrote down that a coder is back"
    audit(desk.here.account, verb, f"coder {token}", hosted=desk.here.hosted)
    messages.success(request, "Written down. What was coded stays." if is_away else "Written down.")
