"""Coding of open answers: codebooks, coders, codings, disagreements and quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.assessment.redaction import personal_details
from theodolite.domain.coding import TRIED, Code, Codebook, CodedAnswer, CodedState, CodingWork, QuoteRelease
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.estimate import Estimate
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.findings.responses import CoderPair, CodingFinding, ThemeShare
from theodolite.domain.identity import SHORT, digest
from theodolite.events.coding import (
    CodingProject,
    OpenText,
    record_absence,
    release_quote,
    resolve_disagreement,
    save_codebook,
    save_coding,
)
from theodolite.measurement.study.risks import coding_findings
from theodolite.reporting.words import figures
from theodolite.web.analyst.responses import AnalystContext, for_analysts
from theodolite.web.rendering import ShareLine, UnitStrip, listed, number_words, share_line, unit_strip

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
    """Redirect to the next answer for this coder."""
    waiting = analyst.coding_project().waiting(analyst.reader)
    if not waiting:
        messages.info(request, "No answers left to code.")
        return redirect(analyst.address("coding"))
    return redirect(analyst.address("answer", answer=analyst.token_of_text(waiting[0])))


@for_analysts
@require_http_methods(["GET", "POST"])
def answer(request: HttpRequest, analyst: AnalystContext, answer: str) -> HttpResponse:
    """Show an answer with the codes, or store its coding and continue with the next."""
    project = analyst.coding_project()
    text = analyst.text_in(project, answer)
    if request.method == "POST":
        codes = request.POST.getlist("code")
        save_coding(analyst.store, project, text.answer, analyst.reader, codes, request.POST.get("memo", "")[:MEMO])
        analyst.access.audit("coded an answer", f"answer {answer}", codes=len(codes))
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
    analyst.access.audit("resolved a coding disagreement", f"answer {analyst.token_of_text(text)}", found=action)


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
    """Show an answer before its release as a quote, or record the release."""
    project = analyst.coding_project()
    text = analyst.text_in(project, answer)
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


def findings_of(analyst: AnalystContext, project: CodingProject) -> list[CodingFinding]:
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


FIELDS = ("name", "definition", "include", "exclude", "example")
"""Fields of a code."""


SPARE = 3
"""Empty rows for new codes; count."""


MOST = 60
"""Codes of a form at most; count."""


LONGEST = 2000
"""Characters of a field at most; count."""


LONGEST_NAME = 80
"""Characters of a codebook's name at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBook:
    """A codebook as entered in a form, valid or not.

    Attributes:
        name: Its name; empty for the default of all other questions.
        covers: Indices of its questions.
        rows: Texts for each code, in order.
        note: Description of the change and its reason.
        follows: Revision that the editor started from; 0 for none.
    """

    name: str = ""
    covers: tuple[str, ...] = ()
    rows: tuple[dict[str, str], ...] = ()
    note: str = ""
    follows: int = 0

    @classmethod
    def of(cls, book: Codebook) -> WrittenBook:
        """Return a codebook as form data."""
        rows = tuple({name: getattr(code, name) for name in FIELDS} for code in book.codes)
        return cls(name=book.name, covers=book.covers, rows=rows, follows=book.revision)

    @classmethod
    def posted(cls, form: QueryDict, name: str) -> WrittenBook:
        """Parse the codebook of a form."""
        return cls(
            name=name,
            covers=tuple(form.getlist("covers")[:MOST]) if name else (),
            rows=tuple(_rows(form)),
            note=form.get("note", "")[:LONGEST],
            follows=_number(form.get("follows", "0"), 0),
        )

    def as_codebook(self, study: str, by: str) -> Codebook:
        """Return the form as a codebook.

        Raises:
            InputError: If a code has no meaning, two codes share a name, or there is no code.
        """
        codes = tuple(Code(**row) for row in self.rows)
        return Codebook(
            study=study, codes=codes, revision=self.follows, by=by, note=self.note, name=self.name, covers=self.covers
        )


@for_analysts
@require_http_methods(["GET", "POST"])
def codebook(request: HttpRequest, analyst: AnalystContext, book: str = "") -> HttpResponse:
    """Show a codebook with its history, or store another revision; the general one by default.

    Args:
        request: The request.
        analyst: The context of the reader.
        book: Name of the codebook in the address; empty for the unnamed one.
    """
    project = analyst.coding_project()
    version = project.work.current.get("") if not book else _meant(analyst, project.work, book)
    written = WrittenBook.of(version) if version else WrittenBook()
    if request.method == "POST":
        written = WrittenBook.posted(request.POST, written.name)
    return _answered(request, analyst, project, written)


