"""Coding of open answers: own codings, disagreements and quotes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.assessment.capture.personal import personal_details
from theodolite.domain.coding import Code, CodedAnswer, CodedState, QuoteRelease
from theodolite.domain.identity import digest
from theodolite.events.coding import CodingProject, OpenText, release_quote, resolve_disagreement, save_coding
from theodolite.web.access import audit
from theodolite.web.analyst.codebook import book_token, coded_question, findings_of
from theodolite.web.analyst.responses import AnalystContext, for_analysts
from theodolite.web.charts import listed

MEMO = 4000
"""Characters of a memo at most; count."""


@for_analysts
@require_GET
def coding(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show progress of coding, agreement, themes and quotes."""
    project = analyst.coding_project()
    stands = Counter(unit.state for unit in project.coded)
    context = {
        "access": analyst.access,
        "n": len(project.texts),
        "books": _books(analyst, project),
        "uncovered": [text for key, text in project.questions.items() if project.work.codebook_for(key) is None],
        "is_away": analyst.reader in project.work.away,
        "states": [(state.value, stands[state]) for state in CodedState if stands[state]],
        "n_waiting": len(project.waiting(analyst.reader)),
        "n_differing": stands[CodedState.DISPUTED],
        "questions": [coded_question(finding) for finding in findings_of(analyst, project)],
    }
    return render(request, "web/analyst/coding.html", context)


def _books(analyst: AnalystContext, project: CodingProject) -> list[tuple[str, str, int]]:
    """Return address, name and revision of each codebook."""
    return [
        (
            analyst.address("named_codebook", book=book_token(analyst, book))
            if book.name
            else analyst.address("codebook"),
            book.name,
            book.revision,
        )
        for book in project.work.current.values()
    ]


