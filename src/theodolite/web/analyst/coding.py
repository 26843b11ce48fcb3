"""Coding of open answers: coders, codings, disagreements and quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.assessment.redaction import personal_details
from theodolite.domain.coding import DIFFERING, TRIED, Code, CodedAnswer, CodedState, CodingWork, QuoteRelease
from theodolite.domain.estimate import Estimate
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.findings.responses import CoderPair, CodingFinding, ThemeShare
from theodolite.domain.identity import digest
from theodolite.events.coding import (
    CodingIndex,
    CodingProject,
    OpenText,
    question_texts,
    record_absence,
    release_quote,
    resolve_disagreement,
    save_coding,
)
from theodolite.measurement.study.risks import coding_findings
from theodolite.reporting.words import figures
from theodolite.web.analyst.codebooks import book_token
from theodolite.web.analyst.responses import AnalystContext, Figures, for_analysts, latest_figures
from theodolite.web.participants import zone_of
from theodolite.web.rendering import ShareLine, UnitStrip, listed, number_words, share_line, unit_strip
from theodolite.web.senior.home import Pages, page_number

PAGE = 50
"""Answers on one page of a list; count."""

MEMO = 4000
"""Characters of a memo at most; count."""


@for_analysts
@require_GET
def coding(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show progress of coding, agreement, themes and quotes."""
    index = analyst.coding_index()
    states = Counter(index.states())
    measured = latest_findings(analyst, len(index.lines))
    context = measured | {
        "access": analyst.access,
        "n": len(index.lines),
        "books": _books(analyst, index.work),
        "uncovered": _uncovered(analyst, index),
        "is_away": analyst.reader in index.work.away,
        "states": [(state.value, states[state]) for state in CodedState if states[state]],
        "n_waiting": len(index.waiting(analyst.reader)),
        "n_differing": states[CodedState.DISPUTED],
        "questions": [coded_question(finding) for finding in measured["findings"]],
        "zone": zone_of(analyst.study).key,
    }
    return render(request, "web/analyst/coding.html", context)


def _uncovered(analyst: AnalystContext, index: CodingIndex) -> list[str]:
    """Return the texts of the open questions with answers and without a codebook."""
    texts = question_texts(analyst.study, index.places)
    return [text for place, text in texts.items() if index.work.codebook_for(place) is None]


def _books(analyst: AnalystContext, work: CodingWork) -> list[tuple[str, str, int]]:
    """Return address, name and revision of each codebook."""
    return [
        (
            analyst.address("named_codebook", book=book_token(analyst, book))
            if book.name
            else analyst.address("codebook"),
            book.name,
            book.revision,
        )
        for book in work.current.values()
    ]