@for_analysts
@require_http_methods(["GET", "POST"])
def new_codebook(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show an empty codebook for some questions, or store it."""
    written = WrittenBook()
    if request.method == "POST":
        written = WrittenBook.posted(request.POST, " ".join(request.POST.get("book", "").split())[:LONGEST_NAME])
    return _answered(request, analyst, analyst.coding_project(), written, is_new=True)


def book_token(analyst: AnalystContext, book: Codebook) -> str:
    """Return the token of a named codebook."""
    return analyst.token_of("codebook", book.name)


def _meant(analyst: AnalystContext, work: CodingWork, token: str) -> Codebook:
    for book in work.current.values():
        if book.name and book_token(analyst, book) == token:
            return book
    raise Http404


def _answered(
    request: HttpRequest, analyst: AnalystContext, project: CodingProject, written: WrittenBook, *, is_new: bool = False
) -> HttpResponse:
    """Store the form and return to the overview; on an error show it again."""
    problem = ""
    if request.method == "POST":
        try:
            _keep(request, analyst, written, is_new=is_new)
        except (Conflict, InputError) as error:
            problem = str(error)
        else:
            return redirect(analyst.address("coding"))
    context = {
        "access": analyst.access,
        "written": written,
        "is_new": is_new,
        "book": project.work.current.get(written.name),
        "rows": [*written.rows, *({} for _ in range(SPARE))],
        "questions": list(_questions(project, written)),
        "problem": problem,
        "history": [
            (version[:SHORT], book)
            for version, book in reversed(list(project.work.codebooks.items()))
            if book.name == written.name and not is_new
        ],
        "longest": LONGEST,
    }
    return render(request, "web/analyst/codebook.html", context, status=422 if problem else 200)


def _questions(project: CodingProject, written: WrittenBook) -> Iterator[tuple[str, str, bool, str]]:
    """Yield identifier and text of each open question, whether this codebook covers it, and which other does."""
    others = {
        cover: coding.name
        for coding in project.work.current.values()
        if coding.name != written.name
        for cover in coding.covers
    }
    questions = project.questions | {cover: cover for cover in written.covers if cover not in project.questions}
    for key, text in questions.items():
        yield key, text, key in written.covers, others.get(key, "")


def _keep(request: HttpRequest, analyst: AnalystContext, written: WrittenBook, *, is_new: bool) -> None:
    if is_new and not written.name:
        message = "a codebook for selected questions needs a name"
        raise InputError(message)
    book = save_codebook(analyst.store, written.as_codebook(analyst.study.name, analyst.reader))
    analyst.access.audit("wrote a codebook", f"revision {book.revision}", name=book.name, codes=len(book.codes))
    which = f" `{book.name}`" if book.name else ""
    messages.success(request, f"Revision {book.revision} of the codebook{which} applies from now on.")


def _rows(posted: QueryDict) -> Iterator[dict[str, str]]:
    """Yield the fields of each code, in the order of its number; a code without a name is dropped."""
    columns = {name: posted.getlist(name)[:MOST] for name in (*FIELDS, "place")}
    rows = []
    for at in range(len(columns["name"])):
        row = {name: _at(columns[name], at).strip()[:LONGEST] for name in FIELDS}
        if row["name"]:
            rows.append((_number(_at(columns["place"], at), MOST), row))
    yield from (row for _, row in sorted(rows, key=itemgetter(0)))


def _at(column: list[str], at: int) -> str:
    return column[at] if at < len(column) else ""


def _number(text: str, otherwise: int) -> int:
    return int(text[:4]) if text[:4].isdecimal() else otherwise


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
    project = analyst.coding_project()
    if request.method == "POST":
        _record_absence(request, analyst, project)
        return redirect(analyst.address("coders"))
    names = analyst.names_of(coding.coder for coding in project.work.codings)
    context = {
        "access": analyst.access,
        "coders": list(_lines(analyst, project, names)),
        "pairs": [
            _pair(finding.text, pair, names)
            for finding in findings_of(analyst, project)
            for pair in finding.pairs
            if pair.n
        ],
        "longest": LONGEST_REASON,
    }
    return render(request, "web/analyst/coders.html", context)


def _lines(analyst: AnalystContext, project: CodingProject, names: dict[str, str]) -> Iterator[CoderLine]:
    known = {text.answer for text in project.texts}
    for key, name in names.items():
        own = [coding for coding in project.work.codings if coding.coder == key and coding.answer in known]
        n_due = sum(project.work.is_due(coding) for coding in own)
        yield CoderLine(
            token=analyst.token_of("coder", key),
            name=name,
            n_valid=len(own) - n_due,
            n_due=n_due,
            is_away=key in project.work.away,
            is_gone=key in analyst.gone(),
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


def _record_absence(request: HttpRequest, analyst: AnalystContext, project: CodingProject) -> None:
    token, is_away = request.POST.get("coder", ""), request.POST.get("now") == "away"
    keys = {coding.coder for coding in project.work.codings}
    coder = next((key for key in keys if analyst.token_of("coder", key) == token), None)
    if coder is None:
        raise Http404
    reason = request.POST.get("reason", "")[:LONGEST_REASON]
    record_absence(analyst.store, analyst.study.name, coder, is_away=is_away, by=analyst.reader, reason=reason)
    verb = "recorded the departure of a coder" if is_away else "recorded the return of a coder"
    analyst.access.audit(verb, f"coder {token}")
    messages.success(request, "Saved. Existing codes stay." if is_away else "Saved.")