@for_analysts
@require_GET
def next_answer(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Redirect to the next answer of this coder."""
    waiting = analyst.coding_project().waiting(analyst.reader)
    if not waiting:
        messages.info(request, "No answers left to code.")
        return redirect(analyst.address("coding"))
    return redirect(analyst.address("answer", answer=analyst.token_of_text(waiting[0])))


@for_analysts
@require_http_methods(["GET", "POST"])
def answer(request: HttpRequest, analyst: AnalystContext, answer: str) -> HttpResponse:
    """Show one answer with the codes, or store its coding and continue with the next."""
    project = analyst.coding_project()
    text = analyst.text_in(project, answer)
    if request.method == "POST":
        codes = request.POST.getlist("code")
        save_coding(analyst.store, project, text.answer, analyst.reader, codes, request.POST.get("memo", "")[:MEMO])
        audit(
            analyst.access.account,
            "coded an answer",
            f"answer {answer}",
            hosted=analyst.access.hosted,
            codes=len(codes),
        )
        messages.success(request, "Saved.")
        return redirect(analyst.address("next"))
    return render(request, "web/analyst/answer.html", _coding_page(analyst, project, text))


def _coding_page(analyst: AnalystContext, project: CodingProject, text: OpenText) -> dict[str, object]:
    own, book = project.own(text.answer, analyst.reader), project.work.codebook_for(text.answer.place)
    chosen = own.codes if own else ()
    is_due = own is not None and project.work.is_due(own)
    (stands,) = project.work.coded([text.answer])
    codes: tuple[Code, ...] = book.codes if book else ()
    return {
        "access": analyst.access,
        "asked": text.asked,
        "text": project.mask(text.text),
        "codes": [
            (str(number) if number < 10 else "", code, code.name in chosen)
            for number, code in enumerate(codes, start=1)
        ],
        "book": book,
        "own": own,
        "is_due": is_due,
        "is_fixed": own is not None and not is_due and stands.is_coded,
        "n_waiting": len(project.waiting(analyst.reader)),
    }


CONSENSUS, NONE = "consensus", "none"
"""Results of a discussion, as in the form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementLine:
    """One answer that was coded differently."""

    token: str
    asked: str
    beginning: str
    state: str
    only_one: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingView:
    """The coding of one coder, under a letter specific to the answer."""

    letter: str
    codes: str
    memo: str


@for_analysts
@require_GET
def disagreements(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """List the disagreements, those without a discussion first."""
    project = analyst.coding_project()
    disagreements = [_line(analyst, project, unit) for unit in project.differing()]
    return render(request, "web/analyst/differing.html", {"access": analyst.access, "lines": disagreements})


def _line(analyst: AnalystContext, project: CodingProject, coded_answer: CodedAnswer) -> DisagreementLine:
    text = project.text_of(coded_answer.answer)
    book = project.work.codebook_for(coded_answer.answer.place)
    names = book.names if book else ()
    return DisagreementLine(
        token=analyst.token_of_text(text),
        asked=text.asked,
        beginning=project.mask(text.text)[:80],
        state=coded_answer.state.value,
        only_one=listed([name for name in names if len({name in coding.codes for coding in coded_answer.codings}) > 1]),
    )


@for_analysts
@require_http_methods(["GET", "POST"])
def disagreement(request: HttpRequest, analyst: AnalystContext, answer: str) -> HttpResponse:
    """Show both codings of one answer, or record the result of the discussion."""
    project = analyst.coding_project()
    text = analyst.text_in(project, answer)
    (stands,) = project.work.coded([text.answer])
    if stands.state not in {CodedState.DISPUTED, CodedState.CONSENSUS, CodedState.NO_CONSENSUS}:
        raise Http404
    if request.method == "POST":
        _record(request, analyst, project, text)
        messages.success(request, "Recorded. Both original codings stay.")
        return redirect(analyst.address("differing"))
    return render(request, "web/analyst/difference.html", _difference_page(analyst, project, text, stands))


def _record(request: HttpRequest, analyst: AnalystContext, project: CodingProject, text: OpenText) -> None:
    action = request.POST.get("found", "")
    if action not in {CONSENSUS, NONE}:
        raise Http404
    codes = request.POST.getlist("code") if action == CONSENSUS else None
    rationale = request.POST.get("rationale", "")[:MEMO]
    resolve_disagreement(analyst.store, project, text.answer, codes, by=analyst.reader, rationale=rationale)
    audit(
        analyst.access.account,
        "resolved a coding disagreement",
        f"answer {analyst.token_of_text(text)}",
        hosted=analyst.access.hosted,
        found=action,
    )


def _difference_page(
    analyst: AnalystContext, project: CodingProject, text: OpenText, stands: CodedAnswer
) -> dict[str, object]:
    order = sorted(stands.codings, key=lambda coding: digest("voice", text.answer.session, coding.coder))
    agreed = stands.resolution.codes if stands.resolution else None
    common = [name for name in stands.codings[0].codes if all(name in coding.codes for coding in stands.codings)]
    chosen = common if agreed is None else agreed
    book = project.work.codebook_for(text.answer.place)
    return {
        "access": analyst.access,
        "asked": text.asked,
        "text": project.mask(text.text),
        "voices": [
            CodingView(letter=letter, codes=listed(coder.codes), memo=coder.memo)
            for letter, coder in zip("ABCDEF", order, strict=False)
        ],
        "codes": [(code, code.name in chosen) for code in (book.codes if book else ())],
        "found": stands.resolution,
        "agreed": listed(agreed) if agreed is not None else "",
        "state": stands.state.value,
    }


MOST_WORDS = 50
"""Hidden spans of an answer at most; count."""


@for_analysts
@require_GET
def quotes(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """List the answers with two codings, with their quotes."""
    project = analyst.coding_project()
    leave = {release.answer: release for release in project.work.releases}
    shown = {quote.answer: quote.text for quote in project.work.quotes}
    coded = {unit.answer for unit in project.coded if unit.is_coded}
    answers = [
        (
            analyst.token_of_text(text),
            text.asked,
            shown.get(text.answer) or project.mask(text.text),
            _state(leave.get(text.answer)),
        )
        for text in project.texts
        if text.answer in coded or text.answer in leave
    ]
    return render(request, "web/analyst/quotes.html", {"access": analyst.access, "lines": answers})


def _state(leave: QuoteRelease | None) -> str:
    if leave is None:
        return "not reviewed yet"
    return "released" if leave.is_given else "not released"


@for_analysts
@require_http_methods(["GET", "POST"])
def quote(request: HttpRequest, analyst: AnalystContext, answer: str) -> HttpResponse:
    """Show one answer for its release as a quote, or record the release."""
    project = analyst.coding_project()
    text = analyst.text_in(project, answer)
    if request.method == "POST":
        is_given = request.POST.get("leave") == "give"
        hidden = request.POST.get("hidden", "").splitlines()[:MOST_WORDS]
        release_quote(analyst.store, project, text.answer, hidden, by=analyst.reader, is_given=is_given)
        audit(
            analyst.access.account,
            "released a quote" if is_given else "withdrew a quote",
            f"answer {answer}",
            hosted=analyst.access.hosted,
        )
        messages.success(request, "The quote is released." if is_given else "The quote is not released.")
        return redirect(analyst.address("quotes"))
    return render(request, "web/analyst/quote.html", _quote_page(analyst, project, text))


def _quote_page(analyst: AnalystContext, project: CodingProject, text: OpenText) -> dict[str, object]:
    known = next((release for release in project.work.releases if release.answer == text.answer), None)
    hidden = [text.text[name.start : name.end] for name in known.hidden] if known else []
    return {
        "access": analyst.access,
        "asked": text.asked,
        "text": text.text,
        "shown": next((quote.text for quote in project.work.quotes if quote.answer == text.answer), ""),
        "hidden": "\n".join(hidden),
        "state": _state(known),
        "details": [f"{detail.kind.value}: {detail.words}" for detail in personal_details(text.text)],
    }