@for_analysts
@require_GET
def next_answer(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Redirect to the next answer for this coder."""
    waiting = analyst.coding_index().waiting(analyst.reader)
    if not waiting:
        messages.info(request, "No answers left to code.")
        return redirect(analyst.address("coding"))
    return redirect(analyst.address("answer", answer=analyst.token_of_answer(waiting[0])))


@for_analysts
@require_http_methods(["GET", "POST"])
def answer(request: HttpRequest, analyst: AnalystContext, answer: str) -> HttpResponse:
    """Show an answer with the codes, or store its coding and continue with the next."""
    project, text = analyst.project_about(answer)
    if request.method == "POST":
        codes = request.POST.getlist("code")
        save_coding(analyst.store, project, text.answer, analyst.reader, codes, request.POST.get("memo", "")[:MEMO])
        analyst.access.audit("coded an answer", f"answer {answer}", codes=len(codes))
        messages.success(request, "Saved.")
        return redirect(analyst.address("next"))
    return render(request, "web/analyst/answer.html", _coding_page(analyst, project, text))


def _coding_page(analyst: AnalystContext, project: CodingProject, text: OpenText) -> dict[str, object]:
    own, book = project.work.own(text.answer, analyst.reader), project.work.codebook_for(text.answer.place)
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
        "n_waiting": len(analyst.coding_index().waiting(analyst.reader)),
    }


CONSENSUS, NONE = "consensus", "none"
"""Results of a discussion, as in the form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementLine:
    """An answer that two coders coded differently."""

    token: str
    asked: str
    beginning: str
    state: str
    only_one: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingView:
    """The coding of one coder, labelled with a letter specific to the answer."""

    letter: str
    codes: str
    memo: str


@for_analysts
@require_GET
def disagreements(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """List the disagreements, those without a discussion first, page by page."""
    answers, page = analyst.coding_index().differing(), page_number(request)
    shown = answers[page * PAGE : (page + 1) * PAGE]
    project = analyst.project_of(shown)
    context = {
        "access": analyst.access,
        "n": len(answers),
        "lines": [_line(analyst, project, unit) for unit in project.work.coded(shown)],
        "pages": Pages(page=page, n=len(answers), size=PAGE),
    }
    return render(request, "web/analyst/disagreements.html", context)


def _line(analyst: AnalystContext, project: CodingProject, coded_answer: CodedAnswer) -> DisagreementLine:
    text = project.text_of(coded_answer.answer)
    book = project.work.codebook_for(coded_answer.answer.place)
    names = book.names if book else ()
    return DisagreementLine(
        token=analyst.token_of_answer(text.answer),
        asked=text.asked,
        beginning=project.mask(text.text)[:80],
        state=coded_answer.state.value,
        only_one=listed([name for name in names if len({name in coding.codes for coding in coded_answer.codings}) > 1]),
    )


@for_analysts
@require_http_methods(["GET", "POST"])
def disagreement(request: HttpRequest, analyst: AnalystContext, answer: str) -> HttpResponse:
    """Show both codings of one answer, or record the result of the discussion."""
    project, text = analyst.project_about(answer)
    (stands,) = project.work.coded([text.answer])
    if stands.state not in DIFFERING:
        raise Http404
    if request.method == "POST":
        _record(request, analyst, project, text)
        messages.success(request, "Recorded. Both original codings stay.")
        return redirect(analyst.address("disagreements"))
    return render(request, "web/analyst/disagreement.html", _difference_page(analyst, project, text, stands))


def _record(request: HttpRequest, analyst: AnalystContext, project: CodingProject, text: OpenText) -> None:
    action = request.POST.get("found", "")
    if action not in {CONSENSUS, NONE}:
        raise Http404
    codes = request.POST.getlist("code") if action == CONSENSUS else None
    rationale = request.POST.get("rationale", "")[:MEMO]
    resolve_disagreement(analyst.store, project, text.answer, codes, by=analyst.reader, rationale=rationale)
    analyst.access.audit(
        "resolved a coding disagreement", f"answer {analyst.token_of_answer(text.answer)}", found=action
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
    """List the answers with two codings, with their quotes, page by page."""
    answers, page = analyst.coding_index().quotable(), page_number(request)
    project = analyst.project_of(answers[page * PAGE : (page + 1) * PAGE])
    leave = {release.answer: release for release in project.work.releases}
    quoted = {quote.answer: quote.text for quote in project.work.quotes}
    lines = [
        (
            analyst.token_of_answer(answer),
            project.text_of(answer).asked,
            quoted.get(answer) or project.mask(project.text_of(answer).text),
            _state(leave.get(answer)),
        )
        for answer in answers[page * PAGE : (page + 1) * PAGE]
    ]
    pages = Pages(page=page, n=len(answers), size=PAGE)
    return render(request, "web/analyst/quotes.html", {"access": analyst.access, "lines": lines, "pages": pages})


def _state(leave: QuoteRelease | None) -> str:
    if leave is None:
        return "not reviewed yet"
    return "released" if leave.is_given else "not released"


@for_analysts
@require_http_methods(["GET", "POST"])
def quote(request: HttpRequest, analyst: AnalystContext, answer: str) -> HttpResponse:
    """Show an answer before its release as a quote, or record the release."""
    project, text = analyst.project_about(answer)
    if request.method == "POST":
        is_given = request.POST.get("leave") == "give"
        hidden = request.POST.get("hidden", "").splitlines()[:MOST_WORDS]
        release_quote(analyst.store, project, text.answer, hidden, by=analyst.reader, is_given=is_given)
        analyst.access.audit("released a quote" if is_given else "withdrew a quote", f"answer {answer}")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeCell:
    """The frequency of one theme in one group.

    Attributes:
        line: The share as a bar if there are enough answers, and in words.
        strip: Few answers, each as a square; None if there are many, or they must not be shown.
        open: Missing parts, in words; empty if none.
    """

    line: ShareLine
    strip: UnitStrip | None
    open: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeGrid:
    """Themes in rows, groups in columns.

    Attributes:
        title: Difference between the sides.
        sides: Names of the sides.
        rows: Name of the theme and its cells in the order of the sides; None if there are no answers.
    """

    title: str
    sides: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ThemeCell | None, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedQuestion:
    """One open question with the results of its coding."""

    found: CodingFinding
    states: tuple[tuple[str, int], ...]
    alike: str
    alpha: str
    codes: tuple[tuple[str, int, str, str], ...]
    whole: tuple[ThemeGrid, ...]
    by_group: tuple[ThemeGrid, ...]

    @property
    def is_begun(self) -> bool:
        """Whether any of its answers was coded twice."""
        return any(state not in {CodedState.UNCODED, CodedState.ONCE} for state in self.found.states)


def latest_findings(analyst: AnalystContext, n_answers: int) -> Figures:
    """Return the findings of coding with the time of a large project, as `latest_figures` does; none while they wait.

    Args:
        analyst: The context of the reader.
        n_answers: Open answers of the study; count.
    """
    figures = latest_figures(
        (analyst.event.plan.run_fingerprint, "coding"),
        lambda: {"findings": _findings(analyst, analyst.coding_project())},
        n_responses=n_answers,
        now=timezone.now(),
    )
    return {"findings": []} | figures


def _findings(analyst: AnalystContext, project: CodingProject) -> list[CodingFinding]:
    """Return the findings of coding, which need only answers, notes and codings."""
    responses_by_questionnaire = {
        (text.answer.session, text.answer.questionnaire): text.response for text in project.texts
    }
    notes = tuple(response for response in responses_by_questionnaire.values() if response.questionnaire == TRIED.name)
    responses = [response for response in responses_by_questionnaire.values() if response.questionnaire != TRIED.name]
    evidence = listed_evidence(analyst.study, analyst.event.run, (), responses=responses)
    return list(coding_findings(replace(evidence, coding=project.work, notes=notes)))


def coded_question(coding_finding: CodingFinding) -> CodedQuestion:
    """Return the results of coding one question in displayed form."""
    groups = dict.fromkeys((_attribute(theme), theme.level.value) for theme in coding_finding.themes if theme.group)
    return CodedQuestion(
        found=coding_finding,
        states=tuple((state.value, n) for state, n in coding_finding.states.items()),
        alike=number_words(coding_finding.alike),
        alpha=number_words(coding_finding.alpha),
        codes=tuple(
            (code.code, code.n_given, number_words(code.alike), number_words(code.alpha))
            for code in coding_finding.codes
        ),
        whole=tuple(
            _grid(level, [theme for theme in coding_finding.themes if not theme.group and theme.level.value == level])
            for level in dict.fromkeys(theme.level.value for theme in coding_finding.themes if not theme.group)
        ),
        by_group=tuple(
            _grid(
                f"{name}, {level}",
                [theme for theme in coding_finding.themes if (_attribute(theme), theme.level.value) == (name, level)],
            )
            for name, level in groups
        ),
    )


def _attribute(theme: ThemeShare) -> str:
    """Return the attribute of a group of testers; empty for all testers."""
    return theme.group[0] if theme.group else ""


def _grid(title: str, shares: Sequence[ThemeShare]) -> ThemeGrid:
    cells = {(share.code, _side(share)): _cell(share) for share in shares}
    sides = tuple(sorted({_side(share) for share in shares}))
    codes = dict.fromkeys(share.code for share in shares)
    rows = tuple((code, tuple(cells.get((code, side)) for side in sides)) for code in codes)
    return ThemeGrid(title=title, sides=sides, rows=rows)


def _side(theme: ThemeShare) -> str:
    return f"{theme.application}, {theme.group[1]}" if theme.group else theme.application


def _cell(theme: ThemeShare) -> ThemeCell:
    chart = None
    if isinstance(theme.share, Estimate):
        n_yes = theme.share.count or 0
        chart = unit_strip(n_yes, theme.n - n_yes, theme.n_undecided + theme.n_uncoded)
    return ThemeCell(line=share_line(theme.share), strip=chart, open=", ".join(_left_out(theme)))


def _left_out(theme: ThemeShare) -> Iterator[str]:
    counts: Iterable[tuple[int, str]] = (
        (theme.n_undecided, "undecided"),
        (theme.n_uncoded, "not coded by two"),
    )
    return (f"{figures.count(n)} {why}" for n, why in counts if n)


LONGEST_REASON = 500
"""Characters of a reason at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderLine:
    """One coder.

    Attributes:
        token: The coder's token in the form.
        name: The coder's name on this server.
        n_valid: Valid codings by the coder; count.
        n_due: Codings that the coder, or a successor, must check again; count.
        is_away: Whether the coder has left.
        is_gone: Whether the coder has left the study itself, and so cannot be reinstated.
    """

    token: str
    name: str
    n_valid: int
    n_due: int
    is_away: bool
    is_gone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderPairLine:
    """The agreement of two coders on one question.

    Attributes:
        question: The question.
        who: Names of both coders.
        n: Answers that both have coded; count.
        alike: Share of these answers with identical codes, as text.
        alpha: Krippendorff's alpha of the code sets, as text.
        codes: By code: share of identical codings and alpha, as text.
    """

    question: str
    who: str
    n: int
    alike: str
    alpha: str
    codes: tuple[tuple[str, str, str], ...]


@for_analysts
@require_http_methods(["GET", "POST"])
def coders(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show the coders, or record that one has left or returned."""
    index = analyst.coding_index()
    counts = index.due_by_coder()
    if request.method == "POST":
        _record_absence(request, analyst, counts)
        return redirect(analyst.address("coders"))
    names, measured = analyst.names_of(counts), latest_findings(analyst, len(index.lines))
    context = measured | {
        "access": analyst.access,
        "coders": list(_lines(analyst, index.work, counts, names)),
        "pairs": [
            _pair(finding.text, pair, names)
            for finding in measured["findings"]
            for pair in finding.pairs
            if pair.n and {pair.first, pair.second} <= set(names)
        ],
        "longest": LONGEST_REASON,
        "zone": zone_of(analyst.study).key,
    }
    return render(request, "web/analyst/coders.html", context)


def _lines(
    analyst: AnalystContext, work: CodingWork, counts: Mapping[str, Counter[bool]], names: dict[str, str]
) -> Iterator[CoderLine]:
    gone = analyst.gone()
    for key, name in names.items():
        yield CoderLine(
            token=analyst.token_of("coder", key),
            name=name,
            n_valid=counts[key][False],
            n_due=counts[key][True],
            is_away=key in work.away,
            is_gone=key in gone,
        )


def _pair(question: str, pair: CoderPair, names: dict[str, str]) -> CoderPairLine:
    return CoderPairLine(
        question=question,
        who=f"{names[pair.first]} and {names[pair.second]}",
        n=pair.n,
        alike=share_line(pair.alike).words,
        alpha=number_words(pair.alpha),
        codes=tuple((code.code, share_line(code.alike).words, number_words(code.alpha)) for code in pair.codes),
    )


def _record_absence(request: HttpRequest, analyst: AnalystContext, keys: Iterable[str]) -> None:
    token, is_away = request.POST.get("coder", ""), request.POST.get("now") == "away"
    coder = next((key for key in keys if analyst.token_of("coder", key) == token), None)
    if coder is None:
        raise Http404
    reason = request.POST.get("reason", "")[:LONGEST_REASON]
    record_absence(analyst.store, analyst.study.name, coder, is_away=is_away, by=analyst.reader, reason=reason)
    verb = "recorded the departure of a coder" if is_away else "recorded the return of a coder"
    analyst.access.audit(verb, f"coder {token}")
    messages.success(request, "Saved. Existing codes stay." if is_away else "Saved.")
