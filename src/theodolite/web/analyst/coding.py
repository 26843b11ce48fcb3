"""Coding: what is to be coded, how far it has come, and one answer after the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.domain.coded import CodedState
from theodolite.domain.coding import Code
from theodolite.domain.coding_finding import CodingFinding, ThemeShare
from theodolite.domain.evidence import listed_evidence
from theodolite.measurement.study.codings import coding_findings
from theodolite.reporting import figures
from theodolite.usecases.coding import CodingRoom, OpenText, keep_coding
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.analyst.drawing import ShareLine, number_words, share_line
from theodolite.web.audit import audit

MEMO = 4000
"""Letters of a memo at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeRow:
    """One theme on one side.

    Attributes:
        code: Name of the code.
        where: Application, level and group, in words.
        line: The share as it is drawn.
        open: What is not in it, in words; empty for nothing.
    """

    code: str
    where: str
    line: ShareLine
    open: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedQuestion:
    """One open question with everything that came of coding it."""

    found: CodingFinding
    states: tuple[tuple[str, int], ...]
    alike: str
    alpha: str
    codes: tuple[tuple[str, int, str, str], ...]
    whole: tuple[ThemeRow, ...]
    by_group: tuple[ThemeRow, ...]

    @property
    def is_begun(self) -> bool:
        """Whether two have coded any of its answers."""
        return any(state not in {CodedState.UNCODED, CodedState.ONCE} for state in self.found.states)


@at_reading_desk
@require_GET
def coding(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Show how far coding has come, agreement, themes, and what may be quoted."""
    room = desk.room()
    stands = Counter(one.state for one in room.coded)
    context = {
        "here": desk.here,
        "n": len(room.texts),
        "book": room.work.codebook,
        "states": [(state.value, stands[state]) for state in CodedState if stands[state]],
        "n_waiting": len(room.waiting(desk.reader)),
        "n_differing": stands[CodedState.DISPUTED],
        "questions": [_question(one) for one in _findings(desk, room)],
    }
    return render(request, "web/analyst/coding.html", context)


def _findings(desk: ReadingDesk, room: CodingRoom) -> list[CodingFinding]:
    """Return what came of coding; nothing of the run but responses and codings is needed for it."""
    given = [text.response for text in room.texts]
    unique = list({(one.session, one.questionnaire): one for one in given}.values())
    evidence = listed_evidence(desk.study, desk.venue.run, (), responses=unique)
    return list(coding_findings(replace(evidence, coding=room.work)))


def _question(found: CodingFinding) -> CodedQuestion:
    return CodedQuestion(
        found=found,
        states=tuple((state.value, n) for state, n in found.states.items()),
        alike=number_words(found.alike),
        alpha=number_words(found.alpha),
        codes=tuple((one.code, one.n_given, number_words(one.alike), number_words(one.alpha)) for one in found.codes),
        whole=tuple(_theme(one) for one in found.themes if not one.group),
        by_group=tuple(_theme(one) for one in found.themes if one.group),
    )


def _theme(one: ThemeShare) -> ThemeRow:
    open_words = [(one.n_undecided, "undecided"), (one.n_uncoded, "not coded by two")]
    group = f", {one.group[0]}: {one.group[1]}" if one.group else ""
    return ThemeRow(
        code=one.code,
        where=f"{one.application}, {one.level.value}{group}",
        line=share_line(one.share),
        open=", ".join(f"{figures.count(n)} {why}" for n, why in open_words if n),
    )


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
    own, book = room.own(text.answer, desk.reader), room.work.codebook
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
